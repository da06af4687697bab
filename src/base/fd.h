#pragma once

/* Closes @fd unless it is negative; returns -1, so that "fd = fd_close(fd)". */
int fd_close(int fd);

/*
 * The same for a descriptor that somebody else has passed to us: a socket whose close was made to
 * wait until all is sent (SO_LINGER) is sent to its end in the background.
 */
int fd_close_passed(int fd);

/*
 * Opens /dev/null, or where there is none what can be neither read nor written, on every one of 0, 1
 * and 2 that is closed, so that no file that is opened later becomes a standard output.  To be called
 * before anything else is opened.
 *
 * Return: 0 or -errno.
 */
int fd_open_standard(void);

/* /dev/null to read from, or, where there is none, the end of a pipe that is over.  Or -errno. */
int fd_open_null(void);

/* Closes all descriptors above @last. */
void fd_close_above(int last);

/* Sets O_NONBLOCK on the open file.  Return: 0 or -errno. */
int fd_set_nonblock(int fd);
