/*
 * The memory that the daemon keeps over the life of a logger: a header, a record for each stream,
 * and a slot for each, with its ring and its marks.  A ring is mapped twice in a row, so that its
 * contents are never split.  splice() moves bytes from a pipe into the memory file; a note about
 * the stream stands in the header meanwhile, so that the next logger learns from the file offset
 * how many bytes a killed one has taken.
 */
#include "logger/ring/area.h"

#include "proto/logger-message.h"

#define MARKS_SIZE (STORE_SLOT - STORE_RING)

struct store_record *area_record(const struct area *a, uint32_t stream)
{
	return store_record(a->header, stream);
}

static uint64_t area_slot_offset(const struct area *a, uint32_t stream)
{
	return store_slot_offset(a->header->n_streams, stream);
}

/* The file offset gives the number of bytes; the note stays until the record has it. */
static void area_recover(struct area *a)
{
	uint64_t from = a->header->taking_from;
	struct store_record *record;
	struct store_input input;
	uint64_t begin, offset;

	if (a->header->taking == 0 || a->header->taking > a->header->n_streams)
		return;
	record = area_record(a, a->header->taking - 1);
	begin = area_slot_offset(a, a->header->taking - 1) + from % STORE_RING;
	offset = (uint64_t)lseek(a->fd, 0, SEEK_CUR);
	input = *area_input(record);
	if (offset > begin && offset - begin <= STORE_RING && input.taken == from) {
		input.taken = from + (offset - begin);
		area_set_input(record, &input);
	}
	area_taken(a);
}

int area_open(struct area *a, int fd)
{
	struct store_header header;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    header.magic != STORE_MAGIC || header.version != STORE_VERSION ||
	    header.n_streams != LOGGER_STREAMS || header.n_used > LOGGER_STREAMS ||
	    st.st_size != (off_t)store_slot_offset(LOGGER_STREAMS, LOGGER_STREAMS))
		return -EPROTO;
	*a = (struct area){ .fd = fd, .offset = UINT64_MAX };
	r = store_map(fd, PROT_READ | PROT_WRITE, &a->header);
	if (r == 0)
		area_recover(a);
	return r;
}

void area_close(struct area *a)
{
	a->header = store_unmap(a->header);
}

int area_map(const struct area *a, uint32_t stream, struct area_slot *ret)
{
	uint64_t offset = area_slot_offset(a, stream);
	struct area_slot slot;
	int r;

	/* The second copy replaces the pages behind the first ring. */
	slot.ring = mmap(NULL, STORE_RING + STORE_SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd,
			 (off_t)offset);
	if (slot.ring == MAP_FAILED)
		return -errno;
	slot.marks = (struct store_mark *)(void *)(slot.ring + 2 * STORE_RING);
	if (mmap(slot.ring + STORE_RING, STORE_SLOT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 a->fd, (off_t)offset) == MAP_FAILED) {
		r = -errno;
		area_unmap(&slot);
		return r;
	}
	*ret = slot;
	return 0;
}

void area_unmap(struct area_slot *slot)
{
	if (slot->ring)
		(void)munmap(slot->ring, 2 * STORE_RING + MARKS_SIZE);
	*slot = (struct area_slot){ 0 };
}

static void area_free_pages(const struct area *a, uint64_t offset, uint64_t size)
{
	(void)fallocate(a->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			(off_t)size);
}

void area_clear(const struct area *a, uint32_t stream)
{
	memset(area_record(a, stream), 0, STORE_RECORD);
	area_free_pages(a, area_slot_offset(a, stream), STORE_SLOT);
}

void area_punch(const struct area *a, uint32_t stream, uint64_t from, uint64_t to)
{
	uint64_t slot = area_slot_offset(a, stream);

	while (from < to) {
		uint64_t at = from % STORE_RING, size = MIN(to - from, STORE_RING - at);

		area_free_pages(a, slot + at, size);
		from += size;
	}
}

/* A position that no input has: the next logger counts nothing as taken. */
#define NOTHING_TAKEN UINT64_MAX

static void area_note(struct area *a, uint32_t stream, uint64_t from)
{
	a->header->taking_from = from;
	/* Release: the position belongs to this note. */
	__atomic_store_n(&a->header->taking, stream + 1, __ATOMIC_RELEASE);
}

int area_control_pipe(struct area *a, uint32_t stream, int pipe, int command, int value)
{
	int r;

	area_note(a, stream, NOTHING_TAKEN);
	r = fcntl(pipe, command, value);
	area_taken(a);
	return r;
}

ssize_t area_take(struct area *a, uint32_t stream, int pipe, uint64_t from, size_t size)
{
	uint64_t offset = area_slot_offset(a, stream) + from % STORE_RING;
	ssize_t n;

	size = MIN(size, (size_t)(STORE_RING - from % STORE_RING));
	if (a->offset != offset && lseek(a->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	area_note(a, stream, from);
	n = splice(pipe, NULL, a->fd, NULL, size, SPLICE_F_NONBLOCK);
	a->offset = offset + (n > 0 ? (uint64_t)n : 0);
	return n < 0 ? -errno : n;
}

void area_taken(struct area *a)
{
	/* Release: after the record has it. */
	__atomic_store_n(&a->header->taking, 0, __ATOMIC_RELEASE);
}

int area_set_path(const struct area *a, uint32_t stream, const char *path)
{
	size_t size = strnlen(path, STORE_PATH - 1) + 1;
	ssize_t n = pwrite(a->fd, path, size,
			   (off_t)(area_slot_offset(a, stream) + STORE_SLOT - STORE_PATH));

	return n < 0 ? -errno : 0;
}

int area_path(const struct area *a, uint32_t stream, char path[static STORE_PATH])
{
	ssize_t n = pread(a->fd, path, STORE_PATH,
			  (off_t)(area_slot_offset(a, stream) + STORE_SLOT - STORE_PATH));

	if (n != STORE_PATH)
		return n < 0 ? -errno : -EIO;
	path[STORE_PATH - 1] = '\0';
	return 0;
}
