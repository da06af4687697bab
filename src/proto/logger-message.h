#pragma once

/*
 * The messages between the daemon and swansong-logger.
 *
 * The daemon starts the logger with a SOCK_SEQPACKET socket and the store (proto/logger-store.h) as
 * descriptors.  A packet is a message: a struct logger_message, its texts one after the other, each
 * with its NUL, and at most one descriptor.  All numbers are native.
 *
 * A stream is the output of one service, or one of its two outputs.  Its number, below
 * LOGGER_STREAMS, is chosen by the daemon, which keeps both ends of the pipe, so that no output is
 * lost while the logger restarts.  A new logger gets all streams again; bytes that the earlier logger
 * had taken but not written are in the store.
 *
 * to the logger			descriptor	texts
 *
 *	LOGGER_HELLO						first message, and at any time; LOGGER_HELLO is
 *								the reply, at once
 *	LOGGER_TIMER			timerfd			expires when the logger has had time for what it
 *								was doing: the daemon, which watches it, asks by
 *								LOGGER_HELLO then
 *	LOGGER_ADD	@rules		read end	name, path	a stream that this logger does not know
 *	LOGGER_CHANGE	@rules				name, path	other rules, or another name; of both
 *								@cookie is the number of the rules
 *	LOGGER_FLUSH	@cookie					the pipe is read until it is empty, a last line
 *								without its end is ended, all is written;
 *								then LOGGER_FLUSHED
 *	LOGGER_REMOVE						the same, then LOGGER_ENDED; the number is free,
 *								and its record is empty
 *	LOGGER_REOPEN						files are opened anew, by their paths, as for
 *								logrotate; @stream or LOGGER_ALL
 *	LOGGER_VIEW	@view		socket or pipe		a reader; frames go to its descriptor
 *	LOGGER_SHOW	@view					the reader gets the last lines of @stream,
 *								also after LOGGER_BEGIN; or
 *					name, path	... those of this file, with LOGGER_ALL
 *	LOGGER_BEGIN	@view					... of all those streams now, and, with
 *								@view.follow, all lines from now on
 *	LOGGER_LEAVE	@view					the reader is dropped
 *	LOGGER_WATCH						LOGGER_WATCH is the reply when the stream has output
 *								that the daemon has not seen, see store_record.watched
 *	LOGGER_STOP						flush every stream, reply, exit
 *
 * A flush waits for as long as the destination takes: the daemon has the deadline.  LOGGER_FLUSH
 * may be for LOGGER_ALL, and is one reply then.  A flush replaces an earlier one of the same stream that
 * has no reply yet.
 *
 * from the logger
 *
 *	LOGGER_HELLO						the reply
 *	LOGGER_WATCH						the reply
 *	LOGGER_READY						it has the store, and knows no stream yet
 *	LOGGER_FLUSHED	@flushed				@cookie, and bytes that were dropped meanwhile
 *	LOGGER_ENDED						of LOGGER_REMOVE
 *	LOGGER_TROUBLE	@trouble			path	a destination fails, or no longer fails
 *	LOGGER_REFUSED	@trouble			text	a message was not valid: a fault of the daemon
 *
 * The counters of a stream are in its record in the store, where the daemon reads them.
 */

#include "base/std.h"

#define LOGGER_VERSION	   6
#define LOGGER_STREAMS	   16384
#define LOGGER_ALL	   UINT32_MAX
#define LOGGER_MESSAGE_MAX 8192 /* bytes of a message with its texts */
#define LOGGER_TEXTS	   2

enum logger_type {
	LOGGER_HELLO = 1,
	LOGGER_ADD,
	LOGGER_CHANGE,
	LOGGER_FLUSH,
	LOGGER_REMOVE,
	LOGGER_REOPEN,
	LOGGER_VIEW,
	LOGGER_SHOW,
	LOGGER_BEGIN,
	LOGGER_LEAVE,
	LOGGER_STOP,
	LOGGER_READY,
	LOGGER_FLUSHED,
	LOGGER_ENDED,
	LOGGER_TROUBLE,
	LOGGER_REFUSED,
	LOGGER_TIMER,
	LOGGER_WATCH,
	LOGGER_TYPES,
};

enum logger_to {
	LOGGER_TO_MEMORY,  /* to the memory only */
	LOGGER_TO_FILE,	   /* to the file of the path, with rotation */
	LOGGER_TO_OUTPUT,  /* to the logger's own standard output, */
	LOGGER_TO_ERROR,   /* or standard error, which are the daemon's */
	LOGGER_TO_JOURNAL, /* to journald, with its fields */
	LOGGER_TO_SYSLOG,  /* to syslogd; while there is none, to standard error */
	LOGGER_TOS,
};

enum logger_format {
	LOGGER_PLAIN,  /* the line, behind the time if there is one */
	LOGGER_PREFIX, /* "NAME | ", filled up to @name_width, before that */
	LOGGER_JSON,   /* an object: time, node, pid, generation, stream, message */
	LOGGER_FORMATS,
};

enum logger_stamp {
	LOGGER_STAMP_NONE,
	LOGGER_STAMP_ISO,      /* 2026-11-22T22:31:05Z */
	LOGGER_STAMP_ISO_USEC, /* 2026-11-22T22:31:05.123456Z */
	LOGGER_STAMP_UNIX,     /* 1795386665.123456 */
	LOGGER_STAMPS,
};

enum logger_kind {
	LOGGER_OUTPUT, /* standard output, or both */
	LOGGER_ERROR,  /* standard error alone */
	LOGGER_KINDS,
};

#define LOGGER_BLOCK	  0x1 /* the service waits while the destination takes nothing; else: drop */
#define LOGGER_COMPRESS	  0x2 /* rotated files, but the newest of them */
#define LOGGER_LOCAL_TIME 0x4 /* stamps are in local time, with the offset */
#define LOGGER_BRIEF	  0x8 /* waiting lines are dropped when the destination fails */
#define LOGGER_FLAGS	  0xf

#define LOGGER_KEEP_MAX	  9999
#define LOGGER_MEMORY_MAX (1024 * 1024)

/* The destination and form of the lines of a stream.  A limit of 0 is none. */
struct logger_rules {
	uint32_t to, format, stamp, kind;
	uint32_t flags;
	uint32_t name_width;
	uint32_t priority;	   /* of lines in the journal, unless they begin with "<3>" */
	uint32_t keep;		   /* rotated files */
	uint32_t memory;	   /* bytes of the last lines that are kept for readers */
	uint32_t mode;		   /* of a new file */
	uint32_t has_group, group; /* ... or else that of the logger */
	uint64_t size;		   /* a file is rotated before it exceeds this */
	uint64_t age_usec;	   /* ... or is older than this */
};

/* The request of a reader, for one stream and in total. */
struct logger_view {
	uint32_t id; /* chosen by the daemon; the last LOGGER_VIEW of an id is valid */
	uint32_t follow;
	uint64_t lines; /* at most so many of the last lines of the stream; 0: no limit */
	uint64_t bytes; /* and so many bytes; 0: as many as @memory of its rules promises */
	uint32_t plain; /* the lines alone, each with its newline, instead of frames */
	uint32_t older; /* if the memory has less than @lines, so many come from the file, too */
	uint32_t kind;	/* of LOGGER_ALL */
	uint32_t reserved;
};

struct logger_flushed {
	uint64_t dropped_bytes, dropped_lines;
};

struct logger_trouble {
	int32_t error; /* errno; 0: no longer */
	uint32_t reserved;
	uint64_t dropped_bytes, dropped_lines; /* since it began */
};

struct logger_message {
	uint32_t version;
	uint32_t type;
	uint32_t size;	 /* bytes of the message with its texts */
	uint32_t stream; /* or LOGGER_ALL */
	uint64_t cookie; /* copied to the reply */
	union {
		struct logger_rules rules;
		struct logger_view view;
		struct logger_flushed flushed;
		struct logger_trouble trouble;
	};
};

/*
 * Of a view: what a reader gets, in the order of the times of the lines.  A frame is followed by the
 * name of the stream and the bytes of the line.
 */
enum logger_frame_type {
	LOGGER_FRAME_SEAM, /* first of each stream; the line is a struct logger_seam */
	LOGGER_FRAME_LINE,
	LOGGER_FRAME_LOST, /* @lost bytes of the stream were discarded before the reader took them */
	LOGGER_FRAME_NOW,  /* end of the last lines; new lines follow */
	LOGGER_FRAME_ENDED, /* the stream was removed */
	/* before LOGGER_FRAME_NOW: text of the file before the seam, in pieces; or @lost is an errno */
	LOGGER_FRAME_OLDER,
};

#define LOGGER_LINE_MAX (1024 * 1024) /* bytes of a line; a longer one comes in parts */
#define LOGGER_NAME_MAX 4096	      /* bytes of the name in a frame, with a zero */

struct logger_frame {
	uint32_t size; /* of the frame with the name and the line */
	uint16_t type;
	uint16_t name_length;
	uint32_t stream;
	uint32_t kind;
	uint64_t time_usec; /* CLOCK_REALTIME */
	int64_t pid;
	uint64_t generation;
	/* The positions of the line in the stream, and after it; they go on with a new logger. */
	uint64_t position, next;
	uint64_t lost;
};

/*
 * Reads the frame at the beginning of @data; the name is behind its struct, then the line.
 *
 * Return: its size, *ret is the frame, and *ret_text its line; 0: it is not complete; -EBADMSG.
 */
ssize_t logger_frame_parse(const char *data, size_t size, struct logger_frame *ret,
			   const char **ret_text, size_t *ret_length);

/*
 * Where the file of a stream ends for a reader: what is before @position, and nothing behind it, is in
 * the first @bytes of this file, or was dropped.  A @position of 0: nothing was written yet.
 */
struct logger_seam {
	uint64_t position; /* UINT64_MAX: it is not known */
	uint64_t bytes;
	uint64_t device, inode; /* 0: it is no file */
};

/* A message as it was received: the texts are in it, the descriptor is the caller's to close. */
struct logger_packet {
	struct logger_message message;
	char text[LOGGER_MESSAGE_MAX];
	const char *texts[LOGGER_TEXTS]; /* or NULL */
	int fd;				 /* or -1 */
};

/*
 * Sends @message with its texts (or NULL) and its descriptor (or -1), which the caller keeps.
 * Fills in @version and @size.
 *
 * Return: 0; -EAGAIN, nothing was sent; -EMSGSIZE: the texts are too long; -errno.
 */
int logger_send(int fd, struct logger_message *message, const char *first, const char *second,
		int passed);

/*
 * Receives the next message without waiting.  Its texts and descriptor are checked against its
 * type, and its numbers against their ranges.  *packet is written in any case.
 *
 * Return: 1; 0: the peer has closed; -EAGAIN; -EPROTO: another version; -EBADMSG: invalid; -EMFILE:
 * no descriptor was free for the received one; -errno.
 */
int logger_receive(int fd, struct logger_packet *packet);

/* Returns true if @name is that of a rotated file of @base: "BASE.20261122T223105.123456", or ".zst". */
bool logger_is_rotated(const char *name, const char *base);
#define LOGGER_COMPRESSED ".zst"
