#pragma once

/*
 * A message of the notify protocol, as in sd_notify(3): lines of NAME=VALUE.  Unknown lines and
 * invalid values are ignored; the other lines apply all the same.  Of several lines with one name
 * the last one applies.
 */

#include "model/base/settings.h"

#define NOTIFY_MESSAGE_MAX 4096 /* bytes; longer messages are ignored */
#define NOTIFY_STATUS_MAX  256
#define NOTIFY_GUARD_MAX   200

enum notify_flag {
	NOTIFY_READY = 1 << 0,		  /* READY=1 */
	NOTIFY_RELOADING = 1 << 1,	  /* RELOADING=1 */
	NOTIFY_STOPPING = 1 << 2,	  /* STOPPING=1 */
	NOTIFY_STATUS = 1 << 3,		  /* STATUS=TEXT */
	NOTIFY_ERRNO = 1 << 4,		  /* ERRNO=N, 0 to 4095 */
	NOTIFY_MAINPID = 1 << 5,	  /* MAINPID=N */
	NOTIFY_WATCHDOG = 1 << 6,	  /* WATCHDOG=1 */
	NOTIFY_WATCHDOG_TRIGGER = 1 << 7, /* WATCHDOG=trigger */
	NOTIFY_WATCHDOG_USEC = 1 << 8,	  /* WATCHDOG_USEC=N */
	NOTIFY_EXTEND = 1 << 9,		  /* EXTEND_TIMEOUT_USEC=N */
	NOTIFY_MONOTONIC = 1 << 10,	  /* MONOTONIC_USEC=N */
	NOTIFY_FDSTORE = 1 << 11,	  /* FDSTORE=1 */
	NOTIFY_FDSTORE_REMOVE = 1 << 12,  /* FDSTOREREMOVE=1 */
	NOTIFY_FDNAME = 1 << 13,	  /* FDNAME=NAME */
	NOTIFY_FDPOLL_OFF = 1 << 14,	  /* FDPOLL=0 */
	NOTIFY_BARRIER = 1 << 15,	  /* BARRIER=1 */
	NOTIFY_GUARD = 1 << 16,		  /* X_SWANSONG_GUARD=NAME */
};

struct notify_message {
	unsigned flags;			/* NOTIFY_*: the members below that are set */
	char status[NOTIFY_STATUS_MAX]; /* cut between characters, always terminated */
	int error;
	pid_t main_pid;
	uint64_t watchdog_usec, extend_usec, monotonic_usec;
	char fdname[FDNAME_MAX];
	char guard[NOTIFY_GUARD_MAX + 1]; /* empty: an invalid name, which is to be reported */
};

/*
 * Parses a message, which may end with a NUL as some senders count theirs.  Return: 0, or -EBADMSG
 * for a NUL inside, a message that is too long, or an empty one.
 */
int notify_parse(const char *text, size_t size, struct notify_message *ret);
