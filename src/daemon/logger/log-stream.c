/*
 * A stream has a number, and a pipe, from its first process on; the record in the store has the
 * same number.  Messages to the logger are wishes (daemon/logger/wishes.h), except for the run,
 * which is written to the record: the logger sees it with the next output.
 */
#include "daemon/logger/log-stream.h"

#include "daemon/logger/pipe.h"
#include "daemon/logger/wishes.h"
#include "sys/file/path.h"

static void log_stream_free_hold(struct log_hold *hold)
{
	struct context *ctx = hold->stream->logger->ctx;

	list_remove(&hold->in_stream);
	alarm_stop(&ctx->alarms, &hold->limit);
	swansong_guard_drop(&hold->guard);
	context_update_soon(ctx);
	free(hold);
}

static void log_stream_free_holds(struct log_stream *s)
{
	while (!list_is_empty(&s->holds))
		log_stream_free_hold(list_entry(s->holds.next, struct log_hold, in_stream));
}

void log_stream_free(struct log_stream *s)
{
	struct logging *l = s->logger;

	log_stream_free_holds(s);
	log_pipe_end_drain(&s->drain);
	for (size_t i = 0; i < ARRAY_SIZE(s->places); i++)
		roster_write(l->ctx->roster, &s->places[i], NULL);
	if (s->number != LOGGER_ALL)
		l->by_number[s->number] = NULL;
	list_remove(&s->in_logger);
	list_remove(&s->in_waiting);
	(void)fd_close(s->fds[0]);
	(void)fd_close(s->fds[1]);
	free(s->file);
	free(s);
}

/* A process may write before the logger has the message: lines wait until it has the rules of this number. */
static void log_stream_change_rules(struct log_stream *s)
{
	if (s->number == LOGGER_ALL)
		return;
	(void)store_set_rules(s->logger->child.store, s->number, ++s->rules_number);
	log_stream_wish(s, WISH_CHANGE);
}

/* Counts the length of the name: names in front of lines are padded to the longest one. */
static void log_stream_set_prefixed(struct log_stream *s, bool prefixed)
{
	struct logging *l = s->logger;
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
			log_stream_change_rules(s);
}

/* The row of an end of the pipe in the roster: "output web" has the end for the logger. */
static void log_stream_name_end(const struct log_stream *s, size_t end,
				char name[static ROSTER_NAME_MAX])
{
	(void)snprintf(name, ROSTER_NAME_MAX, "%s%s %s", end == 0 ? "" : "writer of ",
		       s->kind == LOGGER_ERROR ? "errors" : "output", s->name);
}

static void log_stream_enter(struct log_stream *s, uint32_t number)
{
	struct logging *l = s->logger;
	char name[ROSTER_NAME_MAX];

	l->next_number = (number + 1) % LOGGER_STREAMS;
	l->by_number[number] = s;
	s->number = number;
	s->serial = ++l->serial;
	list_remove(&s->in_logger);
	list_append(&l->streams, &s->in_logger);
	for (size_t i = 0; i < ARRAY_SIZE(s->places); i++) {
		log_stream_name_end(s, i, name);
		roster_enter_descriptor(l->ctx->roster, &s->places[i], s->fds[i], number, name);
	}
}

/* Takes over the stream of the former image of the daemon, with the output in its pipe. */
static void log_stream_take_former(struct log_stream *s)
{
	struct logging *l = s->logger;
	const struct store_record *record;
	char name[ROSTER_NAME_MAX];
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(s->fds); i++) {
		log_stream_name_end(s, i, name);
		s->fds[i] = roster_take_descriptor(l->ctx->roster, name, &number);
	}
	if (s->fds[0] < 0 || s->fds[1] < 0 || number >= LOGGER_STREAMS || l->by_number[number] ||
	    !l->child.mapped) {
		log_pipe_close(s->fds);
		return;
	}
	log_stream_enter(s, (uint32_t)number);
	record = log_stream_record(s);
	s->rules_number = record->rules;
	s->run = record->run;
	(void)store_set_watched(l->child.store, s->number, 0);
}

int log_stream_get(struct log_stream **ret, struct logging *l, const char *path,
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
		.serial = ++l->serial,
	};
	(void)strcpy(s->name, path);
	list_init(&s->in_waiting);
	list_init(&s->holds);
	list_append(&l->streams, &s->in_logger);
	r = dict_add(&l->by_name[kind], s);
	if (r < 0) {
		log_stream_free(s);
		return r;
	}
	log_stream_take_former(s);
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
	log_stream_set_prefixed(s, false);
	s->wait = NULL;
	if (s->number == LOGGER_ALL)
		log_stream_free(s);
	else
		log_stream_wish(s, WISH_REMOVE);
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
	log_stream_change_rules(s);
	log_stream_set_prefixed(s, rules->format == LOGGER_PREFIX);
	return 0;
}

static int log_stream_make_pipe(struct log_stream *s)
{
	struct logging *l = s->logger;
	uint32_t number = l->next_number;
	int r;

	for (uint32_t i = 0; l->by_number[number]; i++) {
		if (i == LOGGER_STREAMS)
			return -ENOTSUP;
		number = (number + 1) % LOGGER_STREAMS;
	}
	r = log_pipe_new(s->fds);
	if (r < 0)
		return r;
	log_stream_enter(s, number);
	(void)store_set_run(l->child.store, number, &s->run);
	log_stream_wish(s, WISH_ADD);
	return 0;
}

int log_stream_open(struct log_stream *s, uid_t uid)
{
	struct logging *l = s->logger;
	int r;

	if (!logger_child_is_usable(&l->child))
		return -ENOTSUP;
	s->shared = s->number != LOGGER_ALL;
	r = s->shared ? 0 : log_stream_make_pipe(s);
	/* Only root can; otherwise a service of another user cannot open /dev/stdout, as with a file. */
	if (r >= 0 && uid != (uid_t)-1)
		(void)!fchown(s->fds[1], uid, (gid_t)-1);
	if (!context_is_shortage(r))
		return r < 0 ? r : s->fds[1];
	if (!l->short_of_descriptors)
		log_node(l->ctx->log, LOG_WARNING, *s->name ? s->name : CONFIG_ROOT_NAME,
			 "log: no descriptors for a pipe: output is not captured: %s",
			 strerror(-r));
	l->short_of_descriptors = true;
	return -ENOTSUP;
}

bool log_stream_is_shared(const struct log_stream *s)
{
	return s->shared;
}

int log_stream_dup(struct log_stream *s)
{
	int fd = log_stream_open(s, (uid_t)-1);

	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd == -1 ? -errno : fd;
}

void log_stream_run(struct log_stream *s, pid_t pid, uint64_t generation)
{
	s->until_usec = 0;
	s->run = (struct store_run){ .pid = pid, .generation = generation };
	if (s->number != LOGGER_ALL)
		(void)store_set_run(s->logger->child.store, s->number, &s->run);
}

const struct logger_rules *log_stream_rules(const struct log_stream *s)
{
	return &s->rules;
}

const char *log_stream_destination(const struct log_stream *s)
{
	static const char *const names[LOGGER_TOS] = {
		[LOGGER_TO_MEMORY] = "memory",	      [LOGGER_TO_OUTPUT] = "standard output",
		[LOGGER_TO_ERROR] = "standard error", [LOGGER_TO_JOURNAL] = "the journal",
		[LOGGER_TO_SYSLOG] = "syslog",
	};

	return s->rules.to == LOGGER_TO_FILE ? s->file : names[s->rules.to];
}

/* Output that is not written: in the ring and, without a count, in the pipe. */
struct missing {
	uint64_t bytes, end; /* of the ring, and the position after them */
	bool more;
	int error; /* of the destination */
};

static bool log_stream_find_missing(const struct log_stream *s, struct missing *ret)
{
	const struct store_record *record;
	struct store_counts counts;

	if (s->number == LOGGER_ALL)
		return false;
	record = log_stream_record(s);
	store_count(record, &counts);
	*ret = (struct missing){
		.bytes = counts.waiting_bytes,
		.more = log_pipe_has_output(s->fds),
		.error = record->error,
	};
	ret->end = counts.came_bytes + ret->more;
	return ret->bytes > 0 || ret->more;
}

bool log_stream_is_missing(const struct log_stream *s)
{
	struct missing missing;

	return log_stream_find_missing(s, &missing);
}

/* Once for the same output. */
static void log_stream_log_missing(struct log_stream *s)
{
	struct missing m;
	char count[32] = "";

	if (!log_stream_find_missing(s, &m) || m.end == s->missed)
		return;
	if (m.bytes > 0)
		(void)snprintf(count, sizeof(count), "%" PRIu64 " ", m.bytes);
	log_node(s->logger->ctx->log, LOG_WARNING, s->name,
		 "log: the last %sbytes%s are not in %s%s%s", count,
		 m.bytes > 0 && m.more ? " and more" : "", log_stream_destination(s),
		 m.error ? ": " : "", m.error ? path_error_text(m.error) : "");
	s->missed = m.end;
}

void log_stream_end(struct log_stream *s)
{
	log_stream_log_missing(s);
	log_pipe_end_drain(&s->drain);
}

void log_stream_remove(struct log_stream *s)
{
	log_pipe_close(s->fds);
	log_stream_free(s);
}

/*
 * The pipe is looked at first: output that has left it is in the ring, or is noted as on its way there.
 */
static bool log_stream_is_written(const struct log_stream *s)
{
	struct store_counts counts;

	if (log_pipe_has_output(s->fds) || store_taking(s->logger->child.mapped) == s->number)
		return false;
	store_count(log_stream_record(s), &counts);
	return counts.waiting_bytes == 0;
}

void log_stream_flush(struct log_stream *s)
{
	if (s->number == LOGGER_ALL || (log_stream_is_flushed(s) && log_stream_is_written(s)))
		return;
	/* A killed logger may have noted an error without sending a message. */
	s->failing = log_stream_record(s)->error;
	s->asked = ++s->logger->cookie;
	log_stream_wish(s, WISH_FLUSH);
	logger_child_ask(&s->logger->child);
}

void log_stream_flushed(struct log_stream *s, uint64_t cookie)
{
	s->flushed = cookie;
	if (s->flushed != s->asked)
		return;
	log_stream_free_holds(s);
	if (s->wait)
		s->wait->fn(s->wait->arg);
}

bool log_stream_is_flushed(const struct log_stream *s)
{
	return s->kept || s->asked == s->flushed || !logger_child_is_usable(&s->logger->child);
}

/* @error: of the destination, or 0. */
static const char *log_stream_trouble(const struct log_stream *s, int error)
{
	if (!logger_child_is_usable(&s->logger->child))
		return "swansong-logger cannot be run";
	if (s->kept)
		return "a process keeps its pipe locked";
	return error ? path_error_text(error) : NULL;
}

int log_stream_count(const struct log_stream *s, struct store_counts *ret, const char **trouble)
{
	const struct store_record *record = s->number == LOGGER_ALL ? NULL : log_stream_record(s);

	*trouble = log_stream_trouble(s, record ? record->error : 0);
	if (!record)
		return -ENOENT;
	store_count(record, ret);
	return 0;
}

/* --- guards --- */

static void log_stream_on_limit(struct alarm *alarm)
{
	struct log_hold *hold = container_of(alarm, struct log_hold, limit);

	log_stream_log_missing(hold->stream);
	log_stream_free_hold(hold);
}

/* Returns the hold of @generation, or a new one with a clone of @guard, or NULL. */
static struct log_hold *log_stream_get_hold(struct log_stream *s,
					    const struct swansong_guard *guard, unsigned generation)
{
	struct log_hold *hold;

	list_for_each (hold, &s->holds, in_stream)
		if (hold->generation == generation)
			return hold;
	hold = calloc(1, sizeof(*hold));
	if (!hold)
		return NULL;
	hold->stream = s;
	hold->guard = swansong_guard_clone(guard);
	hold->generation = generation;
	hold->id = ++s->logger->ctx->last_id;
	hold->since_usec = clock_now_usec();
	alarm_init(&hold->limit, log_stream_on_limit);
	list_append(&s->holds, &hold->in_stream);
	return hold;
}

void log_stream_hold(struct log_stream *s, const struct swansong_guard *guard, unsigned generation,
		     uint64_t until_usec)
{
	struct log_hold *hold;

	s->until_usec = until_usec;
	if (log_stream_is_flushed(s) || !guard->node)
		return;
	hold = log_stream_get_hold(s, guard, generation);
	if (hold)
		alarm_set(&s->logger->ctx->alarms, &hold->limit, until_usec);
}

void log_stream_release(struct log_stream *s)
{
	if (list_is_empty(&s->holds))
		return;
	log_stream_log_missing(s);
	log_stream_free_holds(s);
}

const struct list *log_stream_holds(const struct log_stream *s)
{
	return &s->holds;
}
