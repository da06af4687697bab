#pragma once

/*
 * What a service writes, line by line.  Both ends of the pipe are kept: nothing is lost between two
 * runs, and who was left behind by one may go on writing.
 */

#include <stddef.h>
#include <systemd/sd-event.h>

/* Bytes of a line; a longer one comes in pieces of it. */
#define OUTPUT_LINE_MAX 4096

struct output_pipe;

/*
 * @line is not NUL-terminated, and has no newline.  Whoever is called must not free the pipe.
 *
 * Return: 0 or -errno.
 */
int output_new(struct output_pipe **ret, sd_event *event,
	       void (*on_line)(void *arg, const char *line, size_t length), void *arg);

/* Hands on what has been written, a last line without its end as well. */
struct output_pipe *output_free(struct output_pipe *output);

/* The end for the service. */
int output_fd(const struct output_pipe *output);
