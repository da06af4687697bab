#pragma once

/* The files of the simulated world besides the configuration: paths with texts.  Their directories exist. */

#include <stddef.h>

#define FILES_MAX  48
#define FILES_PATH 96
#define FILES_TEXT 8192

void files_init(void);

/* Returns the text, which is good until the file is written; NULL: it does not exist. */
const char *files_text(const char *path);

void files_write(const char *path, const char *text);

/* The number of writes until now, and the path of one of the last 16. */
unsigned files_count_writes(void);
const char *files_written(unsigned number);
