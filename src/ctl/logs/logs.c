/*
 * A call asks for the last lines: those that the logger remembers, and where these are too few, the text
 * of the files before them.  When all are there, a further call asks for what is remembered.
 */
#include "ctl/logs/logs.h"

#include "ctl/logs/older.h"

/* So many loggers may die before they reply. */
#define ATTEMPTS 20
/* The time limit of a quiet request, of which a refusal is not reported. */
#define QUIET_USEC USEC_PER_SEC

void logs_init(struct logs *l, struct ctl *ctl, uint64_t max)
{
	*l = (struct logs){ .ctl = ctl, .nodes = json_array(), .max = max };
	log_reader_init(&l->reader);
}

void logs_done(struct logs *l)
{
	free(l->outputs);
	message_reply_done(&l->reply);
	log_reader_done(&l->reader);
	log_lines_done(&l->lines);
	json_decref(l->nodes);
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

/* With a filter all lines are requested: it may leave out any of the last ones. */
static uint64_t logs_asked(const struct logs *l)
{
	return l->filter ? UINT32_MAX : l->max;
}

/* The last lines, also those of files; or, when these are there, all that are remembered. */
static int logs_call(struct logs *l, struct message_reply *ret)
{
	json_t *lines =
		l->collected ? NULL : json_integer((json_int_t)MAX(logs_asked(l), UINT64_C(1)));
	int r = session_send(l->ctl, METHOD_LOGS,
			     json_pack("{s:O, s:o*, s:b}", "nodes", l->nodes, "lines", lines,
				       "older", !l->collected && l->max > 0),
			     l->follow ? MESSAGE_MORE : 0);

	if (r == CTL_DONE)
		r = logs_receive(l, ret);
	if (r == CTL_DONE)
		log_reader_open(&l->reader, client_take_descriptor(l->ctl->client));
	return r;
}

int logs_ask(struct logs *l, bool follow)
{
	int r;

	l->follow = follow;
	r = logs_call(l, &l->reply);
	if (r != CTL_DONE)
		return r;
	r = output_view_parse_array(l->reply.parameters, "outputs", &l->outputs, &l->n_outputs);
	return r < 0 ? ctl_fail(l->ctl, r) : CTL_DONE;
}

int logs_ask_again(struct logs *l)
{
	struct message_reply reply;
	bool continues = l->follow;
	int r = CTL_DONE;

	if (!l->collected) {
		log_lines_done(&l->lines);
		log_reader_done(&l->reader);
		log_reader_init(&l->reader);
	}
	/* The call for the last pipe ends when there is another logger. */
	while (r == CTL_DONE && continues) {
		r = logs_receive(l, &reply);
		if (r != CTL_DONE)
			return r;
		continues = reply.continues;
		message_reply_done(&reply);
	}
	r = logs_call(l, &reply);
	if (r != CTL_DONE)
		return r;
	message_reply_done(&reply);
	if (l->reader.fd >= 0)
		return CTL_DONE;
	if (!l->quiet)
		log_line(&l->ctl->log, LOG_ERR, "the logger does not run");
	return CTL_FAILED;
}

/* --- the last lines --- */

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
			r = event.type == LOGGER_FRAME_LINE && l->max > 0
				    ? log_lines_add(&l->lines, &event.line)
				    : 0;
		else if (r == 0 && (++attempts == ATTEMPTS || clock_now_usec() >= deadline_usec))
			r = -ETIMEDOUT;
		else if (r == 0 && (status = logs_ask_again(l)) != CTL_DONE)
			return status;
		/* Files may take longer. */
		if (r == -ETIMEDOUT && l->quiet)
			return CTL_DONE;
		if (r < 0)
			return l->quiet ? CTL_FAILED : ctl_fail(l->ctl, r);
	}
}

/* Adds the lines of one output that are older than those of the logger.  Return: 0 or -ENOMEM. */
static int logs_add_older(struct logs *l, const struct output_view *output, struct log_lines *older)
{
	struct log_source *source = log_reader_source(&l->reader, output->node, output->stream);
	struct log_past past = { .source = source,
				 .stamp = output->timestamp,
				 .max = logs_asked(l) };
	int r;

	if (!source)
		return -ENOMEM;
	for (size_t i = 0; i < l->lines.n; i++) {
		const struct log_line *line = l->lines.lines[i];

		if (line->source != source || line->position >= source->seam.position)
			continue;
		past.first = past.first ? past.first : line;
		past.n_written++;
	}
	r = source->error || !source->text ? source->error : log_older_lines(&past, older);
	if (r < 0 && r != -ENOENT && r != -ENOMEM && !l->quiet)
		log_line(&l->ctl->log, LOG_NOTICE, "%s: older lines are not shown: %s: %s",
			 output->node, output->file ? output->file : "",
			 r == -ESTALE	   ? "not written by this service alone"
			 : r == -ETIMEDOUT ? "the file system does not answer"
					   : strerror(-r));
	return r == -ENOMEM ? r : 0;
}

int logs_collect(struct logs *l, uint64_t deadline_usec)
{
	struct log_lines older = { .n = 0 };
	int r = l->reader.fd < 0 ? CTL_DONE : logs_collect_remembered(l, deadline_usec);

	if (r != CTL_DONE)
		return r;
	l->collected = true;
	for (size_t i = 0; r == 0 && i < l->n_outputs; i++)
		r = logs_add_older(l, &l->outputs[i], &older);
	if (r == 0)
		r = log_lines_append(&older, &l->lines);
	log_lines_done(&l->lines);
	l->lines = older;
	if (r < 0)
		return l->quiet ? CTL_FAILED : ctl_fail(l->ctl, r);
	log_lines_merge(&l->lines);
	if (l->filter)
		log_filter_lines(l->filter, &l->lines);
	log_lines_limit(&l->lines, l->max);
	return CTL_DONE;
}
