/*
 * preload: memory that fails, or a process that hangs, while a file is there.
 *
 * A library for LD_PRELOAD, which is not passed on.  Of the folder PRELOAD_FAULTS, while the file
 * "nomem" is there nothing is allocated, and each time that fails a byte is added to it; while
 * "hang" is there the process waits for signals as soon as it allocates anything; while "old" is there
 * the kernel is one before SO_PASSRIGHTS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

#define PASSRIGHTS 83

static char nomem[4096], hang[4096], old[4096];

__attribute__((constructor)) static void preload_init(void)
{
	const char *folder = getenv("PRELOAD_FAULTS");

	if (folder && snprintf(nomem, sizeof(nomem), "%s/nomem", folder) > 0 &&
	    snprintf(hang, sizeof(hang), "%s/hang", folder) > 0)
		(void)snprintf(old, sizeof(old), "%s/old", folder);
	(void)unsetenv("LD_PRELOAD");
}

static int fails(void)
{
	int fd, before = errno;

	if (!*nomem)
		return 0;
	while (access(hang, F_OK) == 0)
		(void)pause();
	fd = open(nomem, O_WRONLY | O_APPEND | O_CLOEXEC);
	errno = before;
	if (fd < 0)
		return 0;
	(void)!write(fd, "x", 1);
	(void)close(fd);
	errno = ENOMEM;
	return 1;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	if (level == SOL_SOCKET && name == PASSRIGHTS && access(old, F_OK) == 0) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, length);
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}
