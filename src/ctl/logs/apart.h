#pragma once

/*
 * Work with files that may hang, as their file systems do not answer: it is done in a child process,
 * which is left when it hangs, and the rest in another.
 */

#include <stddef.h>
#include <stdint.h>

/* The standard input of the child is @output; it has no other descriptor. */
#define APART_OUTPUT 0

struct apart {
	size_t n;
	int (*run)(size_t i, void *arg); /* in the child; it sees a copy of all memory */
	const char *(*path)(size_t i, const void *arg); /* of the file of this one */
	void *arg;
	int output;	    /* a descriptor, or -1 */
	uint64_t wait_usec; /* for each of them, more or less */
};

/*
 * Runs each number below @n that has no error in @results, an array of 0 and -errno, and writes its result
 * there.  -ETIMEDOUT: it hangs, or a file of the same file system does; -EIO: its child has died.
 *
 * Return: 0 or -errno.
 */
int apart_run(const struct apart *apart, int *results);

/* Memory that is shared with the children.  NULL without memory. */
void *apart_allocate(size_t size);
void apart_free(void *memory, size_t size);
