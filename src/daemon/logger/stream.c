/*
 * What the logger is to know of a stream are wishes, a bit each: they are sent in the order of enum wish
 * as soon as the socket takes them.  A new logger begins with LOGGER_ADD of all streams, and with the
 * flushes that have not been replied to; so no message is queued.
 *
 * A stream without a number has never had a pipe.
 */
#include "daemon/logger/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dict.h"
#include "base/fd.h"
#include "base/text.h"
#include "daemon/logger/child.h"

enum wish { WISH_ADD, WISH_CHANGE, WISH_RUN, WISH_REOPEN, WISH_FLUSH, WISH_REMOVE, N_WISHES };

#define WISH(wish) (1u << (wish))

/* The numbers of the pipes' ends, where there are twice as many. */
#define PIPES_FROM 1024

struct log_stream {
	struct logger *logger;
	struct list in_logger;
	struct list in_waiting; /* with wishes that were not sent */
	unsigned refs;		/* 0: it is being removed */
	unsigned wishes;
	uint32_t number; /* LOGGER_ALL: none yet */
	enum logger_kind kind;
	uint64_t serial; /* of those with a pipe, in the order of the list */
	bool known;	 /* a logger has been told of it */
	bool prefixed;	 /* its name is counted in @name_lengths */
	int fds[2];	 /* of the pipe, or -1 */
	struct logger_rules rules;
	char *file; /* NULL: not used yet */
	struct logger_run run;
	uint64_t asked, flushed; /* cookies of the last LOGGER_FLUSH and LOGGER_FLUSHED */
	void (*on_flushed)(void *arg);
	void *arg;
	struct list holds;
	char name[];
};

struct logger {
	struct context *ctx;
	struct logger_child child;
	struct dict by_name[LOGGER_KINDS];
	struct list streams, waiting;
	struct log_stream *by_number[LOGGER_STREAMS];
	uint32_t next_number;
	uint64_t cookie;
	uint64_t serial; /* of the last stream that got a pipe */
	unsigned life;	 /* loggers that were ready, ever */
	struct log_sinks sinks;
	/* Of the streams with LOGGER_PREFIX: how many have a name of so many characters, and the most. */
	unsigned name_lengths[CONFIG_NAME_MAX + 1];
	uint32_t name_width;
	bool begun;
	bool short_of_descriptors; /* ... and the log says so */
	void (*on_state)(void *arg);
	void *arg;
};

static const char *stream_name(const void *stream)
{
	return ((const struct log_stream *)stream)->name;
}

/* --- wishes --- */

/* Return: 0; -EAGAIN; or -errno. */
static int stream_send(struct log_stream *s, enum wish wish)
{
	static const enum logger_type types[N_WISHES] = {
		[WISH_ADD] = LOGGER_ADD,     [WISH_CHANGE] = LOGGER_CHANGE,
		[WISH_RUN] = LOGGER_RUN,     [WISH_REOPEN] = LOGGER_REOPEN,
		[WISH_FLUSH] = LOGGER_FLUSH, [WISH_REMOVE] = LOGGER_REMOVE,
	};
	struct logger_message m = { .type = types[wish], .stream = s->number, .cookie = s->asked };
	bool rules = wish == WISH_ADD || wish == WISH_CHANGE;

	if (rules) {
		m.rules = s->rules;
		m.rules.name_width = s->logger->name_width;
	}
	if (wish == WISH_ADD && s->known)
		m.rules.flags |= LOGGER_KNOWN;
	if (wish == WISH_RUN)
		m.run = s->run;
	return logger_child_send(&s->logger->child, &m, rules ? s->name : NULL,
				 rules ? s->file : NULL, wish == WISH_ADD ? s->fds[0] : -1);
}

/* Return: 0, or -EAGAIN. */
static int stream_send_wishes(struct log_stream *s)
{
	for (enum wish wish = 0; wish < N_WISHES; wish++) {
		int r = s->wishes & WISH(wish) ? stream_send(s, wish) : 0;

		if (r == -EAGAIN)
			return r;
		if (r < 0)
			log_node(s->logger->ctx->log, LOG_ERR, s->name,
				 "cannot tell the logger: %s", strerror(-r));
		if (wish == WISH_ADD && s->wishes & WISH(wish))
			s->known = true;
		s->wishes &= ~WISH(wish);
	}
	list_remove(&s->in_waiting);
	return 0;
}

static void stream_wish(struct log_stream *s, enum wish wish)
{
	if (s->number == LOGGER_ALL)
		return;
	if (!s->wishes)
		list_append(&s->logger->waiting, &s->in_waiting);
	s->wishes |= WISH(wish);
	(void)stream_send_wishes(s);
}

/* All names that stand before lines have the same width. */
static void stream_set_prefixed(struct log_stream *s, bool prefixed)
{
	struct logger *l = s->logger;
	uint32_t width = CONFIG_NAME_MAX;

	if (s->prefixed == prefixed)
		return;
	s->prefixed = prefixed;
	l->name_lengths[strlen(s->name)] += prefixed ? 1U : -1U;
	while (width > 0 && l->name_lengths[width] == 0)
		width--;
	if (width == l->name_width)
		return;
	l->name_width = width;
	list_for_each (s, &l->streams, in_logger)
		if (s->prefixed)
			stream_wish(s, WISH_CHANGE);
}

static void logger_on_writable(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);

	while (!list_is_empty(&l->waiting) &&
	       stream_send_wishes(list_entry(l->waiting.next, struct log_stream, in_waiting)) == 0)
		;
	/* Readers may have waited for it. */
	context_update_soon(l->ctx);
}

static void logger_report_state(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);

	if (l->on_state)
		l->on_state(l->arg);
}

/* A new logger knows nothing but the store. */
static void logger_on_ready(struct logger_child *child)
{
	struct logger *l = container_of(child, struct logger, child);
	struct log_stream *s;

	l->life++;
	list_for_each (s, &l->streams, in_logger) {
		if (s->number == LOGGER_ALL)
			continue;
		if (!s->wishes)
			list_append(&l->waiting, &s->in_waiting);
		s->wishes = (s->wishes & WISH(WISH_RUN)) | WISH(WISH_ADD);
		if (s->asked != s->flushed)
			s->wishes |= WISH(WISH_FLUSH);
		if (s->refs == 0)
			s->wishes |= WISH(WISH_REMOVE);
	}
	logger_on_writable(child);
	logger_report_state(child);
}

/* --- what the logger sends --- */

static void stream_free(struct log_stream *s)
{
	struct logger *l = s->logger;

	log_holds_release(&s->holds);
	if (s->number != LOGGER_ALL)
		l->by_number[s->number] = NULL;
	list_remove(&s->in_logger);
	list_remove(&s->in_waiting);
	(void)fd_close(s->fds[0]);
	(void)fd_close(s->fds[1]);
	free(s->file);
	free(s);
}

static void stream_flushed(struct log_stream *s, uint64_t cookie)
{
	s->flushed = cookie;
	if (s->flushed != s->asked)
		return;
	log_holds_release(&s->holds);
	if (s->on_flushed)
		s->on_flushed(s->arg);
}

const struct logger_rules *log_stream_rules(const struct log_stream *s)
{
	return &s->rules;
}

const char *log_stream_destination(const struct log_stream *s)
{
	static const char *const names[LOGGER_TOS] = {
		[LOGGER_TO_MEMORY] = "memory",
		[LOGGER_TO_OUTPUT] = "standard output",
		[LOGGER_TO_ERROR] = "standard error",
		[LOGGER_TO_JOURNAL] = "the journal",
	};

	return s->rules.to == LOGGER_TO_FILE ? s->file : names[s->rules.to];
}

static void stream_trouble(struct log_stream *s, const struct logger_trouble *trouble)
{
	struct log *log = s->logger->ctx->log;
	const char *to = log_stream_destination(s);

	logger_report_state(&s->logger->child);
	if (trouble->error)
		log_node(log, LOG_WARNING, s->name, "log: cannot write %s: %s", to,
			 strerror(trouble->error));
	else
		log_node(log, LOG_NOTICE, s->name,
			 "log: %s is written again: %" PRIu64 " lines (%" PRIu64
			 " bytes) were dropped",
			 to, trouble->dropped_lines, trouble->dropped_bytes);
}

static void logger_on_message(struct logger_child *child, const struct logger_packet *packet)
{
	struct logger *l = container_of(child, struct logger, child);
	const struct logger_message *m = &packet->message;
	struct log_stream *s = m->stream < LOGGER_STREAMS ? l->by_number[m->stream] : NULL;

	if (!s)
		return;
	if (m->type == LOGGER_FLUSHED)
		stream_flushed(s, m->cookie);
	else if (m->type == LOGGER_TROUBLE)
		stream_trouble(s, &m->trouble);
	else if (m->type == LOGGER_ENDED && s->refs == 0)
		stream_free(s);
}

/* --- the whole --- */

int logger_new(struct logger **ret, struct context *ctx)
{
	struct logger *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->ctx = ctx;
	log_sinks_init(&l->sinks, ctx->log);
	list_init(&l->streams);
	list_init(&l->waiting);
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_init(&l->by_name[i], stream_name);
	logger_child_init(&l->child, ctx);
	l->child.on_ready = logger_on_ready;
	l->child.on_writable = logger_on_writable;
	l->child.on_message = logger_on_message;
	l->child.on_unusable = logger_report_state;
	*ret = l;
	return 0;
}

struct logger *logger_free(struct logger *l)
{
	if (!l)
		return NULL;
	while (!list_is_empty(&l->streams))
		stream_free(list_entry(l->streams.next, struct log_stream, in_logger));
	for (size_t i = 0; i < LOGGER_KINDS; i++)
		dict_done(&l->by_name[i]);
	logger_child_done(&l->child);
	free(l);
	return NULL;
}

const struct log_sinks *logger_sinks(const struct logger *l)
{
	return &l->sinks;
}

void logger_begin(struct logger *l)
{
	l->begun = true;
	if (!list_is_empty(&l->streams))
		logger_child_want(&l->child);
}

void logger_notify(struct logger *l, void (*fn)(void *arg), void *arg)
{
	l->on_state = fn;
	l->arg = arg;
}

void logger_reopen(struct logger *l, const char *path)
{
	struct log_stream *s;

	list_for_each (s, &l->streams, in_logger)
		if (text_is_within(s->name, path))
			stream_wish(s, WISH_REOPEN);
}

/* --- readers --- */

bool logger_is_usable(const struct logger *l)
{
	return logger_child_is_usable(&l->child);
}

unsigned logger_life(const struct logger *l)
{
	return l->life;
}

int logger_send_view(struct logger *l, struct logger_message *message, int fd)
{
	if (!list_is_empty(&l->waiting))
		return -EAGAIN;
	return logger_child_send(&l->child, message, NULL, NULL, fd);
}

int logger_each_new(const struct logger *l, uint64_t *serial,
		    int (*fn)(const char *name, uint32_t number, void *arg), void *arg)
{
	const struct log_stream *s;
	int r = 0;

	if (*serial == l->serial)
		return 0;
	list_for_each (s, &l->streams, in_logger) {
		if (s->number == LOGGER_ALL || s->refs == 0 || s->serial <= *serial)
			continue;
		r = fn(s->name, s->number, arg);
		if (r < 0)
			return r;
		*serial = s->serial;
	}
	*serial = l->serial;
	return 0;
}

/* In the ring of the logger, and in the pipe. */
static void stream_log_missing(const struct log_stream *s)
{
	struct store_record record;
	struct store_counts counts;
	int in_pipe = 0;

	if (s->number == LOGGER_ALL || store_read(s->logger->child.store, s->number, &record) < 0)
		return;
	store_count(&record, &counts);
	(void)ioctl(s->fds[0], FIONREAD, &in_pipe);
	counts.waiting_bytes += (uint64_t)in_pipe;
	if (counts.waiting_bytes == 0)
		return;
	log_node(s->logger->ctx->log, LOG_WARNING, s->name,
		 "log: the last %" PRIu64 " bytes are not in %s%s%s", counts.waiting_bytes,
		 log_stream_destination(s), record.error ? ": " : "",
		 record.error ? strerror(record.error) : "");
}

void logger_stop(struct logger *l, uint64_t until_usec)
{
	struct log_stream *s;

	if (logger_child_stop(&l->child, until_usec) == 0)
		return;
	list_for_each (s, &l->streams, in_logger)
		stream_log_missing(s);
}

/* --- one stream --- */

int log_stream_get(struct log_stream **ret, struct logger *l, const char *path,
		   enum logger_kind kind)
{
	struct log_stream *s = dict_find(&l->by_name[kind], path);
	int r;

	if (s) {
		s->refs++;
		*ret = s;
		return 0;
	}
	s = calloc(1, sizeof(*s) + strlen(path) + 1);
	if (!s)
		return -ENOMEM;
	*s = (struct log_stream){
		.logger = l,
		.refs = 1,
		.number = LOGGER_ALL,
		.kind = kind,
		.fds = { -1, -1 },
	};
	(void)strcpy(s->name, path);
	list_init(&s->in_waiting);
	list_init(&s->holds);
	list_append(&l->streams, &s->in_logger);
	r = dict_add(&l->by_name[kind], s);
	if (r < 0) {
		stream_free(s);
		return r;
	}
	if (l->begun)
		logger_child_want(&l->child);
	*ret = s;
	return 0;
}

struct log_stream *log_stream_put(struct log_stream *s)
{
	if (!s || --s->refs > 0)
		return NULL;
	dict_remove(&s->logger->by_name[s->kind], s->name);
	stream_set_prefixed(s, false);
	s->on_flushed = NULL;
	if (s->number == LOGGER_ALL)
		stream_free(s);
	else
		stream_wish(s, WISH_REMOVE);
	return NULL;
}

int log_stream_use(struct log_stream *s, const struct logger_rules *rules, const char *file)
{
	bool other_file = !s->file || strcmp(s->file, file) != 0;
	char *copy;

	if (!other_file && memcmp(&s->rules, rules, sizeof(*rules)) == 0)
		return 0;
	copy = other_file ? strdup(file) : s->file;
	if (!copy)
		return -ENOMEM;
	if (other_file)
		free(s->file);
	s->file = copy;
	s->rules = *rules;
	stream_wish(s, WISH_CHANGE);
	stream_set_prefixed(s, rules->format == LOGGER_PREFIX);
	return 0;
}

bool log_stream_is_used(const struct log_stream *s)
{
	return s->file;
}

/*
 * The low numbers are for all else: clients and starts have some left, and a process is made faster if
 * what it is given has low numbers.  Nothing is read or written here, so both ends may be non-blocking.
 */
static int stream_open_pipe(int fds[static 2])
{
	struct rlimit limit = { .rlim_cur = 0 };
	int low[2], first, r = 0;

	if (pipe2(low, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	first = (int)MIN(limit.rlim_cur / 2, (rlim_t)PIPES_FROM);
	fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, first);
	fds[1] = fds[0] < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, first);
	if (fds[1] < 0) {
		r = -errno;
		fds[0] = fd_close(fds[0]);
	}
	(void)close(low[0]);
	(void)close(low[1]);
	return r;
}

static int stream_make_pipe(struct log_stream *s)
{
	struct logger *l = s->logger;
	uint32_t number = l->next_number;
	int r;

	for (uint32_t i = 0; l->by_number[number]; i++) {
		if (i == LOGGER_STREAMS)
			return -ENOTSUP;
		number = (number + 1) % LOGGER_STREAMS;
	}
	r = stream_open_pipe(s->fds);
	if (r < 0)
		return r;
	l->next_number = (number + 1) % LOGGER_STREAMS;
	l->by_number[number] = s;
	s->number = number;
	s->serial = ++l->serial;
	list_remove(&s->in_logger);
	list_append(&l->streams, &s->in_logger);
	stream_wish(s, WISH_ADD);
	return 0;
}

static int stream_open_end(struct log_stream *s, uid_t uid)
{
	char path[32];
	int fd, r = 0;

	if (s->number == LOGGER_ALL)
		r = stream_make_pipe(s);
	if (r < 0)
		return r;
	/* Only root can; then a service of another user cannot open /dev/stdout, as with a file. */
	if (uid != (uid_t)-1)
		(void)!fchown(s->fds[1], uid, (gid_t)-1);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fds[1]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	/* There is no /proc: the service shares the open file. */
	fd = fcntl(s->fds[1], F_DUPFD_CLOEXEC, 3);
	return fd < 0 || fcntl(fd, F_SETFL, 0) < 0 ? -errno : fd;
}

int log_stream_open(struct log_stream *s, uid_t uid)
{
	struct logger *l = s->logger;
	int r;

	if (!logger_child_is_usable(&l->child))
		return -ENOTSUP;
	r = stream_open_end(s, uid);
	if (!context_is_shortage(r))
		return r;
	if (!l->short_of_descriptors)
		log_line(l->ctx->log, LOG_WARNING,
			 "%s: log: no descriptors for a pipe: it and others write themselves: %s",
			 s->name, strerror(-r));
	l->short_of_descriptors = true;
	return -ENOTSUP;
}

void log_stream_run(struct log_stream *s, pid_t pid, uint64_t generation)
{
	s->run = (struct logger_run){ .pid = pid, .generation = generation };
	stream_wish(s, WISH_RUN);
}

/*
 * The order matters: what is not in the pipe is in the ring, or the note says that it is on its way
 * there.
 */
static bool stream_is_written(const struct log_stream *s)
{
	int store = s->logger->child.store, in_pipe = 1;
	struct store_record record;
	struct store_counts counts;

	if (ioctl(s->fds[0], FIONREAD, &in_pipe) < 0 || in_pipe > 0 ||
	    store_is_taking(store, s->number) || store_read(store, s->number, &record) < 0)
		return false;
	store_count(&record, &counts);
	return counts.waiting_bytes == 0;
}

void log_stream_flush(struct log_stream *s)
{
	if (s->number == LOGGER_ALL || (log_stream_is_flushed(s) && stream_is_written(s)))
		return;
	s->asked = ++s->logger->cookie;
	stream_wish(s, WISH_FLUSH);
}

bool log_stream_is_flushed(const struct log_stream *s)
{
	return s->asked == s->flushed;
}

void log_stream_notify(struct log_stream *s, void (*fn)(void *arg), void *arg)
{
	s->on_flushed = fn;
	s->arg = arg;
}

bool log_stream_is_failing(const struct log_stream *s)
{
	struct store_record record;

	return s->number != LOGGER_ALL &&
	       store_read(s->logger->child.store, s->number, &record) == 0 && record.error;
}

int log_stream_count(const struct log_stream *s, struct store_counts *ret)
{
	struct store_record record;
	int r;

	if (s->number == LOGGER_ALL)
		return -ENOENT;
	r = store_read(s->logger->child.store, s->number, &record);
	if (r == 0)
		store_count(&record, ret);
	return r;
}

/* --- guards --- */

static void stream_on_limit(void *arg)
{
	stream_log_missing(arg);
}

void log_stream_hold(struct log_stream *s, const struct swansong_guard *guard, unsigned generation,
		     uint64_t until_usec)
{
	struct log_hold *hold;

	if (log_stream_is_flushed(s) || !guard->node)
		return;
	hold = log_hold_get(&s->holds, s->logger->ctx, guard, generation);
	if (hold)
		log_hold_until(hold, until_usec, stream_on_limit, s);
}

void log_stream_release(struct log_stream *s)
{
	if (list_is_empty(&s->holds))
		return;
	stream_log_missing(s);
	log_holds_release(&s->holds);
}

const struct list *log_stream_holds(const struct log_stream *s)
{
	return &s->holds;
}
