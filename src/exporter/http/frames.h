#pragma once

/* The last frames of a stream: texts that are kept once, for all of their readers. */

#include "base/std.h"

struct frame {
	unsigned refs;
	size_t size;
	char *text;
};

/* Takes @text; NULL without memory. */
struct frame *frame_new(char *text);
struct frame *frame_ref(struct frame *frame); /* which may be NULL */
struct frame *frame_unref(struct frame *frame);

struct frames {
	uint64_t first, next; /* numbers: of the oldest frame kept, and of the next one */
	struct frame **ring;  /* the place of a number is its remainder */
	size_t n, bytes, bytes_max;
};

/* At most @n frames are kept, and @bytes_max but for the last one.  Return: 0 or -ENOMEM. */
int frames_init(struct frames *frames, size_t n, size_t bytes_max);
void frames_done(struct frames *frames);

/* Takes the reference to @frame, which may be NULL. */
void frames_add(struct frames *frames, struct frame *frame);

/* Returns the frame with a number from first to before next, borrowed. */
struct frame *frames_get(const struct frames *frames, uint64_t number);
