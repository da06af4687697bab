/*
 * It looks at the files before it asks the logger: of a stream of which nothing was written then, the
 * file has older lines only, up to its size then.
 */
#include "ctl/logs/logs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Loggers that die before they have replied. */
#define ATTEMPTS 20
/* The time limit of a quiet request: a refusal of it is not reported, either. */
#define QUIET_USEC USEC_PER_SEC
/* A file system that takes longer does not answer. */
#define FILE_USEC (5 * USEC_PER_SEC)

void logs_init(struct logs *l, struct ctl *ctl, uint64_t max)
{
	*l = (struct logs){ .ctl = ctl, .nodes = json_array(), .max = max };
	log_reader_init(&l->reader);
}

void logs_done(struct logs *l)
{
	older_done(&l->older);
	free(l->outputs);
	message_reply_done(&l->reply);
	log_reader_done(&l->reader);
	log_lines_done(&l->lines);
	json_decref(l->nodes);
}

int logs_add_node(struct logs *l, const char *path)
{
	return json_array_append_new(l->nodes, json_string(path)) < 0 ? -ENOMEM : 0;
}

/* --- asking --- */

static int logs_receive(struct logs *l, struct message_reply *ret)
{
	struct ctl *ctl = l->ctl;
	int r;

	if (!l->quiet)
		return session_receive(ctl, ret);
	r = client_receive(ctl->client,
			   MIN(ctl->deadline_usec, clock_add(clock_now_usec(), QUIET_USEC)), ret);
	if (r == 0 && ret->error)
		message_reply_done(ret);
	return r < 0 || !ret->root || ret->error ? CTL_FAILED : CTL_DONE;
}

/* @lines: of each stream; 0: all. */
static int logs_call(struct logs *l, uint64_t lines, bool follow, struct message_reply *ret)
{
	json_t *limit = lines ? json_integer((json_int_t)lines) : NULL;
	int r = session_send(l->ctl, METHOD_LOGS,
			     json_pack("{s:O, s:o*}", "nodes", l->nodes, "lines", limit),
			     follow ? MESSAGE_MORE : 0);

	if (r == CTL_DONE)
		r = logs_receive(l, ret);
	if (r == CTL_DONE)
		log_reader_open(&l->reader, client_take_descriptor(l->ctl->client));
	return r;
}

static int logs_look(struct logs *l)
{
	uint64_t now = clock_now_usec(), left = MAX(l->ctl->deadline_usec, now) - now;
	int r = older_init(&l->older, l->outputs, l->n_outputs,
			   l->quiet ? QUIET_USEC : MIN(left, FILE_USEC));

	return r < 0 ? ctl_fail(l->ctl, r) : CTL_DONE;
}

int logs_ask(struct logs *l, bool follow)
{
	cleanup(message_reply_done) struct message_reply reply = { .root = NULL };
	int r = logs_call(l, 1, false, &l->reply);

	if (r != CTL_DONE)
		return r;
	r = output_view_parse_array(l->reply.parameters, "outputs", &l->outputs, &l->n_outputs);
	if (r < 0)
		return ctl_fail(l->ctl, r);
	l->follow = follow;
	if (l->max > 0)
		r = logs_look(l);
	if (r != CTL_DONE || l->reader.fd < 0)
		return r;
	return logs_call(l, l->max ? l->max : 1, follow, &reply);
}

int logs_ask_again(struct logs *l)
{
	struct message_reply reply;
	bool continues = l->follow;
	int r = CTL_DONE;

	/* The call for the last pipe ends when there is another logger. */
	while (r == CTL_DONE && continues) {
		r = logs_receive(l, &reply);
		if (r != CTL_DONE)
			return r;
		continues = reply.continues;
		message_reply_done(&reply);
	}
	r = logs_call(l, 0, l->follow, &reply);
	if (r == CTL_DONE)
		message_reply_done(&reply);
	return r;
}

/* --- the last lines --- */

static int logs_collect_line(struct logs *l, const struct log_event *event)
{
	if (event->type != LOGGER_FRAME_LINE || l->max == 0)
		return 0;
	event->line.source->n_lines++;
	return log_lines_add(&l->lines, &event->line);
}

/* Reads the lines that the logger remembers.  Return: CTL_DONE, or the exit status. */
static int logs_collect_remembered(struct logs *l, uint64_t deadline_usec)
{
	struct log_event event;
	int attempts = 0;

	for (;;) {
		int r = log_reader_next(&l->reader, deadline_usec, &event), status;

		if (r > 0 && event.type == LOGGER_FRAME_NOW)
			return CTL_DONE;
		if (r > 0)
			r = logs_collect_line(l, &event);
		else if (r == 0 && (++attempts == ATTEMPTS || clock_now_usec() >= deadline_usec))
			r = -ETIMEDOUT;
		else if (r == 0 && (status = logs_ask_again(l)) != CTL_DONE)
			return status;
		if (r < 0)
			return l->quiet ? CTL_FAILED : ctl_fail(l->ctl, r);
	}
}

static const char *logs_past_error_text(int r)
{
	if (r == -ESTALE)
		return "not written by this service alone";
	return r == -ETIMEDOUT ? "the file system does not answer" : strerror(-r);
}

static void logs_complain(const struct logs *l, size_t i)
{
	const struct output_view *output = &l->outputs[i];
	int r = l->older.results[i];

	if (!l->quiet && r < 0 && r != -ENOENT)
		log_line(&l->ctl->log, LOG_NOTICE, "%s: older lines are not shown: %s: %s",
			 output->node, output->file, logs_past_error_text(r));
}

/* The wish for lines of one output that are older than those of the logger.  Return: 0 or -ENOMEM. */
static int logs_want_file(struct logs *l, size_t i)
{
	const struct output_view *output = &l->outputs[i];
	struct log_source *source = log_reader_source(&l->reader, output->node, output->stream);
	struct log_past *past = &l->older.pasts[i];

	if (!source)
		return -ENOMEM;
	if (source->n_lines >= l->max)
		return 0;
	*past = (struct log_past){
		.source = source,
		.stamp = output->timestamp,
		.max = l->max - source->n_lines,
	};
	for (size_t k = 0; k < l->lines.n; k++) {
		const struct log_line *line = l->lines.lines[k];

		if (line->source != source || line->position >= source->seam.position)
			continue;
		past->first = past->first ? past->first : line;
		past->n_written++;
	}
	return 0;
}

/* Return: 0 or -errno. */
static int logs_collect_files(struct logs *l, struct log_lines *older)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->n_outputs; i++)
		if (l->outputs[i].file)
			r = logs_want_file(l, i);
	if (r == 0)
		r = older_read(&l->older, older);
	for (size_t i = 0; r == 0 && i < l->n_outputs; i++)
		logs_complain(l, i);
	return r;
}

int logs_collect(struct logs *l, uint64_t deadline_usec)
{
	struct log_lines older = { .n = 0 };
	int r = l->reader.fd < 0 ? CTL_DONE : logs_collect_remembered(l, deadline_usec);

	if (r != CTL_DONE)
		return r;
	if (l->older.files)
		r = logs_collect_files(l, &older);
	if (r == 0)
		r = log_lines_append(&older, &l->lines);
	log_lines_done(&l->lines);
	l->lines = older;
	if (r < 0)
		return l->quiet ? CTL_FAILED : ctl_fail(l->ctl, r);
	log_lines_merge(&l->lines);
	log_lines_limit(&l->lines, l->max);
	return CTL_DONE;
}
