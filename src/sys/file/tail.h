#pragma once

/* The end of a file, such as the output of a process. */

#include <stddef.h>

/* Copies the last line of the file @fd, as much as has room; without the newline, and with '?' for a NUL. */
void tail_read_line(int fd, char *line, size_t size);
