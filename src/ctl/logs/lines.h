#pragma once

/* Lines of output, in the order of their times. */

#include <regex.h>

#include "proto/log-reader.h"

struct log_lines {
	struct log_line **lines;
	size_t n;
};

/* Adds a copy of @line with its text.  Return: 0 or -ENOMEM. */
int log_lines_add(struct log_lines *lines, const struct log_line *line);
/* Moves all lines of @from to the end of @lines.  Return: 0 or -ENOMEM. */
int log_lines_append(struct log_lines *lines, struct log_lines *from);
void log_lines_done(struct log_lines *lines);

/*
 * Sorts them by time.  Lines of one source stay in their order, also if the clock was set back, and a
 * line without a time stands before the one that follows it in its source.
 */
void log_lines_merge(struct log_lines *lines);

void log_lines_limit(struct log_lines *lines, uint64_t max);

/* Which lines are shown: by time, level and text. */
struct log_filter {
	uint64_t since_usec, until_usec; /* CLOCK_REALTIME; 0 and USEC_INFINITY: no limit */
	int level;			 /* the least important one; LOG_DEBUG: all */
	const regex_t *pattern;		 /* NULL: any text */
};

/* Returns true if a line could be left out. */
bool log_filter_is_set(const struct log_filter *filter);

/*
 * The level of a line is the number of its prefix, such as <3>, as in sd-daemon(3), or LOG_INFO. A line without
 * a time passes, unless log_lines_merge() gives it the time of the next line.
 */
bool log_filter_takes(const struct log_filter *filter, const struct log_line *line);

/* Keeps the lines that @filter takes. */
void log_filter_lines(const struct log_filter *filter, struct log_lines *lines);
