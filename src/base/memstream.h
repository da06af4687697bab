#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Text that is written to a stream and kept in memory.  As open_memstream(3), but it is known in
 * the end whether all of it is there: glibc cuts off what it has no memory for, and neither
 * ferror(3) nor fclose(3) tells.
 */
struct memstream {
	FILE *file; /* to write to */
	char *text; /* these are private */
	size_t length, size;
	bool failed;
};

/* 0, or -ENOMEM, and then there is nothing to be closed.  *@m must stay where it is. */
int memstream_open(struct memstream *m);

/*
 * Closes the stream.  Hands the whole text over, to be freed by free(3); if some of it is missing,
 * all of it is freed.  Return: 0 or -ENOMEM.
 */
int memstream_close(struct memstream *m, char **ret);
