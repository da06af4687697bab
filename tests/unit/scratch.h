#pragma once

/* A directory of a test's own, in which it runs, and which ends with it. */

#include <stddef.h>

/* Its path. */
extern char directory[64];

/* A checked fixture. */
void make_directory(void);
void remove_directory(void);

void write_file(const char *name, const char *text, size_t size);
