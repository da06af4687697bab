#pragma once

/*
 * The output of a service, line by line.  Both ends of the pipe are kept: nothing is lost between two
 * runs, and remaining processes of an earlier run may go on writing.
 */

#include <stddef.h>
#include <systemd/sd-event.h>

/* Bytes of a line; a longer one comes in pieces of it. */
#define OUTPUT_LINE_MAX 4096

/* Other events have their turn after so many reads, however much a service writes. */
#define READS_AT_ONCE 4
/* At the end: more than a pipe holds, whatever its size. */
#define READS_AT_END 1024

/*
 * Makes a pipe that does not block its reader, and calls @on_input after all other events.
 * Return: 0 or -errno; what was made until then is in *read_fd, *write_fd and *source.
 */
int output_open(sd_event *event, int *read_fd, int *write_fd, sd_event_source **source,
		sd_event_io_handler_t on_input, void *arg);

struct output_pipe;

/*
 * @line is not NUL-terminated, and has no newline.  @on_line must not free the pipe.
 * Return: 0 or -errno.
 */
int output_new(struct output_pipe **ret, sd_event *event,
	       void (*on_line)(void *arg, const char *line, size_t length), void *arg);

/* Hands on all that has been written, also a last line without its end. */
struct output_pipe *output_free(struct output_pipe *output);

/* The end for the service. */
int output_fd(const struct output_pipe *output);
