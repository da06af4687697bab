#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A stream that keeps its text in memory, as open_memstream(3) does, but reports a lack of memory:
 * glibc truncates the text then, and neither ferror(3) nor fclose(3) reports it.
 */
struct memstream {
	FILE *file; /* to write to */
	char *text; /* from here on private */
	size_t length, size;
	bool failed;
};

/* *@m must keep its address.  Return: 0; -ENOMEM: nothing to be closed. */
int memstream_open(struct memstream *m);

/*
 * Closes the stream and hands over the whole text, to be freed by free(3).  Return: 0; -ENOMEM: a
 * part of the text was lost, and all of it is freed.
 */
int memstream_close(struct memstream *m, char **ret);
