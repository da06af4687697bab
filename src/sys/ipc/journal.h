#pragma once

/*
 * Sockets of journald.  It stores each line of a stream as an entry.  Unlike sd_journal_stream_fd(3),
 * opening never waits for a busy journald.
 */

/* Room for the device and inode of a stream, as $JOURNAL_STREAM has them. */
#define JOURNAL_STREAM_MAX 48

/*
 * Opens a stream.  Its entries have @identifier, which must not contain a newline, and @priority; a
 * line may begin with its own priority, as in "<3>".  Writing may block.
 *
 * Return: the descriptor; -ENOENT or -ECONNREFUSED: no journald; -EAGAIN: journald is busy; -errno.
 */
int journal_open(const char *identifier, int priority);

/*
 * Opens a socket for entries in the native protocol of journald, which does not block.  Return: the
 * descriptor; or -errno, as journal_open().
 */
int journal_open_entries(void);

/* Writes the value of $JOURNAL_STREAM for @fd.  Returns @buf. */
char *journal_stream_text(char buf[static JOURNAL_STREAM_MAX], int fd);
