#pragma once

/* The ways of lines to a file that tests/bench/logs compares. */

#include <stddef.h>
#include <sys/types.h>

#include "proto/logger-message.h"
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

/* Returns a logger that reads messages from @control and keeps its state in @store. */
pid_t start_logger(const struct bench *b, int control, int store);

/* Receives messages from the logger up to one of @type, and exits at a refusal. */
void wait_for(int control, uint32_t type);
void send_message(int control, struct logger_message *m, const char *name, const char *path,
		  int fd);

/* Returns the processor time in seconds.  @who: RUSAGE_SELF, or RUSAGE_CHILDREN for all that were waited for. */
double processor_seconds(int who);

/*
 * Adds a row for the way from a program to its log file by each peer that is installed: MB/s, and the
 * processor time of the peer and of the program that writes.
 */
void measure_peers(const struct bench *b, struct report *report, size_t portion);

/* Adds rows for the way of lines from 1,000 services at once into a file for each. */
void measure_crowd(const struct bench *b, struct report *report);
