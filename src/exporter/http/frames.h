#pragma once

/* The last frames of a stream: texts that are kept once, for all of their readers. */

#include <jansson.h>

#include "base/std.h"

/* Returns @text, which it takes, as a frame: a string that is freed with its last reference.  NULL: no memory. */
json_t *frame_new(char *text);

struct frames {
	uint64_t first, next; /* numbers: of the oldest frame kept, and of the next one */
	json_t **ring;	      /* the place of a number is its remainder */
	size_t n, bytes, bytes_max;
};

/* At most @n frames are kept, and @bytes_max but for the last one.  Return: 0 or -ENOMEM. */
int frames_init(struct frames *frames, size_t n, size_t bytes_max);
void frames_done(struct frames *frames);

/* Takes the reference to @frame, which may be NULL. */
void frames_add(struct frames *frames, json_t *frame);

/* Returns the frame with a number from first to before next, borrowed. */
json_t *frames_get(const struct frames *frames, uint64_t number);
