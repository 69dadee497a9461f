/* Names of functions. */
#ifndef PERSIK_BASE_FUNCTION_NAME_H
#define PERSIK_BASE_FUNCTION_NAME_H

/* A function's name as its definition in the source has it: debug information adds the arguments
 * that a template was instantiated with ("push<int>", "operator<< <char>"). The caller frees. NULL
 * stays NULL. */
char *function_name_in_source(const char *name);

#endif
