#pragma once

/* Which lines of output are shown: by time, level and text. */

#include <regex.h>

#include "ctl/logs/lines.h"

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
