/*
 * The end of a run waits for its last lines: the logger is asked to write all of them, and its reply
 * ends the wait.  With log-full = drop, this wait and the hold on the node that follows it take
 * AWAIT_USEC together.
 *
 * For ready = log:REGEX the daemon reads the ring of the logger, never the pipe: a process can make the
 * read of its pipe hang.  A line that has not ended is read again with its end: stream.line is before
 * it, and what was seen by then behind its part, so that the logger reports more of it.
 */
#include "daemon/logger/capture.h"

#include "daemon/logger/wishes.h"

/* The longest wait for the last lines of a run. */
#define AWAIT_USEC USEC_PER_SEC
/* After so many reads other events come first, however much a service writes. */
#define READS_AT_ONCE 16

struct capture {
	struct context *ctx;
	const struct node_config *config;
	struct log_stream *streams[LOGGER_KINDS]; /* standard output, or both; standard error */
	void (*on_match)(void *arg);		  /* NULL: lines are kept for later */
	void *of_match;
	struct capture_wait *wait; /* made with the first process; NULL: there was none */
};

DEFINE_CLEANUP(struct capture *, capture_free)

static void capture_on_timer(struct alarm *alarm)
{
	const struct capture_wait *wait = container_of(alarm, struct capture_wait, timer);

	wait->fn(wait->arg);
}

/* A new stream gets its rules at once, so the width of all names is known before the first line. */
static int capture_get(struct capture *c, enum logger_kind kind)
{
	struct logger_rules rules;
	const char *file;
	int r;

	if (!log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks))
		return 0;
	r = log_stream_get(&c->streams[kind], c->ctx->logger, c->config->path, kind);
	if (r == 0 && !c->streams[kind]->file)
		r = log_stream_use(c->streams[kind], &rules, file);
	return r;
}

int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config)
{
	cleanup(capture_freep) struct capture *c = NULL;
	int r = 0;

	if (!ctx->logger)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->ctx = ctx;
	c->config = config;
	for (enum logger_kind kind = 0; r == 0 && kind < LOGGER_KINDS; kind++)
		r = capture_get(c, kind);
	if (r == 0 && (c->streams[LOGGER_OUTPUT] || c->streams[LOGGER_ERROR]))
		*ret = take(c);
	return r;
}

static void capture_end_wait(struct capture *c)
{
	if (!c->wait || !c->wait->until_usec)
		return;
	alarm_stop(&c->ctx->alarms, &c->wait->timer);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		if (c->streams[i])
			c->streams[i]->wait = NULL;
	c->wait->until_usec = 0;
}

struct capture *capture_free(struct capture *c)
{
	if (!c)
		return NULL;
	capture_end_wait(c);
	free(c->wait);
	capture_watch(c, NULL, NULL);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		log_stream_put(c->streams[i]);
	return free_memory(c);
}

void capture_reload(struct capture *c, const struct node_config *config)
{
	struct logger_rules rules;
	const char *file;

	for (enum logger_kind kind = 0; c && kind < LOGGER_KINDS; kind++) {
		if (!c->streams[kind])
			continue;
		(void)log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks);
		log_rules_reload(&rules, config);
		(void)log_stream_use(c->streams[kind], &rules, file);
	}
}

/* A stop asks for no memory: the wait for the last lines is made with a process.  Return: 0 or -ENOMEM. */
static int capture_make_wait(struct capture *c)
{
	if (c->wait)
		return 0;
	c->wait = calloc(1, sizeof(*c->wait));
	if (!c->wait)
		return -ENOMEM;
	alarm_init(&c->wait->timer, capture_on_timer);
	return 0;
}

int capture_open(struct capture *c, int fd)
{
	enum logger_kind kind = fd == 2 ? LOGGER_ERROR : LOGGER_OUTPUT;
	const struct credentials *user = &node_config_extras(c->config)->credentials;
	struct logger_rules rules;
	const char *file;
	int r;

	if (!c->streams[kind])
		return -ENOTSUP;
	(void)log_rules(&rules, &file, c->config, kind, &c->ctx->logger->sinks);
	r = log_stream_use(c->streams[kind], &rules, file);
	if (r == 0)
		r = capture_make_wait(c);
	return r < 0 ? r : log_stream_open(c->streams[kind], user->set ? user->uid : (uid_t)-1);
}

void capture_run(struct capture *c, pid_t pid, uint64_t generation)
{
	for (size_t i = 0; c && i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_run(c->streams[i], pid, generation);
}

/* --- ready = log:REGEX --- */

/* Asks the logger to keep and report output after this position; -1: not any more. */
static void capture_note_seen(struct log_stream *s, uint64_t end)
{
	(void)store_set_watched(s->logger->child.store, s->number, end + 1);
	log_stream_wish(s, WISH_WATCH);
}

static uint64_t capture_find_end(const struct log_stream *s)
{
	const struct store_record *record = log_stream_record(s);

	return record->inputs[record->input & 1].taken;
}

/*
 * Compares the lines of @data, which has room for one byte more.  Return: the bytes that need not be read
 * again; or -1: a line matches.
 */
static ssize_t capture_compare(const regex_t *regex, char *data, size_t size)
{
	char *line = data, *end;

	while (line < data + size) {
		end = memchr(line, '\n', (size_t)(data + size - line));
		if (!end && (line > data || size < CAPTURE_LINE_MAX))
			break;
		if (!end)
			end = data + size;
		*end = '\0';
		if (regexec(regex, line, 0, NULL, 0) == 0)
			return -1;
		line = MIN(end + 1, data + size);
	}
	return line - data;
}

void capture_read(struct log_stream *s)
{
	const struct capture *c = s->reader;
	char data[CAPTURE_LINE_MAX + 1];
	uint64_t end, seen;

	if (!c->on_match)
		return;
	end = capture_find_end(s);
	/* Behind the end if the logger had no room, and has discarded lines. */
	seen = s->line = MIN(s->line, end);
	for (int i = 0; i < READS_AT_ONCE && seen < end; i++) {
		size_t size = (size_t)MIN(end - s->line, (uint64_t)CAPTURE_LINE_MAX);
		ssize_t n;

		if (store_read_ring(s->logger->child.store, s->number, s->line, data, size) < 0)
			return;
		n = capture_compare(c->config->ready.regex, data, size);
		if (n < 0) {
			c->on_match(c->of_match);
			return;
		}
		seen = s->line + size;
		s->line += (uint64_t)n;
	}
	capture_note_seen(s, seen);
}

int capture_mark(struct capture *c)
{
	for (size_t i = 0; c && i < LOGGER_KINDS; i++) {
		struct log_stream *s = c->streams[i];

		if (!s)
			continue;
		if (s->number == LOGGER_ALL || !logger_child_is_usable(&s->logger->child))
			return -ENOTSUP;
		s->line = capture_find_end(s);
		s->reader = c;
		capture_note_seen(s, s->line);
	}
	return c ? 0 : -ENOTSUP;
}

void capture_watch(struct capture *c, void (*fn)(void *arg), void *arg)
{
	if (!c)
		return;
	c->on_match = fn;
	c->of_match = arg;
	for (size_t i = 0; i < LOGGER_KINDS; i++) {
		struct log_stream *s = c->streams[i];

		/* The capture of another configuration may still read the stream. */
		if (!s || s->reader != c)
			continue;
		if (fn) {
			log_stream_wish(s, WISH_WATCH);
			continue;
		}
		s->reader = NULL;
		capture_note_seen(s, (uint64_t)-1);
	}
}

/* --- the end of a run --- */

static void capture_ask(struct capture *c)
{
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_flush(c->streams[i]);
}

/* Returns true if all output is written, or some cannot be. */
static bool capture_is_over(const struct capture *c)
{
	bool flushed = true;

	for (size_t i = 0; i < LOGGER_KINDS; i++) {
		if (c->streams[i] && c->streams[i]->failing)
			return true;
		flushed &= !c->streams[i] || log_stream_is_flushed(c->streams[i]);
	}
	return flushed;
}

bool capture_awaits(struct capture *c, void (*fn)(void *arg), void *arg)
{
	uint64_t now = clock_now_usec();
	struct capture_wait *wait;

	if (!c || capture_make_wait(c) < 0)
		return false;
	wait = c->wait;
	if (!wait->until_usec) {
		wait->until_usec = now + AWAIT_USEC;
		wait->fn = fn;
		wait->arg = arg;
		for (size_t i = 0; i < LOGGER_KINDS; i++)
			if (c->streams[i])
				c->streams[i]->wait = wait;
		capture_ask(c);
		alarm_set(&c->ctx->alarms, &wait->timer, wait->until_usec);
	}
	return now < wait->until_usec && !capture_is_over(c);
}

void capture_end(struct capture *c, const struct swansong_guard *guard, unsigned generation,
		 uint64_t until_usec)
{
	uint64_t brief;

	if (!c)
		return;
	brief = c->wait ? c->wait->until_usec : 0;
	if (!brief) {
		brief = clock_now_usec() + AWAIT_USEC;
		capture_ask(c);
	}
	if (node_config_outputs(c->config)->log_full == LOG_FULL_DROP)
		until_usec = MIN(until_usec, brief);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_hold(c->streams[i], guard, generation, until_usec);
	capture_end_wait(c);
}

void capture_release(struct capture *c)
{
	for (size_t i = 0; c && i < LOGGER_KINDS; i++)
		if (c->streams[i])
			log_stream_release(c->streams[i]);
}

const struct log_stream *capture_stream(const struct capture *c, enum logger_kind kind)
{
	return c ? c->streams[kind] : NULL;
}
