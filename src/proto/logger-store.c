/*
 * The daemon only creates the memfd and reads records by pread(), as the logger may change them at
 * any time.
 */
#include "proto/logger-store.h"

#include "proto/logger-message.h"

int store_new(void)
{
	const struct store_header header = {
		.magic = STORE_MAGIC,
		.version = STORE_VERSION,
		.n_streams = LOGGER_STREAMS,
	};

	return fd_new_sealed("swansong-log", store_slot_offset(LOGGER_STREAMS, LOGGER_STREAMS),
			     &header, sizeof(header));
}

int store_reopen(int fd)
{
	char path[32];
	int own;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	return own < 0 ? -errno : own;
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

static int store_write(int fd, uint32_t stream, size_t member, const void *data, size_t size)
{
	ssize_t n = pwrite(fd, data, size, (off_t)(store_record_offset(stream) + member));

	if (n != (ssize_t)size)
		return n < 0 ? -errno : -ENOSPC;
	return 0;
}

int store_set_run(int fd, uint32_t stream, const struct store_run *run)
{
	return store_write(fd, stream, offsetof(struct store_record, run), run, sizeof(*run));
}

int store_set_rules(int fd, uint32_t stream, uint64_t number)
{
	return store_write(fd, stream, offsetof(struct store_record, rules), &number,
			   sizeof(number));
}

int store_set_watched(int fd, uint32_t stream, uint64_t watched)
{
	return store_write(fd, stream, offsetof(struct store_record, watched), &watched,
			   sizeof(watched));
}

int store_read_ring(int fd, uint32_t stream, uint64_t position, char *data, size_t size)
{
	uint64_t slot = store_slot_offset(LOGGER_STREAMS, stream);
	size_t part;

	for (; size > 0; position += part, data += part, size -= part) {
		uint64_t at = position % STORE_RING;

		part = MIN(size, (size_t)(STORE_RING - at));
		if (pread(fd, data, part, (off_t)(slot + at)) != (ssize_t)part)
			return -EIO;
	}
	return 0;
}

bool store_is_taking(int fd, uint32_t stream)
{
	struct store_header header;

	return pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	       header.taking == stream + 1;
}

uint32_t store_taking(int fd)
{
	struct store_header header;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || header.taking == 0)
		return LOGGER_ALL;
	return header.taking - 1;
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
