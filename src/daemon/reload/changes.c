/*
 * The file STATE.changes has for each change a line with its number, time, number of paths, size and cause, then its
 * tape.  Its texts may have secrets, so it is for the user of the daemon alone; and as they are programs to run, it is
 * not read where another user may change it.
 */
#include "daemon/reload/changes.h"

#include "model/file/source.h"
#include "sys/file/replace.h"

static char *changes_path(const struct changes *c)
{
	const char *state = c->tree->config->state;

	return state && strcmp(state, "none") != 0 ? text_format("%s.changes", state) : NULL;
}

static int changes_write_text(FILE *f, const void *arg)
{
	const struct changes *c = arg;
	char part[4096];
	ssize_t n = 0;

	for (unsigned i = 0; n >= 0 && i < CHANGES_MAX; i++) {
		const struct change *change = &c->kept[i];
		off_t at = 0;

		if (change->number == 0)
			continue;
		(void)fprintf(f, "%" PRIu64 " %" PRIu64 " %zu %jd %s\n", change->number,
			      change->realtime_usec, c->n_paths,
			      (intmax_t)lseek(change->tape, 0, SEEK_END), change->cause);
		for (; (n = pread(change->tape, part, sizeof(part), at)) > 0; at += n)
			(void)fwrite(part, 1, (size_t)n, f);
	}
	return n < 0 ? -errno : 0;
}

/* In the child. */
static int changes_write_file(void *arg)
{
	return replace_file(changes_path(arg), 0600, true, changes_write_text, arg);
}

static void changes_write(struct changes *c)
{
	cleanup(freep) char *path = changes_path(c);

	if (path && !c->writing && closer_call(&c->closer, changes_write_file, c) == 0)
		c->writing = c->last;
}

static void changes_on_written(struct closer *closer)
{
	struct changes *c = container_of(closer, struct changes, closer);
	bool behind = c->writing < c->last;

	if (closer->error)
		log_line(closer->ctx->log, LOG_ERR, "%s.changes: not written: %s",
			 c->tree->config->state, strerror(closer->error));
	c->writing = 0;
	if (behind)
		changes_write(c);
}

/* Takes the changes up to a damaged one. */
static int changes_read_text(void *arg, const char *file, char *text, size_t size)
{
	struct changes *c = arg;
	char *end = text + size, *line;

	while ((line = memchr(text, '\n', (size_t)(end - text)))) {
		struct change change = { .number = 0 };
		size_t n_paths, length;
		int at = 0;

		*line++ = '\0';
		if (sscanf(text, "%" SCNu64 " %" SCNu64 " %zu %zu %n", &change.number,
			   &change.realtime_usec, &n_paths, &length, &at) < 4 ||
		    at == 0 || length > (size_t)(end - line) || change.number > INT64_MAX)
			break;
		(void)snprintf(change.cause, sizeof(change.cause), "%s", text + at);
		text = line + length;
		change.tape = memfd_create("configuration", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (n_paths != c->n_paths || c->kept[change.number % CHANGES_MAX].number > 0 ||
		    write(change.tape, line, length) != (ssize_t)length ||
		    fcntl(change.tape, F_ADD_SEALS, F_SEAL_WRITE) < 0) {
			(void)fd_close(change.tape);
			continue;
		}
		c->kept[change.number % CHANGES_MAX] = change;
		c->last = MAX(c->last, change.number);
	}
	return 0;
}

void changes_init(struct changes *c, struct tree *tree, size_t n_paths)
{
	cleanup(path_done) struct path in = { .directory = -1 };
	cleanup(diag_freep) struct diag *diag = NULL;
	cleanup(freep) char *path = NULL;

	*c = (struct changes){ .tree = tree, .n_paths = n_paths };
	closer_init(&c->closer, tree->ctx, changes_on_written);
	path = changes_path(c);
	/* A file that cannot be read now is not replaced, either. */
	if (path && tree->ctx->reason && !mount_answers(path)) {
		log_line(tree->ctx->log, LOG_ERR,
			 "%s: not read, and later configurations are not written: %s", path,
			 path_error_text(ETIMEDOUT));
		c->writing = UINT64_MAX;
	} else if (path && path_find(&in, path, PATH_FIND) == 0 && !*in.doubt.at &&
		   diag_new(&diag) == 0)
		(void)source_one(&(struct source){ false, 0, diag, changes_read_text, c }, path);
	events_because(tree->ctx->events, "start");
	changes_add(c, tree->config);
	events_because(tree->ctx->events, NULL);
}

void changes_done(struct changes *c)
{
	closer_done(&c->closer);
	for (unsigned i = 0; i < CHANGES_MAX; i++)
		if (c->kept[i].number > 0)
			(void)fd_close(c->kept[i].tape);
}

int changes_find(const struct changes *c, uint64_t number)
{
	const struct change *change = c ? &c->kept[number % CHANGES_MAX] : NULL;

	return change && number > 0 && change->number == number ? change->tape : -ENOENT;
}

static bool changes_has_texts_of(int tape, int other)
{
	char a[4096], b[sizeof(a)];
	off_t at = 0;
	ssize_t n;

	do {
		n = pread(tape, a, sizeof(a), at);
		if (n < 0 || pread(other, b, sizeof(b), at) != n || memcmp(a, b, (size_t)n) != 0)
			return false;
		at += n;
	} while (n > 0);
	return true;
}

void changes_add(struct changes *c, const struct config *config)
{
	int latest = c ? changes_find(c, c->last) : -ENOENT, tape;
	struct change *change;

	if (!c || config->tape <= 0 || (latest >= 0 && changes_has_texts_of(latest, config->tape)))
		return;
	tape = fcntl(config->tape, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (tape < 0)
		return;
	change = &c->kept[++c->last % CHANGES_MAX];
	if (change->number > 0)
		(void)fd_close(change->tape);
	*change = (struct change){ c->last, clock_realtime_usec(), "", tape };
	events_cause(c->tree->ctx->events, change->cause);
	changes_write(c);
}

json_t *changes_json(const struct changes *c)
{
	json_t *list = json_array();

	for (uint64_t i = 1; c && i <= CHANGES_MAX; i++) {
		const struct change *change = &c->kept[(c->last + i) % CHANGES_MAX];

		if (change->number > 0)
			(void)json_array_append_new(
				list,
				json_pack("{s:I, s:I, s:o}", "number", (json_int_t)change->number,
					  "time_usec", (json_int_t)change->realtime_usec, "cause",
					  message_string(change->cause)));
	}
	return list;
}
