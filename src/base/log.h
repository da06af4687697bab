#pragma once

/*
 * One line a message on standard error.  Only programs decide to log: daemon/ and ctl/ call this,
 * the layers below return errors.  Each line leaves by one write(2), is escaped (base/text.h), and
 * begins with <PRIORITY> when standard error is the journal's, else with the program's name.
 *
 * Nobody waits for the reader of the log: when a pipe or socket is full, lines are lost, and the
 * first that goes out again says how many.
 */

#include <stdbool.h>
#include <syslog.h>

#include "base/macro.h"

enum log_room { LOG_ROOM_UNKNOWN, LOG_ROOM_ALWAYS, LOG_ROOM_VARIES };

struct log {
	int fd;
	int level;	    /* the least important syslog priority that is shown */
	bool journal;	    /* prefix lines with <PRIORITY> */
	enum log_room room; /* a file has it always, a pipe or the like has not */
	const char *name;   /* the program's name */
	unsigned lost;	    /* lines since the last one that went out */
};

/* Looks at $JOURNAL_STREAM and STDERR_FILENO; @name must stay valid. */
void log_init(struct log *log, const char *name, int level);

/* @priority is LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO or LOG_DEBUG of <syslog.h>. */
void log_line(struct log *log, int priority, const char *format, ...) printf_like(3, 4);
