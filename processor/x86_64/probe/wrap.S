/* The frame around a wrapped function; see wrap.h. */
#include "tracer/probe/wrap.h"

    .text

/* Asks a slow form, \function(frame), with all vector registers put aside. */
.macro call_slow function
    sub     $WRAP_VECTOR_BYTES, %rsp
    and     $-64, %rsp
    xor     %eax, %eax
    .irp word, 0, 8, 16, 24, 32, 40, 48, 56
    mov     %rax, 512+\word(%rsp)           /* XSAVE's header must start as zeros */
    .endr
    mov     $WRAP_VECTOR_MASK, %eax
    xor     %edx, %edx
    xsave64 (%rsp)
    lea     -WRAP_FRAME_BYTES(%rbp), %rdi
    call    \function
    mov     %eax, %r11d
    mov     $WRAP_VECTOR_MASK, %eax
    xor     %edx, %edx
    xrstor64 (%rsp)
    mov     %r11d, %eax
    lea     -WRAP_FRAME_BYTES(%rbp), %rsp
.endm

.macro load_arguments
    mov     WRAP_ARGUMENTS-WRAP_FRAME_BYTES(%rbp), %rdi
    mov     WRAP_ARGUMENTS+8-WRAP_FRAME_BYTES(%rbp), %rsi
    mov     WRAP_ARGUMENTS+16-WRAP_FRAME_BYTES(%rbp), %rdx
    mov     WRAP_ARGUMENTS+24-WRAP_FRAME_BYTES(%rbp), %rcx
    mov     WRAP_ARGUMENTS+32-WRAP_FRAME_BYTES(%rbp), %r8
    mov     WRAP_ARGUMENTS+40-WRAP_FRAME_BYTES(%rbp), %r9
    mov     WRAP_RAX-WRAP_FRAME_BYTES(%rbp), %rax
    mov     WRAP_R10-WRAP_FRAME_BYTES(%rbp), %r10
    mov     WRAP_REAL-WRAP_FRAME_BYTES(%rbp), %r11
.endm

/* In: r11 the wrap's number, all else as at a call of the function. */
    .globl  wrap_enter
    .hidden wrap_enter
    .type   wrap_enter, @function
    .p2align 4
wrap_enter:
    .cfi_startproc
    push    %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov     %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub     $WRAP_FRAME_BYTES, %rsp
    mov     %rdi, WRAP_ARGUMENTS(%rsp)
    mov     %rsi, WRAP_ARGUMENTS+8(%rsp)
    mov     %rdx, WRAP_ARGUMENTS+16(%rsp)
    mov     %rcx, WRAP_ARGUMENTS+24(%rsp)
    mov     %r8, WRAP_ARGUMENTS+32(%rsp)
    mov     %r9, WRAP_ARGUMENTS+40(%rsp)
    mov     %rax, WRAP_RAX(%rsp)
    mov     %r10, WRAP_R10(%rsp)
    mov     %r11, WRAP_INDEX(%rsp)
    mov     %rsp, %rdi
    call    wrap_begin_fast
    cmp     $WRAP_SLOW, %eax
    jne     1f
    call_slow wrap_begin_slow
1:  test    %eax, %eax
    jz      pass

    mov     WRAP_STACK_BYTES(%rsp), %rcx
    sub     %rcx, %rsp
    lea     16(%rbp), %rsi
    mov     %rsp, %rdi
    shr     $3, %rcx
    rep movsq
    load_arguments
    call    *%r11
    lea     -WRAP_FRAME_BYTES(%rbp), %rsp
    mov     %rax, WRAP_RESULT(%rsp)
    mov     %rdx, WRAP_RESULT+8(%rsp)
    mov     %rsp, %rdi
    call    wrap_end_fast
    cmp     $WRAP_SLOW, %eax
    jne     2f
    call_slow wrap_end_slow
2:  mov     WRAP_RESULT(%rsp), %rax
    mov     WRAP_RESULT+8(%rsp), %rdx
    leave
    .cfi_remember_state
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_restore_state

pass:
    load_arguments
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp     *%r11
    .cfi_endproc
    .size   wrap_enter, . - wrap_enter

    .section .note.GNU-stack, "", @progbits
