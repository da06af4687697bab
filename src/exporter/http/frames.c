/*
 * A ring of references by number.  A new frame drops the oldest ones, by their number or by their bytes;
 * a reader that still sends a dropped frame has a reference of its own.
 */
#include "exporter/http/frames.h"

json_t *frame_new(char *text)
{
	json_t *frame = json_string_nocheck(text);

	free(text);
	return frame;
}

int frames_init(struct frames *frames, size_t n, size_t bytes_max)
{
	*frames = (struct frames){ .n = n, .bytes_max = bytes_max };
	frames->ring = calloc(n, sizeof(json_t *));
	return frames->ring ? 0 : -ENOMEM;
}

static void frames_drop_first(struct frames *frames)
{
	json_t *frame = frames->ring[frames->first++ % frames->n];

	frames->bytes -= json_string_length(frame);
	json_decref(frame);
}

void frames_done(struct frames *frames)
{
	while (frames->first < frames->next)
		frames_drop_first(frames);
	free(frames->ring);
}

void frames_add(struct frames *frames, json_t *frame)
{
	size_t size = json_string_length(frame);

	if (!frame)
		return;
	while (frames->first < frames->next && (frames->next - frames->first == frames->n ||
						frames->bytes + size > frames->bytes_max))
		frames_drop_first(frames);
	frames->ring[frames->next++ % frames->n] = frame;
	frames->bytes += size;
}

json_t *frames_get(const struct frames *frames, uint64_t number)
{
	return frames->ring[number % frames->n];
}
