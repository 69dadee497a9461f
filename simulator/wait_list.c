#include "simulator/wait_list.h"

void wait_list_append(struct wait_list *list, struct thread *thread) {
    thread->waits_in = list;
    thread->next = NULL;
    thread->previous = list->tail;
    if (list->tail)
        list->tail->next = thread;
    else
        list->head = thread;
    list->tail = thread;
    list->n++;
}

void wait_list_push(struct wait_list *list, struct thread *thread) {
    thread->waits_in = list;
    thread->previous = NULL;
    thread->next = list->head;
    if (list->head)
        list->head->previous = thread;
    else
        list->tail = thread;
    list->head = thread;
    list->n++;
}

void wait_list_remove(struct thread *thread) {
    struct wait_list *list = thread->waits_in;
    if (!list)
        return;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        list->head = thread->next;
    if (thread->next)
        thread->next->previous = thread->previous;
    else
        list->tail = thread->previous;
    list->n--;
    thread->waits_in = NULL;
}
