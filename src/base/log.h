#pragma once

/*
 * One line a message on standard error, or another descriptor.  Only programs decide to log: daemon/
 * and ctl/ call this, the layers below return errors.  Each line leaves by one write(2), is escaped
 * (base/text.h), and begins with <PRIORITY> when the descriptor is the journal's.
 *
 * No line waits for the reader of the log: when a pipe or socket is full, lines are lost, and the
 * first that goes out again says how many.
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
	enum log_room room; /* a file has it always, a pipe or the like has not */
	enum log_format format;
	const char *name; /* the program's name; not in LOG_JSON */
	unsigned lost;	  /* lines since the last one that went out */
};

/* A log on STDERR_FILENO, in LOG_PLAIN; @name must stay valid. */
void log_init(struct log *log, const char *name, int level);

/* Goes on with @fd.  Looks at $JOURNAL_STREAM. */
void log_use(struct log *log, int fd);

/* "error", "warning", "notice", "info" or "debug".  Return: a priority, or -EINVAL. */
int log_parse_level(const char *text);

/* "auto", "plain", "time" or "json".  Return: enum log_format, or -EINVAL. */
int log_parse_format(const char *text);

/* @priority is LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO or LOG_DEBUG of <syslog.h>. */
void log_line(struct log *log, int priority, const char *format, ...) printf_like(3, 4);

/* The same for a message about @node: its path begins the line. */
void log_node(struct log *log, int priority, const char *node, const char *format, ...)
	printf_like(4, 5);
