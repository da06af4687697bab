/*
 * A tail asks for its last lines and for all that come.  When its stream ends, with the logger or
 * with the daemon, it asks again as long as it is used; lines that have come before are skipped then.
 */
#include "exporter/mirror/tail.h"

#include "proto/log-reader.h"

#define ANSWER_USEC (10 * USEC_PER_SEC)
#define RETRY_USEC  USEC_PER_SEC
#define ABSENT_USEC (5 * USEC_PER_SEC) /* pause between two calls to a daemon without a logger */
#define SPARE_USEC  (2 * USEC_PER_SEC) /* a tail that was unused for so long may be replaced */

struct tail {
	struct list in_tails;
	struct tails *tails;
	char *node;
	struct call *call;     /* NULL: none, until @wait */
	sd_event_source *pipe; /* of the descriptor of the reader; or NULL */
	sd_event_source *wait; /* for the next call, or to go on reading */
	sd_event_source *idle; /* on while there are no @users */
	unsigned users;
	uint64_t used_usec;
	enum tail_state state;
	char *error;
	bool refused;
	bool begun; /* the last lines have come: further ones are new */
	json_t *lines;
	struct log_reader reader;
	size_t burst; /* bytes of lines since the last pause */
};

/* --- lines --- */

static json_t *tail_new_line(const struct log_source *source, const char *text, size_t length)
{
	char copy[TAIL_TEXT_MAX + 1], time[CLOCK_TEXT_MAX];

	length = MIN(length, (size_t)TAIL_TEXT_MAX);
	for (size_t i = 0; i < length; i++)
		copy[i] = text[i] ? text[i] : ' ';
	copy[length] = '\0';
	return json_pack("{s:s, s:s, s:o}", "time", clock_utc_text(time, source->last_usec),
			 "stream", source->kind == LOGGER_ERROR ? "stderr" : "stdout", "text",
			 message_string(copy));
}

static void tail_report(struct tail *tail, json_t *line, const char *error)
{
	const struct tails_owner *owner = &tail->tails->owner;
	json_t *object = line ? json_copy(line) : json_pack("{s:s}", "error", error);

	(void)json_object_set_new(object, "node", message_string(tail->node));
	if (object)
		owner->line(tail->node, object, owner->arg);
	json_decref(object);
}

static void tail_add(struct tail *tail, json_t *line)
{
	if (!line)
		return;
	if (tail->begun)
		tail_report(tail, line, NULL);
	(void)json_array_append_new(tail->lines, line);
	if (json_array_size(tail->lines) > TAIL_LINES)
		(void)json_array_remove(tail->lines, 0);
}

static void tail_set_state(struct tail *tail, enum tail_state state)
{
	if (tail->state == state)
		return;
	tail->state = state;
	tail->tails->owner.changed(tail->tails->owner.arg);
}

static void tail_set_ready(struct tail *tail)
{
	call_grant_time(tail->call);
	tail->begun = true;
	tail_set_state(tail, TAIL_READY);
}

static void tail_take_event(struct tail *tail, const struct log_event *event)
{
	const struct log_source *source = event->line.source;
	char lost[64];

	if (event->type == LOGGER_FRAME_NOW) {
		tail_set_ready(tail);
	} else if (event->type == LOGGER_FRAME_LOST) {
		(void)snprintf(lost, sizeof(lost), "... %" PRIu64 " bytes were left out ...",
			       event->lost);
		tail_add(tail, tail_new_line(source, lost, strlen(lost)));
	} else if (event->type == LOGGER_FRAME_LINE) {
		tail->burst += event->line.length;
		tail_add(tail, tail_new_line(source, event->line.text, event->line.length));
	}
}

/* --- the stream --- */

static void tail_set_wait(struct tail *tail, uint64_t usec)
{
	(void)sd_event_source_set_time_relative(tail->wait, usec);
	(void)sd_event_source_set_enabled(tail->wait, SD_EVENT_ONESHOT);
}

static void tail_stop(struct tail *tail)
{
	tail->call = call_free(tail->call);
	tail->pipe = sd_event_source_disable_unref(tail->pipe);
	log_reader_open(&tail->reader, -1);
}

/* It ends soon if nothing uses it, so that the next client asks again. */
static void tail_set_idle(struct tail *tail, uint64_t usec)
{
	(void)sd_event_source_set_time_relative(tail->idle, usec);
	(void)sd_event_source_set_enabled(tail->idle,
					  tail->users ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* It asks again later, if it is used. */
static void tail_fail(struct tail *tail, const char *error, bool refused)
{
	bool is_news = tail->state != TAIL_FAILED;

	tail_stop(tail);
	free(tail->error);
	tail->error = strdup(error);
	tail->refused = refused;
	tail_set_wait(tail, RETRY_USEC);
	tail_set_idle(tail, RETRY_USEC);
	tail_set_state(tail, TAIL_FAILED);
	if (is_news)
		tail_report(tail, NULL, error);
}

/* Takes what has come, up to a burst of new lines. */
static void tail_read(struct tail *tail)
{
	struct log_event event;
	int r = 1;

	while (r > 0 && (tail->burst < TAIL_BURST || tail->state != TAIL_READY)) {
		r = log_reader_next(&tail->reader, 0, &event);
		if (r > 0)
			tail_take_event(tail, &event);
	}
	if (r > 0) {
		(void)sd_event_source_set_enabled(tail->pipe, SD_EVENT_OFF);
		tail_set_wait(tail, TAIL_PAUSE_USEC);
	} else if (r != -EAGAIN) {
		tail_fail(tail, "the stream of the logger has ended", false);
	}
}

static int tail_on_readable(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	tail_read(arg);
	return 0;
}

static bool tail_is_captured(const json_t *outputs)
{
	json_t *output;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)outputs, i, output) {
		if (message_get_bool(output, "captured", false))
			return true;
	}
	return false;
}

/* Return: 0; -ECONNRESET: there is no logger at present; or -errno. */
static int tail_open(struct tail *tail, const json_t *outputs)
{
	int fd = client_take_descriptor(call_client(tail->call)), r;

	if (fd < 0) {
		if (!outputs || tail_is_captured(outputs))
			return -ECONNRESET;
		/* The node has no lines until the next configuration. */
		tail_set_ready(tail);
		tail_stop(tail);
		tail_set_wait(tail, ABSENT_USEC);
		return 0;
	}
	log_reader_open(&tail->reader, fd);
	r = fd_set_nonblock(fd);
	if (r >= 0)
		r = sd_event_add_io(tail->tails->owner.event, &tail->pipe, fd, EPOLLIN,
				    tail_on_readable, tail);
	return MIN(r, 0);
}

static bool tail_replied(const struct message_reply *reply, int r, void *arg)
{
	struct tail *tail = arg;
	enum interface_error error;

	if (reply && reply->error) {
		r = interface_error_find(reply->error, &error);
		tail_fail(tail,
			  message_get_string(reply->parameters, "reason",
					     r == 0 && error == ERROR_NO_SUCH_NODE ? "no such node"
										   : reply->error),
			  r == 0 && error == ERROR_NOT_PERMITTED);
		return false;
	}
	if (reply)
		r = tail_open(tail, json_object_get(reply->parameters, "outputs"));
	if (r == 0)
		return tail->call;
	tail_fail(tail, reply ? "the logger has ended" : "the daemon does not answer", false);
	return false;
}

static int tail_ask(struct tail *tail)
{
	const struct tails_owner *owner = &tail->tails->owner;
	const struct call_owner call_owner = { tail_replied, tail };

	return call_new(&tail->call, owner->event, owner->socket, METHOD_LOGS,
			json_pack("{s:[s], s:i}", "nodes", tail->node, "lines", TAIL_LINES),
			MESSAGE_MORE, ANSWER_USEC, &call_owner);
}

static int tail_on_wait(sd_event_source *source, uint64_t usec, void *arg)
{
	struct tail *tail = arg;
	int r = 0;

	tail->burst = 0;
	if (tail->pipe) {
		(void)sd_event_source_set_enabled(tail->pipe, SD_EVENT_ON);
		tail_read(tail);
	} else if (!tail->call) {
		r = tail_ask(tail);
	}
	if (r < 0)
		tail_fail(tail, strerror(-r), false);
	return 0;
}

/* --- tails --- */

static struct tail *tail_free(struct tail *tail)
{
	if (!tail)
		return NULL;
	if (!list_is_empty(&tail->in_tails))
		tail->tails->n--;
	list_remove(&tail->in_tails);
	tail_stop(tail);
	tail->wait = sd_event_source_disable_unref(tail->wait);
	tail->idle = sd_event_source_disable_unref(tail->idle);
	json_decref(tail->lines);
	log_reader_done(&tail->reader);
	free(tail->error);
	free(tail->node);
	return free_memory(tail);
}

static int tail_on_idle(sd_event_source *source, uint64_t usec, void *arg)
{
	tail_free(arg);
	return 0;
}

static struct tail *tails_find(const struct tails *tails, const char *node)
{
	struct tail *tail;

	list_for_each (tail, &tails->list, in_tails)
		if (strcmp(tail->node, node) == 0)
			return tail;
	return NULL;
}

/* Ends a tail that nothing has used for a while.  Return: false if each is used. */
static bool tails_make_room(struct tails *tails)
{
	uint64_t now = clock_now_usec();
	struct tail *tail;

	if (tails->n < tails->owner.max)
		return true;
	list_for_each (tail, &tails->list, in_tails)
		if (!tail->users && now > tail->used_usec + SPARE_USEC) {
			tail_free(tail);
			return true;
		}
	return false;
}

static struct tail *tail_new(struct tails *tails, const char *node)
{
	struct tail *tail = calloc(1, sizeof(*tail));
	int r;

	if (!tail)
		return NULL;
	tail->tails = tails;
	log_reader_init(&tail->reader);
	list_init(&tail->in_tails);
	tail->node = strdup(node);
	tail->lines = json_array();
	r = tail->node && tail->lines ? 0 : -ENOMEM;
	if (r == 0)
		r = sd_event_add_time_relative(tails->owner.event, &tail->wait, CLOCK_MONOTONIC, 0,
					       1, tail_on_wait, tail);
	if (r >= 0)
		r = sd_event_source_set_enabled(tail->wait, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time_relative(tails->owner.event, &tail->idle, CLOCK_MONOTONIC,
					       TAIL_IDLE_USEC, USEC_PER_SEC, tail_on_idle, tail);
	return r < 0 ? tail_free(tail) : tail;
}

int tail_get(struct tail **ret, struct tails *tails, const char *node)
{
	struct tail *tail = tails_find(tails, node);

	if (!tail) {
		if (!tails_make_room(tails))
			return -EBUSY;
		tail = tail_new(tails, node);
		if (!tail)
			return -ENOMEM;
		list_append(&tails->list, &tail->in_tails);
		tails->n++;
		if (tail_ask(tail) < 0)
			tail_fail(tail, "the daemon does not answer", false);
	}
	tail->used_usec = clock_now_usec();
	if (tail->state != TAIL_FAILED)
		tail_set_idle(tail, TAIL_IDLE_USEC);
	*ret = tail;
	return 0;
}

enum tail_state tail_state(const struct tail *tail)
{
	return tail->state;
}

const char *tail_error(const struct tail *tail, bool *ret_refused)
{
	*ret_refused = tail->refused;
	return tail->error ? tail->error : "out of memory";
}

json_t *tail_lines(const struct tail *tail, size_t max)
{
	size_t n = json_array_size(tail->lines);
	json_t *lines = json_array();

	for (size_t i = n - MIN(n, max); i < n; i++)
		(void)json_array_append(lines, json_array_get(tail->lines, i));
	return lines;
}

void tail_hold(struct tail *tail)
{
	tail->users++;
	tail_set_idle(tail, TAIL_IDLE_USEC);
	/* The timer is not set anew by clients that come all the time. */
	if (!tail->call && sd_event_source_get_enabled(tail->wait, NULL) <= 0)
		tail_set_wait(tail, RETRY_USEC);
}

void tail_release(struct tails *tails, const char *node)
{
	struct tail *tail = tails_find(tails, node);

	tail->users--;
	tail->used_usec = clock_now_usec();
	tail_set_idle(tail, tail->state == TAIL_FAILED ? RETRY_USEC : TAIL_IDLE_USEC);
}

void tails_init(struct tails *tails, const struct tails_owner *owner)
{
	*tails = (struct tails){ .owner = *owner };
	list_init(&tails->list);
}

bool tails_are_on(const struct tails *tails)
{
	return tails->owner.max > 0;
}

void tails_done(struct tails *tails)
{
	while (tails->n > 0)
		tail_free(list_entry(tails->list.next, struct tail, in_tails));
}
