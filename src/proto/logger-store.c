/*
 * The daemon only creates the memfd and reads records by pread(), as the logger may change them at
 * any time.
 */
#include "proto/logger-store.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "proto/logger.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int store_open(void)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("swansong-log", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("swansong-log", flags);
	return fd < 0 ? -errno : fd;
}

int store_new(void)
{
	const struct store_header header = {
		.magic = STORE_MAGIC,
		.version = STORE_VERSION,
		.n_streams = LOGGER_STREAMS,
	};
	cleanup(closep) int fd = store_open();
	ssize_t n;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)store_slot_offset(LOGGER_STREAMS, LOGGER_STREAMS)) < 0)
		return -errno;
	n = pwrite(fd, &header, sizeof(header), 0);
	if (n != (ssize_t)sizeof(header))
		return n < 0 ? -errno : -ENOSPC;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return take_fd(fd);
}

int store_read(int fd, uint32_t stream, struct store_record *ret)
{
	struct store_record record;
	ssize_t n = pread(fd, &record, sizeof(record), (off_t)store_record_offset(stream));

	if (n != (ssize_t)sizeof(record))
		return n < 0 ? -errno : -EIO;
	*ret = record;
	return 0;
}

int store_set_run(int fd, uint32_t stream, const struct store_run *run)
{
	ssize_t n =
		pwrite(fd, run, sizeof(*run),
		       (off_t)(store_record_offset(stream) + offsetof(struct store_record, run)));

	if (n != (ssize_t)sizeof(*run))
		return n < 0 ? -errno : -ENOSPC;
	return 0;
}

bool store_is_taking(int fd, uint32_t stream)
{
	struct store_header header;

	return pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	       header.taking == stream + 1;
}

void store_count(const struct store_record *record, struct store_counts *ret)
{
	const struct store_input *in = &record->inputs[record->input & 1];
	const struct store_progress *now = &record->now;

	*ret = (struct store_counts){
		.came_bytes = in->taken + in->discarded_bytes,
		.written_bytes = now->written_bytes,
		.written_lines = now->written_lines,
		.lost_bytes = now->dropped_bytes + in->discarded_bytes,
		.lost_lines = now->dropped_lines + in->discarded_lines,
		.waiting_bytes = in->taken - now->position,
	};
}
