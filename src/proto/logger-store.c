/*
 * The daemon maps the header and the records to read them, and writes by pwrite(): a fault of its own that writes
 * anywhere leaves them whole.
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

int store_map(int fd, int rights, struct store_header **ret)
{
	void *store = mmap(NULL, store_record_offset(LOGGER_STREAMS), rights, MAP_SHARED, fd, 0);

	if (store == MAP_FAILED)
		return -errno;
	*ret = store;
	return 0;
}

struct store_header *store_unmap(struct store_header *store)
{
	if (store)
		(void)munmap(store, store_record_offset(LOGGER_STREAMS));
	return NULL;
}

struct store_record *store_record(struct store_header *store, uint32_t stream)
{
	return (struct store_record *)(void *)((char *)store + store_record_offset(stream));
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

uint32_t store_taking(const struct store_header *store)
{
	/* Acquire: the record that is read after has what was taken before. */
	uint32_t taking = __atomic_load_n(&store->taking, __ATOMIC_ACQUIRE);

	return taking == 0 ? LOGGER_ALL : taking - 1;
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
