/* Whether a program asks on how many cores it may run: then it may do other work on fewer. */
#ifndef PERSIK_TRACER_CORE_QUESTIONS_H
#define PERSIK_TRACER_CORE_QUESTIONS_H

/* The function by which the file `path`, a program, asks for the cores that it may use, by the
 * names that it imports; NULL: it imports none, or is no ELF file. Libraries are not looked at. */
const char *core_questions_of(const char *path);

#endif
