#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"

/* sd_journal's contract: $JOURNAL_STREAM is "DEVICE:INODE" of the stream it gave us. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char *end;

	if (!stream)
		return false;
	device = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	inode = strtoull(end + 1, NULL, 10);
	return fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* Of what a log goes to these are what nobody has to read. */
static bool is_never_full(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)));
}

void log_init(struct log *log, const char *name, int level)
{
	*log = (struct log){
		.fd = STDERR_FILENO,
		.level = level,
		.journal = is_journal(STDERR_FILENO),
		.name = name,
	};
}

/*
 * Room for a line is there when the reader of a pipe keeps up; a file has it always.  Which of them
 * it is need not be known before there is a line.
 */
static bool is_writable(struct log *log)
{
	struct pollfd p = { .fd = log->fd, .events = POLLOUT };

	if (log->room == LOG_ROOM_UNKNOWN)
		log->room = is_never_full(log->fd) ? LOG_ROOM_ALWAYS : LOG_ROOM_VARIES;
	return log->room == LOG_ROOM_ALWAYS || poll(&p, 1, 0) != 0;
}

/* Nobody is left to tell about a log that cannot be written. */
static void put(struct log *log, int priority, const char *text)
{
	char line[2200];
	int n;

	if (!is_writable(log)) {
		log->lost++;
		return;
	}
	if (log->journal)
		n = snprintf(line, sizeof(line), "<%d>%s\n", priority, text);
	else
		n = snprintf(line, sizeof(line), "%s: %s\n", log->name, text);
	if (write(log->fd, line, (size_t)n) < 0)
		log->lost++;
}

void log_line(struct log *log, int priority, const char *format, ...)
{
	char raw[1024], text[2048];
	va_list ap;

	if (priority > log->level)
		return;
	if (log->lost > 0 && is_writable(log)) {
		(void)snprintf(text, sizeof(text), "%u lines of this log were lost", log->lost);
		log->lost = 0;
		put(log, LOG_WARNING, text);
	}
	va_start(ap, format);
	(void)vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	put(log, priority, text_escape(text, sizeof(text), raw));
}
