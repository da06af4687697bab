#include "sys/pagefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/page.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

/* More processors than any machine has: what has no lane is counted elsewhere. */
#define LANES_MAX 4096

static uint32_t count_lanes(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : (uint32_t)MIN(n, (long)LANES_MAX);
}

/* Where the machine demands it, not executable. */
static int make_file(void)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("swansong", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("swansong", flags);
	return fd < 0 ? -errno : fd;
}

int pagefile_new(void)
{
	const struct page page = {
		.magic = PAGE_MAGIC,
		.version = PAGE_VERSION,
		.n_lanes = count_lanes(),
	};
	cleanup(closep) int fd = make_file();
	ssize_t n;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, PAGE_HEADER + (off_t)page.n_lanes * PAGE_LANE) < 0)
		return -errno;
	n = pwrite(fd, &page, sizeof(page), 0);
	if (n != (ssize_t)sizeof(page))
		return n < 0 ? -errno : -ENOSPC;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return take_fd(fd);
}

int pagefile_stop(int fd)
{
	const uint32_t stop = 1;
	ssize_t n = pwrite(fd, &stop, sizeof(stop), offsetof(struct page, stop));

	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(stop) ? 0 : -ENOSPC;
}

pid_t pagefile_holder(int fd)
{
	/* Whom a lock for writing would keep from reading; a lock of no process has no pid. */
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : 0;
}

/* Modulo 2^64: a guard taken on one processor may have been dropped on another. */
static uint64_t sum_of_lane(int fd, off_t at)
{
	uint64_t words[PAGE_SLOTS], sum = 0;
	ssize_t n = pread(fd, words, sizeof(words), at);

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*words); i++)
		if (words[i] != 0 && !(words[i] & PAGE_VOID))
			sum += words[i] - PAGE_BIAS;
	return sum;
}

uint64_t pagefile_guards(int fd)
{
	int64_t elsewhere, held;
	uint64_t sum = 0;
	off_t at = PAGE_HEADER;

	/* Lanes that nobody has written to are holes; the size is sealed, so this ends. */
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
		sum += sum_of_lane(fd, at);
		at += PAGE_LANE;
	}
	if (pread(fd, &elsewhere, sizeof(elsewhere), offsetof(struct page, elsewhere)) !=
	    (ssize_t)sizeof(elsewhere))
		elsewhere = 0;
	held = (int64_t)(sum + (uint64_t)elsewhere);
	return held < 0 ? 0 : MIN((uint64_t)held, (uint64_t)PAGEFILE_GUARDS_MAX);
}
