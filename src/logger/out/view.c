/*
 * The lines of all streams of a view are merged by their times.  A mark has the time of all lines up to
 * the next mark, so a run of lines is taken at once, from the stream with the oldest mark.
 */
#include "logger/out/view.h"

#include "sys/file/mount.h"

/* A file system that takes longer does not answer. */
#define OLDER_USEC (5 * USEC_PER_SEC)

DEFINE_CLEANUP(struct view *, view_free)

int view_new(struct view **ret, uint32_t id, int fd)
{
	cleanup(view_freep) struct view *v = calloc(1, sizeof(*v));
	struct stat st;

	if (!v) {
		(void)close(fd);
		return -ENOMEM;
	}
	v->id = id;
	v->fd = fd;
	v->older_fd = -1;
	list_init(&v->in_all);
	list_init(&v->items);
	list_init(&v->files);
	if (fstat(fd, &st) < 0)
		return -errno;
	v->is_socket = S_ISSOCK(st.st_mode);
	if (!v->is_socket && (!S_ISFIFO(st.st_mode) || fd_set_nonblock(fd) < 0))
		return -ENOTSUP;
	*ret = take(v);
	return 0;
}

static void view_free_item(struct view_item *item)
{
	list_remove(&item->in_items);
	free(item);
}

static void view_free_file(struct view *v, struct view_file *file)
{
	v->older_fd = fd_close(v->older_fd);
	v->older_begun = false;
	list_remove(&file->in_files);
	free(file);
}

struct view *view_free(struct view *v)
{
	struct view_item *item, *next;
	struct view_file *file, *other;

	if (!v)
		return NULL;
	list_for_each_safe (item, next, &v->items, in_items)
		view_free_item(item);
	list_for_each_safe (file, other, &v->files, in_files)
		view_free_file(v, file);
	list_remove(&v->in_all);
	fd_close(v->fd);
	free(v->buffer);
	return free_memory(v);
}

/* Returns the first line that begins at @from or later, and before @end. */
static uint64_t view_line_begin_after(const struct stream *s, uint64_t from, uint64_t end)
{
	const char *text, *newline;

	/* A part before the kept lines cannot be distinguished from the end of a line. */
	if (from > 0)
		from = MAX(from, s->record->kept + 1);
	if (from == 0 || from >= end)
		return MIN(from, end);
	text = stream_at(s, from - 1);
	newline = memchr(text, '\n', (size_t)(end - from + 1));
	return newline ? from + (uint64_t)(newline - text) : end;
}

/* Returns the position of the last lines: at most @wish->lines lines, and @wish->bytes bytes. */
static uint64_t view_last_lines(const struct stream *s, uint64_t end,
				const struct logger_view *wish)
{
	uint64_t limit = wish->bytes ? wish->bytes : MAX(s->rules.memory, 4096U);
	uint64_t from = s->record->kept;
	const char *text;
	uint64_t n = 0;

	if (end > limit && from < end - limit)
		from = end - limit;
	from = view_line_begin_after(s, from, end);
	if (!wish->lines || from >= end)
		return from;
	text = stream_at(s, from);
	for (size_t i = (size_t)(end - from); i-- > 0;)
		if (text[i] == '\n' && n++ == wish->lines)
			return from + i + 1;
	return from;
}

static char *view_room(struct view *v, size_t size)
{
	if (v->end + size > v->size) {
		size_t wanted = MAX(v->end + size, (size_t)VIEW_BUFFER);
		char *buffer = realloc(v->buffer, wanted);

		if (!buffer)
			return NULL;
		v->buffer = buffer;
		v->size = wanted;
	}
	v->end += size;
	return v->buffer + v->end - size;
}

static int view_put(struct view *v, struct logger_frame *frame, const char *name, const char *line,
		    size_t length)
{
	size_t name_length = strlen(name);
	char *out;

	if (v->plain) { /* its reader gets no frames */
		if (frame->type != LOGGER_FRAME_LINE)
			return 0;
		out = view_room(v, length + 1);
		if (!out)
			return -ENOMEM;
		memcpy(out, line, length);
		out[length] = '\n';
		return 0;
	}
	frame->name_length = (uint16_t)name_length;
	frame->size = (uint32_t)(sizeof(*frame) + name_length + length);
	out = view_room(v, frame->size);
	if (!out)
		return -ENOMEM;
	memcpy(out, frame, sizeof(*frame));
	memcpy(out + sizeof(*frame), name, name_length);
	memcpy(out + sizeof(*frame) + name_length, line, length);
	return 0;
}

int view_add_file(struct view *v, const struct older_wish *wish, const char *name,
		  enum logger_kind kind)
{
	size_t path = strlen(wish->path) + 1, length = strlen(name) + 1;
	struct view_file *file = malloc(sizeof(*file) + path + length);

	if (!file)
		return -ENOMEM;
	*file = (struct view_file){ .wish = *wish, .kind = kind };
	file->wish.path = memcpy(file->path, wish->path, path);
	file->name = memcpy(file->path + path, name, length);
	list_append(&v->files, &file->in_files);
	return 0;
}

int view_add(struct view *v, const struct stream *s, const struct logger_view *wish)
{
	struct logger_frame frame = {
		.type = LOGGER_FRAME_SEAM,
		.stream = s->id,
		.kind = s->rules.kind,
	};
	struct view_item *item = calloc(1, sizeof(*item));
	uint64_t n = 0; /* lines that are in memory */
	int r;

	if (!item)
		return -ENOMEM;
	item->stream = s->id;
	item->begin_end = s->slot.ring ? stream_line_end(s, s->record->kept) : stream_taken(s);
	item->position = s->slot.ring ? view_last_lines(s, item->begin_end, wish) : item->begin_end;
	list_append(&v->items, &item->in_items);
	if (item->position < item->begin_end)
		n = stream_count_lines(stream_at(s, item->position),
				       item->begin_end - item->position);
	if (wish->older && s->rules.to == LOGGER_TO_FILE && wish->lines > n) {
		r = view_add_file(v,
				  &(struct older_wish){ .path = s->path,
							.seam = s->seam,
							.record = s->record,
							.lines = wish->lines },
				  s->name, s->rules.kind);
		if (r < 0)
			return r;
	}
	frame.position = item->position;
	return view_put(v, &frame, s->name, (const char *)&s->seam, sizeof(s->seam));
}

static int view_put_lost(struct view *v, struct view_item *item, const struct stream *s)
{
	uint64_t to = view_line_begin_after(s, s->record->kept, stream_taken(s));
	struct logger_frame frame = {
		.type = LOGGER_FRAME_LOST,
		.stream = s->id,
		.kind = s->rules.kind,
		.position = to,
		.lost = to - item->position,
	};

	item->position = to;
	return view_put(v, &frame, s->name, "", 0);
}

/* The next line of a stream, or a part of one that is too long. */
static int view_put_line(struct view *v, struct view_item *item, const struct stream *s)
{
	const char *line = stream_at(s, item->position);
	size_t length = (size_t)MIN(item->end - item->position, (uint64_t)STREAM_LINE_MAX);
	const char *newline = memchr(line, '\n', length);
	struct logger_frame frame = {
		.type = LOGGER_FRAME_LINE,
		.stream = s->id,
		.kind = s->rules.kind,
		.time_usec = item->mark.time_usec,
		.pid = item->mark.run.pid,
		.generation = item->mark.run.generation,
		.position = item->position,
	};

	if (newline)
		length = (size_t)(newline - line);
	item->position += length + (newline ? 1 : 0);
	frame.next = item->position;
	return view_put(v, &frame, s->name, line, length);
}

static void view_find_mark(struct view_item *item, const struct stream *s)
{
	const struct store_mark *mark = stream_mark(s, item->position, &item->mark_end);

	item->mark = mark ? *mark : (struct store_mark){ .time_usec = 0 };
}

/* Notes which lines the rings have.  Return: 0 or -ENOMEM. */
static int view_update_item(struct view *v, struct view_item *item, const struct stream *s)
{
	int r = 0;

	item->end = item->position;
	if (!s || !s->slot.ring || (!v->now_sent && item->position >= item->begin_end))
		return 0;
	/* Lines that the ring had no room for were taken back. */
	if (item->position > stream_taken(s))
		item->position = item->end = stream_taken(s);
	if (item->position == stream_taken(s))
		return 0;
	if (item->position < s->record->kept)
		r = view_put_lost(v, item, s);
	item->end = v->now_sent ? stream_line_end(s, item->position) : item->begin_end;
	if (item->position < s->end_at)
		item->end = MIN(item->end, s->end_at);
	if (item->position < item->end)
		view_find_mark(item, s);
	return r;
}

/* Returns the item with the oldest next line, or NULL. */
static struct view_item *view_oldest(const struct view *v)
{
	struct view_item *item, *oldest = NULL;

	list_for_each (item, &v->items, in_items)
		if (item->position < item->end &&
		    (!oldest || item->mark.time_usec < oldest->mark.time_usec))
			oldest = item;
	return oldest;
}

/* All lines of one mark, as far as there is room.  Return: 0 or -ENOMEM. */
static int view_put_run(struct view *v, struct view_item *item, const struct stream *s)
{
	int r = 0;

	while (r == 0 && item->position < MIN(item->end, item->mark_end) && v->end < VIEW_BUFFER)
		r = view_put_line(v, item, s);
	if (item->position < item->end)
		view_find_mark(item, s);
	else if (r == 0 && item->position == s->end_at)
		r = view_update_item(v, item, s); /* a line was ended there; more may follow */
	return r;
}

/* --- older lines --- */

/* A piece of the text of the file, or its end, with 0 or an errno. */
static int view_put_older(struct view *v, struct view_file *file, const char *text, size_t size,
			  int error)
{
	struct logger_frame frame = {
		.type = LOGGER_FRAME_OLDER,
		.kind = file->kind,
		.lost = (uint64_t)error,
	};
	int r = size > 0 || error ? view_put(v, &frame, file->name, text, size) : 0;

	if (size == 0)
		view_free_file(v, file);
	return r;
}

/* Neither this file nor others of its file system answer. */
static int view_give_up_older(struct view *v, const struct view_file *hung)
{
	cleanup(freep) char *mount = NULL;
	struct view_file *file, *next;
	int r = mount_point_of(hung->path, &mount);

	list_for_each_safe (file, next, &v->files, in_files) {
		cleanup(freep) char *other = NULL;

		if (r == 0)
			r = mount_point_of(file->path, &other);
		if (r == 0 && strcmp(mount, other) == 0)
			r = view_put_older(v, file, "", 0, ETIMEDOUT);
	}
	return r;
}

/* The next piece of the first file.  Return: 0; -EAGAIN: it has not come yet; or -ENOMEM. */
static int view_read_older(struct view *v, struct view_file *file)
{
	uint64_t now = clock_now_usec();
	char text[16384];
	int32_t result = 0;
	ssize_t n;

	if (v->older_fd < 0) {
		v->older_fd = older_start(&file->wish);
		v->older_usec = clock_add(now, OLDER_USEC);
	}
	if (v->older_fd < 0)
		return view_put_older(v, file, "", 0, -v->older_fd);
	n = v->older_begun ? read(v->older_fd, text, sizeof(text))
			   : read(v->older_fd, &result, sizeof(result));
	if (n < 0 && errno == EAGAIN)
		return now < v->older_usec ? -EAGAIN : view_give_up_older(v, file);
	v->older_usec = clock_add(now, OLDER_USEC);
	if (v->older_begun)
		return view_put_older(v, file, text, n > 0 ? (size_t)n : 0, 0);
	if (n <= 0 || result)
		return view_put_older(v, file, "", 0, n <= 0 ? EIO : -result);
	v->older_begun = true;
	return 0;
}

/* Fills the buffer.  Return: 0 or -ENOMEM. */
static int view_fill(struct view *v, struct stream *const *streams)
{
	struct logger_frame now = { .type = LOGGER_FRAME_NOW };
	struct view_item *item = NULL;
	int r = 0;

	v->start = v->end = 0;
	list_for_each (item, &v->items, in_items) {
		r = view_update_item(v, item, streams[item->stream]);
		if (r < 0)
			return r;
	}
	while (r == 0 && v->end < VIEW_BUFFER && (item = view_oldest(v)))
		r = view_put_run(v, item, streams[item->stream]);
	if (r < 0 || v->now_sent || view_oldest(v))
		return r;
	while (r == 0 && v->end == 0 && !list_is_empty(&v->files))
		r = view_read_older(v, list_entry(v->files.next, struct view_file, in_files));
	if (r < 0 || !list_is_empty(&v->files))
		return r == -EAGAIN ? 0 : r;
	v->now_sent = true;
	return view_put(v, &now, "", "", 0);
}

void view_remove(struct view *v, uint32_t stream)
{
	struct logger_frame frame = { .type = LOGGER_FRAME_ENDED, .stream = stream };
	struct view_item *item, *next;

	list_for_each_safe (item, next, &v->items, in_items) {
		if (item->stream != stream)
			continue;
		view_free_item(item);
		(void)view_put(v, &frame, "", "", 0);
	}
}

static bool view_is_over(const struct view *v)
{
	return v->start == v->end && v->now_sent && !v->follow;
}

int view_write(struct view *v, struct stream *const *streams)
{
	while (v->begun) {
		if (view_is_over(v))
			return 1;
		if (v->start == v->end) {
			int r = view_fill(v, streams);

			if (r < 0)
				return r;
			if (v->start == v->end)
				return view_is_over(v);
		}

		const char *data = v->buffer + v->start;
		size_t size = v->end - v->start;
		ssize_t n = v->is_socket ? send(v->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL)
					 : write(v->fd, data, size);

		if (n < 0)
			return -errno;
		v->start += (size_t)n;
	}
	return 0;
}
