/*
 * The daemon reads lanes in blocks and skips holes by SEEK_DATA, so that a page for thousands of
 * processors costs as much as its used lanes.  The lock that proves an attached process is queried
 * by F_GETLK.
 */
#include "sys/ipc/pagefile.h"

#include "base/page.h"

/* More than most machines have; processors without a lane count in @elsewhere. */
#define LANES_MAX 4096

int pagefile_new(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	const struct page page = {
		.magic = PAGE_MAGIC,
		.version = PAGE_VERSION,
		.n_lanes = n < 1 ? 1 : (uint32_t)MIN(n, (long)LANES_MAX),
	};

	return fd_new_sealed("swansong", PAGE_HEADER + (size_t)page.n_lanes * PAGE_LANE, &page,
			     sizeof(page));
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
	/* F_GETLK finds the write lock that conflicts with this one; an OFD lock has no pid. */
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : 0;
}

/* The number of lanes that are read at once. */
#define LANES_READ 32

static bool pagefile_is_gathered(int fd)
{
	uint32_t gathered;
	ssize_t n = pread(fd, &gathered, sizeof(gathered), offsetof(struct page, gathered));

	return n == (ssize_t)sizeof(gathered) && gathered;
}

static uint64_t pagefile_held_elsewhere(int fd)
{
	int64_t held;
	ssize_t n = pread(fd, &held, sizeof(held), offsetof(struct page, elsewhere));

	return n == (ssize_t)sizeof(held) ? (uint64_t)held : 0;
}

uint64_t pagefile_guards(int fd)
{
	bool gathered = pagefile_is_gathered(fd);
	struct page_lane lanes[LANES_READ];
	off_t at = PAGE_HEADER;
	uint64_t sum = 0;
	int64_t held;

	/* Unwritten parts are holes.  The size is sealed, so the loop ends. */
	while (!gathered && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
		ssize_t n = pread(fd, lanes, sizeof(lanes), at);

		/* Modulo 2^64: a guard taken on one processor may have been dropped on another. */
		for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*lanes); i++)
			if (lanes[i].count != 0 && !(lanes[i].count & PAGE_VOID))
				sum += lanes[i].count - PAGE_BIAS;
		at += sizeof(struct page_lane) * LANES_READ;
	}
	sum += pagefile_held_elsewhere(fd);
	/* The program has added the lanes to @elsewhere between the two reads. */
	if (!gathered && pagefile_is_gathered(fd))
		sum = pagefile_held_elsewhere(fd);
	held = (int64_t)sum;
	return held < 0 ? 0 : MIN((uint64_t)held, (uint64_t)PAGEFILE_GUARDS_MAX);
}
