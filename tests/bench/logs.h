#pragma once

/* The ways of lines to a file that tests/bench/logs compares. */

#include <stddef.h>
#include <sys/types.h>

#include "tests/bench/report.h"

struct bench {
	const char *logger, *directory;
	size_t size; /* of all lines, in bytes */
	char path[512];
};

/* Prints @what with errno and exits. */
void fail(const char *what);

/* Writes @size bytes in lines, @portion of them at once, and exits if that fails. */
void write_lines(int fd, size_t size, size_t portion);

/* Returns a child that does this. */
pid_t start_writer(int fd, size_t size, size_t portion);

/* Returns the processor time of all children that were waited for, in seconds. */
double processor_seconds(void);

/*
 * Adds a row for the way from a program to its log file by each peer that is installed: MB/s, and the
 * processor time of the peer and of the program that writes.
 */
void measure_peers(const struct bench *b, struct report *report, size_t portion);
