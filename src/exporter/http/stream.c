/*
 * Frames have numbers.  Those of the last sends are in a ring; a client refers to the frame that it
 * reads, and knows the number of its next one.  A client with nothing to read is suspended, and
 * costs no processor time.
 */
#include "exporter/http/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/memstream.h"

#define RING	       4096		     /* frames that are kept: a change of 1,000 nodes */
#define RING_BYTES_MAX (1024 * 1024)	     /* their size, but for the last one */
#define BLOCK	       4096		     /* bytes that are read at once, for each client */
#define SNAPSHOT_USEC  (200 * USEC_PER_MSEC) /* clients that come in this time share one */

struct frame {
	unsigned refs;
	size_t size;
	char *text;
};

struct client {
	struct list in_stream;
	struct stream *stream;
	struct MHD_Connection *connection;
	struct frame *frame; /* being read; or NULL */
	size_t offset;	     /* in it */
	uint64_t next;	     /* number of the next frame */
	bool suspended;
	bool begun; /* has a snapshot */
};

struct stream {
	const struct stream_owner *owner;
	sd_event_source *comment;
	struct list clients;
	size_t n_clients;
	struct frame *ring[RING]; /* the place of a number is its remainder */
	uint64_t first, next;	  /* numbers: of the oldest frame kept, and of the next send */
	size_t bytes;
	struct frame *snapshot; /* or NULL */
	uint64_t snapshot_usec, snapshot_next;
	bool closed;
};

static struct frame *frame_unref(struct frame *frame)
{
	if (!frame || --frame->refs > 0)
		return NULL;
	free(frame->text);
	free(frame);
	return NULL;
}

/* Takes @text. */
static struct frame *frame_new(char *text)
{
	struct frame *frame = malloc(sizeof(*frame));

	if (!frame) {
		free(text);
		return NULL;
	}
	*frame = (struct frame){ .refs = 1, .size = strlen(text), .text = text };
	return frame;
}

/* --- clients --- */

static struct frame *stream_snapshot(struct stream *stream)
{
	uint64_t now = clock_now_usec();
	struct memstream m;
	char *text;

	if (stream->snapshot && now < stream->snapshot_usec + SNAPSHOT_USEC &&
	    stream->snapshot_next == stream->next)
		return stream->snapshot;
	if (memstream_open(&m) < 0)
		return NULL;
	(void)fputs("retry: 1000\n\n", m.file);
	stream->owner->snapshot(m.file, stream->owner->arg);
	if (memstream_close(&m, &text) < 0)
		return NULL;
	frame_unref(stream->snapshot);
	stream->snapshot = frame_new(text);
	stream->snapshot_usec = now;
	stream->snapshot_next = stream->next;
	return stream->snapshot;
}

/* Finds the frame to be read.  Return: 1; 0: none yet; -ENOMEM. */
static int client_find_frame(struct client *client)
{
	struct stream *stream = client->stream;

	if (client->frame)
		return 1;
	if (client->begun && client->next == stream->next)
		return 0;
	if (!client->begun || client->next < stream->first) {
		client->frame = stream_snapshot(stream);
		client->next = stream->next;
		client->begun = true;
	} else {
		client->frame = stream->ring[client->next++ % RING];
	}
	if (!client->frame)
		return -ENOMEM;
	client->frame->refs++;
	client->offset = 0;
	return 1;
}

static ssize_t client_read(void *arg, uint64_t position, char *buf, size_t max)
{
	struct client *client = arg;
	size_t used = 0;
	int r = client->stream->closed ? -ESHUTDOWN : 0;

	(void)position;
	while (r >= 0 && used < max && (r = client_find_frame(client)) > 0) {
		size_t n = MIN(max - used, client->frame->size - client->offset);

		memcpy(buf + used, client->frame->text + client->offset, n);
		used += n;
		client->offset += n;
		if (client->offset == client->frame->size)
			client->frame = frame_unref(client->frame);
	}
	if (r < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (used == 0) {
		client->suspended = true;
		MHD_suspend_connection(client->connection);
	}
	return (ssize_t)used;
}

static void client_end(void *arg)
{
	struct client *client = arg;
	struct stream *stream = client->stream;

	list_remove(&client->in_stream);
	stream->n_clients--;
	frame_unref(client->frame);
	free(client);
	if (!stream_is_used(stream))
		(void)sd_event_source_set_enabled(stream->comment, SD_EVENT_OFF);
}

static void stream_wake(struct stream *stream)
{
	struct client *client;
	bool resumed = false;

	list_for_each (client, &stream->clients, in_stream) {
		if (!client->suspended)
			continue;
		client->suspended = false;
		MHD_resume_connection(client->connection);
		resumed = true;
	}
	if (resumed)
		stream->owner->resumed(stream->owner->arg);
}

struct MHD_Response *stream_response(struct stream *stream, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	struct client *client;

	if (stream->n_clients == STREAM_CLIENTS_MAX)
		return NULL;
	client = malloc(sizeof(*client));
	if (!client)
		return NULL;
	*client = (struct client){ .stream = stream, .connection = connection };
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, client_read, client,
						     client_end);
	if (!response) {
		free(client);
		return NULL;
	}
	if (!stream_is_used(stream)) {
		(void)sd_event_source_set_time_relative(stream->comment, STREAM_COMMENT_USEC);
		(void)sd_event_source_set_enabled(stream->comment, SD_EVENT_ONESHOT);
	}
	list_append(&stream->clients, &client->in_stream);
	stream->n_clients++;
	return response;
}

/* --- frames --- */

static void stream_drop_first(struct stream *stream)
{
	struct frame **frame = &stream->ring[stream->first++ % RING];

	stream->bytes -= (*frame)->size;
	*frame = frame_unref(*frame);
}

/* Takes @text. */
static void stream_append(struct stream *stream, char *text)
{
	struct frame *frame = frame_new(text);

	if (!frame)
		return;
	while (stream->first < stream->next && (stream->next - stream->first == RING ||
						stream->bytes + frame->size > RING_BYTES_MAX))
		stream_drop_first(stream);
	stream->ring[stream->next++ % RING] = frame;
	stream->bytes += frame->size;
	stream_wake(stream);
}

void stream_add(FILE *to, const char *name, json_t *data)
{
	(void)fprintf(to, "event: %s\ndata: ", name);
	(void)json_dumpf(data, to, JSON_COMPACT);
	(void)fputs("\n\n", to);
	json_decref(data);
}

void stream_send(struct stream *stream, const char *name, json_t *data)
{
	struct memstream m;
	char *text;

	if (!data || !stream_is_used(stream) || memstream_open(&m) < 0) {
		json_decref(data);
		return;
	}
	stream_add(m.file, name, data);
	if (memstream_close(&m, &text) == 0)
		stream_append(stream, text);
}

static int on_comment(sd_event_source *source, uint64_t usec, void *arg)
{
	struct stream *stream = arg;
	char *text = strdup(":\n\n");

	(void)usec;
	if (text)
		stream_append(stream, text);
	(void)sd_event_source_set_time_relative(source, STREAM_COMMENT_USEC);
	(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

bool stream_is_used(const struct stream *stream)
{
	return !list_is_empty(&stream->clients);
}

int stream_new(struct stream **ret, sd_event *event, const struct stream_owner *owner)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int r;

	if (!stream)
		return -ENOMEM;
	stream->owner = owner;
	list_init(&stream->clients);
	r = sd_event_add_time(event, &stream->comment, CLOCK_MONOTONIC, 0, 1, on_comment, stream);
	if (r >= 0)
		r = sd_event_source_set_enabled(stream->comment, SD_EVENT_OFF);
	if (r < 0)
		stream_free(stream);
	else
		*ret = stream;
	return MIN(r, 0);
}

void stream_close(struct stream *stream)
{
	stream->closed = true;
	stream_wake(stream);
}

struct stream *stream_free(struct stream *stream)
{
	if (!stream)
		return NULL;
	while (stream->first < stream->next)
		stream_drop_first(stream);
	frame_unref(stream->snapshot);
	stream->comment = sd_event_source_disable_unref(stream->comment);
	free(stream);
	return NULL;
}
