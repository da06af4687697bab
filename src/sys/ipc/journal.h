#pragma once

/*
 * A stream to journald, which makes an entry of each line that is written to it.  As
 * sd_journal_stream_fd(3), which waits for a journald that is too busy to take connections.
 */

/* Room for the device and inode of a stream, as $JOURNAL_STREAM has them. */
#define JOURNAL_STREAM_MAX 48

/*
 * Entries are of @identifier, without a newline in it, and of @priority, unless a line begins with
 * another as in "<3>".  To write to it may block.
 *
 * Return: the descriptor, or -errno: -ENOENT or -ECONNREFUSED where there is no journald, -EAGAIN
 * where it is too busy.
 */
int journal_open(const char *identifier, int priority);

/* Return: 0: journald is there; or -errno, as journal_open(). */
int journal_find(void);

/* What $JOURNAL_STREAM has to say for @fd.  Returns @buf. */
char *journal_stream_text(char buf[static JOURNAL_STREAM_MAX], int fd);
