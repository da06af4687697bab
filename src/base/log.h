#pragma once

/*
 * Logs messages, a line each, on standard error or another descriptor.  Only programs log: daemon/
 * and ctl/ call these functions, the layers below return errors.  Each line is written by one
 * write(2), is escaped (base/text.h), and begins with <PRIORITY> if it goes to the journal.
 *
 * Logging never waits for the reader of the log: when a pipe or socket is full, lines are lost, and
 * a line with their number is written before the next line that has room.
 */

#include <stdbool.h>
#include <syslog.h>

#include "base/macro.h"

enum log_room { LOG_ROOM_UNKNOWN, LOG_ROOM_ALWAYS, LOG_ROOM_VARIES };

enum log_format {
	LOG_PLAIN, /* "swansongd: web: up" */
	LOG_TIME,  /* "2026-11-23T02:03:04.123Z swansongd: web: up" */
	LOG_JSON, /* {"time":"2026-11-23T02:03:04.123456Z","level":"info","node":"web","message":"up"} */
	LOG_AUTO, /* plain in the journal, which has the time, and on a terminal; else with the time */
};

struct log {
	int fd;
	int level;	    /* the least important syslog priority that is shown */
	bool journal;	    /* prefix lines with <PRIORITY> */
	bool bare;	    /* LOG_AUTO is LOG_PLAIN */
	enum log_room room; /* a file always has room for a line; a pipe may be full */
	enum log_format format;
	const char *name; /* the program's name; not shown in LOG_JSON */
	bool named;	  /* the journal adds the name: lines have none */
	unsigned lost;	  /* lines since the last line that was written */
};

/* Makes a log on STDERR_FILENO, in LOG_PLAIN.  @name must stay valid. */
void log_init(struct log *log, const char *name, int level);

/* Writes the following lines to @fd.  Compares @fd with $JOURNAL_STREAM. */
void log_use(struct log *log, int fd);

/* Parses "error", "warning", "notice", "info" or "debug".  Return: a priority, or -EINVAL. */
int log_parse_level(const char *text);

/* Parses "auto", "plain", "time" or "json".  Return: enum log_format, or -EINVAL. */
int log_parse_format(const char *text);

/*
 * Logs a message about @node; its path begins the line, unless it is NULL.  @priority is one of LOG_ERR to
 * LOG_DEBUG of <syslog.h>.
 */
void log_node(struct log *log, int priority, const char *node, const char *format, ...)
	printf_like(4, 5);

/* Logs a message about no node. */
#define log_line(log, priority, ...) log_node(log, priority, NULL, __VA_ARGS__)
