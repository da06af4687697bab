/*
 * A ring of references by number.  A new frame drops the oldest ones, by their number or by their bytes;
 * a reader that still sends a dropped frame has a reference of its own.
 */
#include "exporter/http/frames.h"

struct frame *frame_new(char *text)
{
	struct frame *frame = malloc(sizeof(*frame));

	if (!frame) {
		free(text);
		return NULL;
	}
	*frame = (struct frame){ .refs = 1, .size = strlen(text), .text = text };
	return frame;
}

struct frame *frame_ref(struct frame *frame)
{
	if (frame)
		frame->refs++;
	return frame;
}

struct frame *frame_unref(struct frame *frame)
{
	if (!frame || --frame->refs > 0)
		return NULL;
	free(frame->text);
	return free_memory(frame);
}

int frames_init(struct frames *frames, size_t n, size_t bytes_max)
{
	*frames = (struct frames){ .n = n, .bytes_max = bytes_max };
	frames->ring = calloc(n, sizeof(struct frame *));
	return frames->ring ? 0 : -ENOMEM;
}

static void frames_drop_first(struct frames *frames)
{
	struct frame **frame = &frames->ring[frames->first++ % frames->n];

	frames->bytes -= (*frame)->size;
	*frame = frame_unref(*frame);
}

void frames_done(struct frames *frames)
{
	while (frames->first < frames->next)
		frames_drop_first(frames);
	free(frames->ring);
}

void frames_add(struct frames *frames, struct frame *frame)
{
	if (!frame)
		return;
	while (frames->first < frames->next && (frames->next - frames->first == frames->n ||
						frames->bytes + frame->size > frames->bytes_max))
		frames_drop_first(frames);
	frames->ring[frames->next++ % frames->n] = frame;
	frames->bytes += frame->size;
}

struct frame *frames_get(const struct frames *frames, uint64_t number)
{
	return frames->ring[number % frames->n];
}
