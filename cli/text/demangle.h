/* C++ names as people write them. */
#ifndef PERSIK_CLI_TEXT_DEMANGLE_H
#define PERSIK_CLI_TEXT_DEMANGLE_H

/* The text with each mangled name in it, "_ZNSt6thread4joinEv", replaced by what it stands for,
 * without parameters: "std::thread::join". The caller frees. */
char *demangle_words(const char *text);

#endif
