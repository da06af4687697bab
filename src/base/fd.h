#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Closes @fd unless it is negative.  Returns -1, for "fd = fd_close(fd)". */
int fd_close(int fd);

/*
 * Opens /dev/null on each closed descriptor among 0, 1 and 2, so that no file that is opened later
 * becomes a standard stream.  Without /dev/null, the descriptor can be neither read nor written.
 * Must be called before any other file is opened.
 */
int fd_open_standard(void);

/*
 * Opens /dev/null for reading; without it, the end of a closed pipe.  Returns a descriptor or
 * -errno.
 */
int fd_open_null(void);

/*
 * Opens the regular file @path below @directory for reading.  Subtracts its size from *left, which it must not
 * exceed.  Return: a CLOEXEC descriptor; -ENOTSUP: no regular file; -EFBIG; -errno.
 */
int fd_open_regular(int directory, const char *path, uint64_t *left);

/* Closes all descriptors from @first to @last, or above @last. */
void fd_close_between(int first, int last);
void fd_close_above(int last);

/* Sets O_NONBLOCK on the open file.  Return: 0 or -errno. */
int fd_set_nonblock(int fd);

/* Returns the option @name of a socket, which is an int of SOL_SOCKET; -1 if @fd has none. */
int fd_option(int fd, int name);

/*
 * Creates a memory file of @size bytes that begins with @header and can neither grow nor shrink.
 * @name is shown in /proc.  Return: a CLOEXEC descriptor or -errno.
 */
int fd_new_sealed(const char *name, size_t size, const void *header, size_t header_size);

/* Room in a message for one descriptor: of a message that has more, the kernel closes the others. */
union fd_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Passes @fd with the message, by @room. */
void fd_pass(struct msghdr *message, union fd_room *room, int fd);

/* Returns the descriptor of a message that was received with such room, or -1. */
int fd_take_passed(const struct msghdr *message);
