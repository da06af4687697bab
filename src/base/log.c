/*
 * A line is put together in a buffer on the stack, so that logging needs no memory, and written by
 * one write(2).  A pipe or socket is asked by poll(2) for room before each line; a line without
 * room is counted in log.lost.
 */
#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

/* poll(2) reports a pipe as writable only if it has room for a page. */
#define LINE_MAX_BYTES 4096

/* By the contract of systemd, $JOURNAL_STREAM is "DEVICE:INODE" of the stream to the journal. */
static bool log_is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(fd, &st) == 0 &&
	       st.st_dev == device && st.st_ino == inode;
}

/*
 * Returns true for the process that systemd has started: the stream to the journal has the name of its
 * program.  Children write to the same stream.
 */
static bool log_is_named(void)
{
	const char *pid = getenv("SYSTEMD_EXEC_PID");

	return pid && strtoul(pid, NULL, 10) == (unsigned long)getpid();
}

/* Returns true for files and /dev/null, which have no reader that could be slow. */
static bool log_is_never_full(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)));
}

void log_init(struct log *log, const char *name, int level)
{
	*log = (struct log){ .level = level, .name = name };
	log_use(log, STDERR_FILENO);
}

void log_use(struct log *log, int fd)
{
	log->fd = fd;
	log->journal = log_is_journal(fd);
	log->named = log->journal && log_is_named();
	log->bare = log->journal || isatty(fd);
	log->room = LOG_ROOM_UNKNOWN;
}

/* Names of the priorities from LOG_ERR on, and of enum log_format. */
static const char *const levels[] = { "error", "warning", "notice", "info", "debug", NULL };
static const char *const formats[] = { "plain", "time", "json", "auto", NULL };

int log_parse_level(const char *text)
{
	return text_is_one_of(text, levels) ? LOG_ERR + (int)text_index_of(text, levels) : -EINVAL;
}

int log_parse_format(const char *text)
{
	return text_is_one_of(text, formats) ? (int)text_index_of(text, formats) : -EINVAL;
}

/* The kind of descriptor is found out by the first line, as many logs have none. */
static bool log_is_writable(struct log *log)
{
	struct pollfd p = { .fd = log->fd, .events = POLLOUT };

	if (log->room == LOG_ROOM_UNKNOWN)
		log->room = log_is_never_full(log->fd) ? LOG_ROOM_ALWAYS : LOG_ROOM_VARIES;
	return log->room == LOG_ROOM_ALWAYS || poll(&p, 1, 0) != 0;
}

/* --- one line --- */

struct line {
	char text[LINE_MAX_BYTES];
	size_t length; /* LINE_TAIL bytes stay free for the end of the line */
};

#define LINE_TAIL 4

static void log_line_put(struct line *l, const char *text, size_t length)
{
	length = MIN(length, sizeof(l->text) - LINE_TAIL - l->length);
	memcpy(l->text + l->length, text, length);
	l->length += length;
}

static void log_line_add(struct line *l, const char *text)
{
	log_line_put(l, text, strlen(text));
}

/* Adds the present time; @digits: of the fraction of a second. */
static void log_line_add_time(struct line *l, unsigned digits)
{
	char text[CLOCK_TEXT_MAX];

	clock_utc_text(text, clock_realtime_usec());
	log_line_put(l, text, strlen("2026-01-31T12:00:00.") + digits);
	log_line_add(l, "Z");
}

static void log_line_add_json(struct line *l, const char *text)
{
	while (*text && l->length + LINE_TAIL + 8 < sizeof(l->text)) {
		size_t n = text_character(text);
		unsigned char c = (unsigned char)*text;
		char escape[8];

		if (n > 0 && c >= ' ' && c != '"' && c != '\\')
			log_line_put(l, text, n);
		else
			log_line_put(l, escape,
				     (size_t)snprintf(escape, sizeof(escape), "\\u%04x",
						      n > 0 ? c : 0xfffdU));
		text += n > 0 ? n : 1;
	}
}

static void log_line_make_text(struct line *l, const struct log *log, const char *node,
			       const char *text)
{
	char escaped[2048];

	if (log->format == LOG_TIME || (log->format == LOG_AUTO && !log->bare)) {
		log_line_add_time(l, 3);
		log_line_add(l, " ");
	}
	if (!log->named) {
		log_line_add(l, log->name);
		log_line_add(l, ": ");
	}
	if (node) {
		log_line_add(l, text_escape(escaped, sizeof(escaped), node));
		log_line_add(l, ": ");
	}
	log_line_add(l, text_escape(escaped, sizeof(escaped), text));
	l->text[l->length++] = '\n';
}

/* A failed write is only counted: there is no other place to report it. */
static void log_write(struct log *log, int priority, const char *node, const char *text)
{
	struct line line = { .length = 0 };
	char prefix[8];

	if (!log_is_writable(log)) {
		log->lost++;
		return;
	}
	if (log->journal) {
		(void)snprintf(prefix, sizeof(prefix), "<%d>", priority);
		log_line_add(&line, prefix);
	}
	if (log->format == LOG_JSON) {
		log_line_add(&line, "{\"time\":\"");
		log_line_add_time(&line, 6);
		log_line_add(&line, "\",\"level\":\"");
		log_line_add(&line, levels[MAX(priority, LOG_ERR) - LOG_ERR]);
		if (node) {
			log_line_add(&line, "\",\"node\":\"");
			log_line_add_json(&line, node);
		}
		log_line_add(&line, "\",\"message\":\"");
		log_line_add_json(&line, text);
		line.length += (size_t)sprintf(line.text + line.length, "\"}\n");
	} else {
		log_line_make_text(&line, log, node, text);
	}
	if (write(log->fd, line.text, line.length) < 0)
		log->lost++;
}

void log_node(struct log *log, int priority, const char *node, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (priority > log->level)
		return;
	if (log->lost > 0 && log_is_writable(log)) {
		(void)snprintf(text, sizeof(text), "%u lines of this log were lost", log->lost);
		log->lost = 0;
		log_write(log, LOG_WARNING, NULL, text);
	}
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_write(log, priority, node, text);
}
