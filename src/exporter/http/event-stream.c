/*
 * A client refers to the frame that it reads, and knows the number of its next one, and that of its
 * topic, the lines of one node.  A client with nothing to read is suspended, and costs no processor
 * time.  A client that does not read its frame is ended by shutdown(2), as libmicrohttpd asks for no
 * further bytes then.
 */
#include "exporter/http/event-stream.h"

#include "exporter/http/frames.h"

#define RING	       4096	     /* frames that are kept: a change of 1,000 nodes */
#define RING_BYTES_MAX (1024 * 1024) /* their size, but for the last one */
#define TOPIC	       1024	     /* likewise, of one topic */
#define TOPIC_BYTES    (256 * 1024)
#define BLOCK	       4096		     /* bytes that are read at once, for each client */
#define SNAPSHOT_USEC  (200 * USEC_PER_MSEC) /* new clients within this time share a snapshot */

struct topic {
	struct list in_stream;
	char *node;
	struct frames frames;
	struct list clients;
};

struct client {
	struct list in_stream, in_topic;
	struct event_stream *stream;
	struct MHD_Connection *connection;
	json_t *frame;	     /* being read; or NULL */
	size_t offset;	     /* in it */
	uint64_t since_usec; /* when it was begun */
	uint64_t next;	     /* number of the next frame */
	struct topic *topic; /* or NULL */
	uint64_t topic_next; /* likewise */
	bool suspended;
	bool begun; /* has a snapshot */
};

struct event_stream {
	const struct event_stream_owner *owner;
	sd_event_source *comment;
	struct list clients;
	size_t n_clients;
	struct list topics;
	struct frames frames;
	json_t *snapshot; /* or NULL */
	uint64_t snapshot_usec, snapshot_next;
	bool closed;
};

/* --- frames --- */

void event_stream_add(FILE *to, const char *name, json_t *data)
{
	(void)fprintf(to, "event: %s\ndata: ", name);
	(void)json_dumpf(data, to, JSON_COMPACT);
	(void)fputs("\n\n", to);
	json_decref(data);
}

/* Takes the reference to @data.  Returns the frame, or NULL without memory. */
static json_t *event_stream_frame_of(const char *name, json_t *data)
{
	struct memstream m;
	char *text;

	if (!data || memstream_open(&m) < 0) {
		json_decref(data);
		return NULL;
	}
	event_stream_add(m.file, name, data);
	return memstream_close(&m, &text) == 0 ? frame_new(text) : NULL;
}

/* --- clients --- */

static json_t *event_stream_snapshot(struct event_stream *stream)
{
	uint64_t now = clock_now_usec();
	struct memstream m;
	char *text;

	/* A client reads what has come since then in frames. */
	if (stream->snapshot && now < stream->snapshot_usec + SNAPSHOT_USEC &&
	    stream->snapshot_next >= stream->frames.first)
		return stream->snapshot;
	if (memstream_open(&m) < 0)
		return NULL;
	(void)fputs("retry: 1000\n\n", m.file);
	stream->owner->snapshot(m.file, stream->owner->arg);
	if (memstream_close(&m, &text) < 0)
		return NULL;
	json_decref(stream->snapshot);
	stream->snapshot = frame_new(text);
	stream->snapshot_usec = now;
	stream->snapshot_next = stream->frames.next;
	return stream->snapshot;
}

/* Returns the next line of the topic, or NULL; those that are not kept any more are skipped. */
static json_t *event_stream_client_topic_frame(struct client *client)
{
	struct frames *frames = client->topic ? &client->topic->frames : NULL;

	if (!frames || client->topic_next == frames->next)
		return NULL;
	client->topic_next = MAX(client->topic_next, frames->first);
	return frames_get(frames, client->topic_next++);
}

/* Finds the frame to be read.  Return: 1; 0: none yet; -ENOMEM. */
static int event_stream_client_find_frame(struct client *client)
{
	struct event_stream *stream = client->stream;
	const struct frames *frames = &stream->frames;

	if (client->frame)
		return 1;
	client->offset = 0;
	client->since_usec = clock_now_usec();
	if (client->begun && client->next == frames->next) {
		client->frame = json_incref(event_stream_client_topic_frame(client));
		return client->frame ? 1 : 0;
	}
	if (!client->begun || client->next < frames->first) {
		client->frame = json_incref(event_stream_snapshot(stream));
		client->next = stream->snapshot_next;
		client->begun = true;
	} else {
		client->frame = json_incref(frames_get(frames, client->next++));
	}
	return client->frame ? 1 : -ENOMEM;
}

static ssize_t event_stream_client_read(void *arg, uint64_t position, char *buf, size_t max)
{
	struct client *client = arg;
	size_t used = 0;
	int r = client->stream->closed ? -ESHUTDOWN : 0;

	while (r >= 0 && used < max && (r = event_stream_client_find_frame(client)) > 0) {
		size_t size = json_string_length(client->frame);
		size_t n = MIN(max - used, size - client->offset);

		memcpy(buf + used, json_string_value(client->frame) + client->offset, n);
		used += n;
		client->offset += n;
		if (client->offset == size) {
			json_decref(client->frame);
			client->frame = NULL;
		}
	}
	if (r < 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (used == 0) {
		client->suspended = true;
		MHD_suspend_connection(client->connection);
	}
	return (ssize_t)used;
}

static struct topic *event_stream_topic_find(const struct event_stream *stream, const char *node)
{
	struct topic *topic;

	list_for_each (topic, &stream->topics, in_stream)
		if (strcmp(topic->node, node) == 0)
			return topic;
	return NULL;
}

static struct topic *event_stream_topic_free(struct topic *topic)
{
	list_remove(&topic->in_stream);
	frames_done(&topic->frames);
	free(topic->node);
	return free_memory(topic);
}

/* Returns the topic of the node; NULL without memory. */
static struct topic *event_stream_topic_get(struct event_stream *stream, const char *node)
{
	struct topic *topic = event_stream_topic_find(stream, node);

	if (!topic) {
		topic = calloc(1, sizeof(*topic));
		if (!topic)
			return NULL;
		list_init(&topic->in_stream);
		list_init(&topic->clients);
		topic->node = strdup(node);
		if (!topic->node || frames_init(&topic->frames, TOPIC, TOPIC_BYTES) < 0)
			return event_stream_topic_free(topic);
		list_append(&stream->topics, &topic->in_stream);
	}
	return topic;
}

static void event_stream_client_wake(struct client *client)
{
	struct event_stream *stream = client->stream;

	if (!client->suspended)
		return;
	client->suspended = false;
	MHD_resume_connection(client->connection);
	stream->owner->resumed(stream->owner->arg);
}

static void event_stream_wake(struct event_stream *stream)
{
	struct client *client;

	list_for_each (client, &stream->clients, in_stream)
		event_stream_client_wake(client);
}

static struct client *event_stream_client_free(struct client *client)
{
	list_remove(&client->in_topic);
	if (client->topic && list_is_empty(&client->topic->clients))
		event_stream_topic_free(client->topic);
	json_decref(client->frame);
	return free_memory(client);
}

static void event_stream_client_end(void *arg)
{
	struct client *client = arg;
	struct event_stream *stream = client->stream;

	list_remove(&client->in_stream);
	stream->n_clients--;
	if (client->topic)
		stream->owner->left(client->topic->node, stream->owner->arg);
	event_stream_client_free(client);
	if (event_stream_is_used(stream))
		return;
	/* Starts a new frame, as the changes from now on are in none. */
	json_decref(stream->snapshot);
	stream->snapshot = NULL;
	(void)sd_event_source_set_enabled(stream->comment, SD_EVENT_OFF);
}

/* Takes @first, which may be NULL.  Returns NULL without memory. */
static struct client *event_stream_client_new(struct event_stream *stream,
					      struct MHD_Connection *connection, const char *node,
					      json_t *first)
{
	struct client *client = malloc(sizeof(*client));

	if (!client) {
		json_decref(first);
		return NULL;
	}
	*client = (struct client){ .stream = stream,
				   .connection = connection,
				   .frame = first,
				   .since_usec = clock_now_usec() };
	list_init(&client->in_topic);
	if (!node)
		return client;
	client->topic = event_stream_topic_get(stream, node);
	if (!client->topic)
		return event_stream_client_free(client);
	list_append(&client->topic->clients, &client->in_topic);
	client->topic_next = client->topic->frames.next;
	return client;
}

struct MHD_Response *event_stream_response(struct event_stream *stream,
					   struct MHD_Connection *connection, const char *node,
					   json_t *first)
{
	json_t *frame = first ? event_stream_frame_of("log", first) : NULL;
	struct MHD_Response *response;
	struct client *client;

	if (stream->n_clients >= stream->owner->clients_max) {
		json_decref(frame);
		return NULL;
	}
	client = event_stream_client_new(stream, connection, node, frame);
	if (!client)
		return NULL;
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK, event_stream_client_read, client, event_stream_client_end);
	if (!response) {
		event_stream_client_free(client);
		return NULL;
	}
	if (!event_stream_is_used(stream)) {
		(void)sd_event_source_set_time_relative(stream->comment, STREAM_COMMENT_USEC);
		(void)sd_event_source_set_enabled(stream->comment, SD_EVENT_ONESHOT);
	}
	list_append(&stream->clients, &client->in_stream);
	stream->n_clients++;
	return response;
}

/* --- events --- */

void event_stream_send(struct event_stream *stream, const char *name, json_t *data)
{
	if (event_stream_is_used(stream)) {
		frames_add(&stream->frames, event_stream_frame_of(name, data));
		event_stream_wake(stream);
	} else {
		json_decref(data);
	}
}

void event_stream_send_line(struct event_stream *stream, const char *node, json_t *line)
{
	struct topic *topic = event_stream_topic_find(stream, node);
	struct client *client;

	if (!topic)
		return;
	frames_add(&topic->frames, event_stream_frame_of("log", json_incref(line)));
	list_for_each (client, &topic->clients, in_topic)
		event_stream_client_wake(client);
}

void event_stream_end_slow(struct event_stream *stream, uint64_t now_usec)
{
	struct client *client;

	list_for_each (client, &stream->clients, in_stream) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(
			client->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		if (info && client->frame && now_usec >= client->since_usec + STREAM_COMMENT_USEC)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
	}
}

static int event_stream_on_comment(sd_event_source *source, uint64_t usec, void *arg)
{
	struct event_stream *stream = arg;
	char *text = strdup(":\n\n");

	frames_add(&stream->frames, text ? frame_new(text) : NULL);
	event_stream_end_slow(stream, clock_now_usec());
	event_stream_wake(stream);
	(void)sd_event_source_set_time_relative(source, STREAM_COMMENT_USEC);
	(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

bool event_stream_is_used(const struct event_stream *stream)
{
	return !list_is_empty(&stream->clients);
}

int event_stream_new(struct event_stream **ret, sd_event *event,
		     const struct event_stream_owner *owner)
{
	struct event_stream *stream = calloc(1, sizeof(*stream));
	int r;

	if (!stream)
		return -ENOMEM;
	stream->owner = owner;
	list_init(&stream->clients);
	list_init(&stream->topics);
	r = frames_init(&stream->frames, RING, RING_BYTES_MAX);
	if (r == 0)
		r = sd_event_add_time(event, &stream->comment, CLOCK_MONOTONIC, USEC_INFINITY, 1,
				      event_stream_on_comment, stream);
	if (r < 0)
		event_stream_free(stream);
	else
		*ret = stream;
	return MIN(r, 0);
}

void event_stream_close(struct event_stream *stream)
{
	stream->closed = true;
	event_stream_wake(stream);
}

struct event_stream *event_stream_free(struct event_stream *stream)
{
	if (!stream)
		return NULL;
	frames_done(&stream->frames);
	json_decref(stream->snapshot);
	stream->comment = sd_event_source_disable_unref(stream->comment);
	return free_memory(stream);
}
