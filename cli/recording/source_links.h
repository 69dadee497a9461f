/* The sources that a recording knows, for links to them. */
#ifndef PERSIK_CLI_RECORDING_SOURCE_LINKS_H
#define PERSIK_CLI_RECORDING_SOURCE_LINKS_H

/* Tells cli/text/links.h the source files of the recording in `directory`; none where there is no
 * recording. */
void source_links_find(const char *directory);

#endif
