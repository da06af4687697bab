/*
 * From the left, by position:
 *
 *	kept ... now.position ... stream_writable_end() ... taken
 *	 for readers   | complete lines, to be written | a line that has not ended
 *
 * All of it is in the ring: taken - kept is at most STORE_RING.  If the destination takes nothing, the
 * oldest lines are dropped; while a helper works on a portion of them, the newest are discarded instead.
 */
#include "logger/ring/stream.h"

/* Output within this time shares a mark. */
#define MARK_USEC 500
/* Pages are given back in pieces of this size, as each call costs. */
#define TRIM_SIZE (256 * 1024)

struct stream *stream_free(struct stream *s)
{
	if (!s)
		return NULL;
	list_remove(&s->in_queue);
	list_remove(&s->in_loud);
	list_remove(&s->in_ticked);
	area_unmap(&s->slot);
	fd_close(s->fd);
	free(s->name);
	free(s->path);
	return free_memory(s);
}

int stream_set_rules(struct stream *s, const struct logger_rules *rules, const char *name,
		     const char *path)
{
	cleanup(freep) char *new_name = strdup(name);
	cleanup(freep) char *new_path = strdup(path);

	if (!new_name || !new_path)
		return -ENOMEM;
	free(s->name);
	free(s->path);
	s->name = take(new_name);
	s->path = take(new_path);
	s->rules = *rules;
	return 0;
}

/* Maps the ring and the marks, at the first output.  Return: 0 or -errno. */
static int stream_map(struct stream *s)
{
	return s->slot.ring ? 0 : area_map(s->area, s->id, &s->slot);
}

/* --- marks --- */

static struct store_mark *stream_mark_number(const struct stream *s, uint64_t number)
{
	return &s->slot.marks[number % STORE_MARKS];
}

static void stream_add_mark(struct stream *s, uint64_t position, uint64_t time_usec)
{
	struct store_record *record = s->record;
	const struct store_mark *last =
		record->marks ? stream_mark_number(s, record->marks - 1) : NULL;

	record->last_usec = time_usec;
	if (last && time_usec - last->time_usec < MARK_USEC && last->run.pid == record->run.pid &&
	    last->run.generation == record->run.generation)
		return;
	*stream_mark_number(s, record->marks) = (struct store_mark){
		.position = position,
		.time_usec = time_usec,
		.run = record->run,
	};
	/* Release: the mark is complete. */
	__atomic_store_n(&record->marks, record->marks + 1, __ATOMIC_RELEASE);
}

const struct store_mark *stream_mark(const struct stream *s, uint64_t position, uint64_t *next)
{
	uint64_t high = s->record->marks;
	uint64_t low = high > STORE_MARKS ? high - STORE_MARKS : 0, end = high;
	struct store_mark *mark;

	*next = UINT64_MAX;
	if (high == 0)
		return NULL;
	/* The last mark that is not behind the position; the oldest one if all are. */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (stream_mark_number(s, middle)->position <= position)
			low = middle;
		else
			high = middle;
	}
	if (low + 1 < end)
		*next = stream_mark_number(s, low + 1)->position;
	mark = stream_mark_number(s, low);
	/* Output may come before the daemon knows the process of its run. */
	if (mark->run.pid == 0 && mark->run.generation == s->record->run.generation)
		mark->run.pid = s->record->run.pid;
	return mark;
}

/* --- dropping --- */

uint64_t stream_count_lines(const char *text, uint64_t size)
{
	const char *end = text + size, *at = text;
	uint64_t n = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		n++;
		at++;
	}
	return n;
}

/* The position after the last line end in between; @from if there is none. */
static uint64_t stream_line_end_before(const struct stream *s, uint64_t from, uint64_t to)
{
	const char *text = stream_at(s, from);
	const char *newline = memrchr(text, '\n', (size_t)(to - from));

	return newline ? from + (uint64_t)(newline - text) + 1 : from;
}

void stream_drop(struct stream *s)
{
	struct store_record *record = s->record;
	uint64_t from = record->now.position, to = stream_taken(s), end;

	if (to - from > STREAM_PORTION)
		to = from + STREAM_PORTION;
	end = stream_line_end_before(s, from, to);
	if (end == from) /* in the middle of a long line */
		end = to;
	record->next = record->now;
	record->next.position = end;
	record->next.dropped_bytes += end - from;
	record->next.dropped_lines += stream_count_lines(stream_at(s, from), end - from);
	record->next.parts = 0;
	area_commit(record);
}

/* Carries out the discard that the input records, or completes it after a kill. */
static void stream_move(struct stream *s)
{
	struct store_input input = *area_input(s->record);
	uint64_t size = input.taken - input.move_from, lost = input.move_from - input.move_to;

	if (input.move_from == 0)
		return;
	memcpy(s->slot.ring + input.move_to % STORE_RING, stream_at(s, input.move_from),
	       (size_t)size);
	while (s->record->marks > 0 &&
	       stream_mark_number(s, s->record->marks - 1)->position > input.move_to)
		s->record->marks--;
	input.discarded_bytes += lost;
	input.discarded_lines += input.move_lines;
	input.gap = input.move_to;
	input.taken -= lost;
	s->end_at = MIN(s->end_at, input.move_to);
	input.move_from = 0;
	area_set_input(s->record, &input);
}

/*
 * The newest lines, back to the one that @from is in, are discarded.  The beginning of the line that is still
 * to come stays, and moves to where they were.  If it is too long for that, nothing is discarded while there is
 * room, and then all from @from on, as the service would wait.
 */
static void stream_discard(struct stream *s, uint64_t from)
{
	struct store_input input = *area_input(s->record);
	/* The portion of a helper is far before that. */
	uint64_t begin = stream_line_end_before(s, from - STREAM_PORTION, from);
	uint64_t end = stream_line_end_before(s, begin, input.taken);

	if (begin == from - STREAM_PORTION || end == begin || input.taken - end > end - begin) {
		if (input.taken - s->record->now.position + STREAM_PORTION <= STORE_RING)
			return;
		begin = from;
		end = input.taken;
	}
	input.move_from = end;
	input.move_to = begin;
	input.move_lines = stream_count_lines(stream_at(s, begin), end - begin);
	area_set_input(s->record, &input);
	stream_move(s);
}

/* --- taking --- */

/* Makes room in the ring.  Return: 0, or -ENOBUFS. */
static int stream_make_room(struct stream *s)
{
	if (stream_is_unseen(s))
		return -ENOBUFS;
	if (stream_taken(s) - s->record->now.position <= STREAM_WAITING_MAX)
		return 0;
	if (!stream_may_drop(s))
		return -ENOBUFS;
	if (!s->worker)
		stream_drop(s);
	return stream_taken(s) - s->record->now.position + STREAM_PORTION > STORE_RING ? -ENOBUFS
										       : 0;
}

ssize_t stream_take(struct stream *s, uint64_t time_usec)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	struct store_input input;
	ssize_t n;
	int r;

	/* A quiet service needs no ring. */
	if (!s->slot.ring && poll(&p, 1, 0) <= 0)
		return -EAGAIN;
	if (!s->slot.ring && !(p.revents & POLLIN))
		return 0;
	r = stream_map(s);
	if (r == 0)
		r = stream_make_room(s);
	if (r < 0)
		return r;
	input = *area_input(s->record);
	if (input.taken + STREAM_PORTION > s->record->kept + STORE_RING)
		s->record->kept = input.taken + STREAM_PORTION - STORE_RING;
	n = area_take(s->area, s->id, s->fd, input.taken, STREAM_PORTION);
	if (n > 0) {
		stream_add_mark(s, input.taken, time_usec);
		input.taken += (uint64_t)n;
		area_set_input(s->record, &input);
	}
	area_taken(s->area);
	if (n > 0 && s->worker && stream_may_drop(s) &&
	    input.taken - s->record->now.position > STREAM_WAITING_MAX)
		stream_discard(s, input.taken - (uint64_t)n);
	return n;
}

ssize_t stream_take_pipe(struct stream *s, uint64_t time_usec)
{
	ssize_t n = 0;

	/* The service may go on writing: only the bytes in the pipe now count. */
	for (size_t taken = 0; s->fd >= 0 && taken < STREAM_PIPE_MAX; taken += (size_t)n) {
		n = stream_take(s, time_usec);
		if (n <= 0)
			break;
	}
	return n;
}

void stream_take_all(struct stream *s, uint64_t time_usec)
{
	s->draining = stream_take_pipe(s, time_usec) == -ENOBUFS;
	/* Otherwise the line may continue in the pipe. */
	if (!s->draining)
		s->end_at = stream_taken(s);
}

/* Finds the pages of older lines: from *kept, which is rounded up, to the returned position. */
static uint64_t stream_old_end(const struct stream *s, uint64_t *kept)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* Not watched: 0 - 1. */
	uint64_t end = MIN(s->record->now.position, stream_watched(s) - 1);

	/* The page before @kept may already have the newest bytes. */
	*kept = (s->record->kept + page - 1) / page * page;
	/* The end of the line before is kept, too. */
	return end > s->rules.memory ? (end - s->rules.memory - 1) / page * page : 0;
}

bool stream_has_old(const struct stream *s)
{
	uint64_t kept, end = stream_old_end(s, &kept);

	return end >= kept + TRIM_SIZE;
}

void stream_trim(struct stream *s)
{
	uint64_t kept, end = stream_old_end(s, &kept);

	if (end < kept + TRIM_SIZE)
		return;
	s->record->kept = end;
	area_punch(s->area, s->id, kept, end);
}

uint64_t stream_line_end(const struct stream *s, uint64_t from)
{
	uint64_t end = stream_line_end_before(s, from, stream_taken(s));

	return MIN(s->end_at, stream_taken(s)) > end ? MIN(s->end_at, stream_taken(s)) : end;
}

uint64_t stream_writable_end(const struct stream *s)
{
	uint64_t from = s->record->now.position, taken = stream_taken(s);
	uint64_t end = stream_line_end_before(s, from, taken);

	if (from < s->end_at)
		return MIN(s->end_at, taken);
	if (end == from && taken - from > STREAM_LINE_MAX)
		end = from + STREAM_LINE_MAX;
	return end;
}

/* --- the object --- */

void stream_note_seam(struct stream *s)
{
	const struct store_record *record = s->record;

	s->seam = (struct logger_seam){
		.position = record->step == STORE_IDLE ? record->now.position : UINT64_MAX,
		.bytes = record->file_bytes,
		.device = record->device,
		.inode = record->inode,
	};
}

int stream_new(struct stream **ret, struct area *area, uint32_t id, int fd)
{
	cleanup(stream_freep) struct stream *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s) {
		(void)close(fd);
		return -ENOMEM;
	}
	s->area = area;
	s->id = id;
	s->fd = fd;
	s->record = area_record(area, id);
	stream_note_seam(s);
	list_init(&s->in_queue);
	list_init(&s->in_loud);
	list_init(&s->in_ticked);
	if (stream_taken(s) > 0)
		r = stream_map(s);
	if (r < 0)
		return r;
	stream_move(s);
	*ret = take(s);
	return 0;
}
