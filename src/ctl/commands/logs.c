/*
 * The last lines of services, and new ones with --follow, come through a pipe from the logger: those that
 * it has in memory, and the text of the log files before them.  They are merged by time before
 * anything is printed; --follow then prints each line as it comes, and asks for a new pipe when the
 * logger has ended.
 */
#include "ctl/commands/cmd.h"

#include "ctl/logs/logs.h"
#include "ctl/logs/print.h"

/* The number of lines of each node, without --lines. */
#define LINES_DEFAULT 10

/* Return: the number of outputs that have lines to show. */
static size_t logs_prepare_outputs(const struct logs *logs, struct log_printer *printer)
{
	const char *node = NULL;
	size_t n = 0;

	for (size_t i = 0; i < logs->n_outputs; i++) {
		const struct output_view *output = &logs->outputs[i];

		if (!output->captured || logs->reader.fd < 0) {
			const char *see = strcmp(output->to, "journal") == 0 ? "journalctl" : output->file;

			log_line(&logs->ctl->log, LOG_NOTICE, "%s: output not captured: %s %s",
				 output->node, see ? "see" : "log =", see ? see : output->to);
			continue;
		}
		printer->names |= node && strcmp(node, output->node) != 0;
		node = output->node;
		log_printer_add(printer, node);
		n++;
	}
	return n;
}

static int logs_print_event(const struct logs *logs, struct log_printer *printer,
			    const struct log_event *event, const char **last)
{
	const struct log_source *source = event->line.source;

	if (event->type == LOGGER_FRAME_LOST)
		return log_print_lost(printer, source, event->lost);
	if (event->type != LOGGER_FRAME_LINE ||
	    (logs->filter && !log_filter_takes(logs->filter, &event->line)))
		return CTL_DONE;
	/* A node that a reload has added. */
	if (*last != source->first->node) {
		printer->names |= *last != NULL;
		log_printer_add(printer, source->node);
		*last = source->first->node;
	}
	return log_print(printer, &event->line);
}

/* Until the pipe ends.  Return: CTL_DONE, or the exit status. */
static int logs_follow_pipe(struct logs *logs, struct log_printer *printer, const char **last)
{
	struct ctl *ctl = logs->ctl;
	struct log_event event;
	int r;

	for (;;) {
		r = log_reader_next(&logs->reader, 0, &event);
		if (r == -EAGAIN) {
			(void)fflush(ctl->out.file);
			r = log_reader_next(&logs->reader, ctl->deadline_usec, &event);
		}
		if (r <= 0)
			return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
		r = logs_print_event(logs, printer, &event, last);
		if (r != CTL_DONE)
			return r;
		if (ferror(ctl->out.file))
			return CTL_FAILED;
	}
}

static int logs_follow_all(struct logs *logs, struct log_printer *printer)
{
	const char *last = NULL;
	int r = CTL_DONE;

	logs->reader.output_fd = fileno(logs->ctl->out.file);
	client_set_output(logs->ctl->client, logs->reader.output_fd);
	if (logs->lines.n > 0)
		last = logs->lines.lines[logs->lines.n - 1]->source->first->node;
	while (r == CTL_DONE) {
		r = logs_follow_pipe(logs, printer, &last);
		if (r == CTL_DONE)
			r = logs_ask_again(logs);
	}
	return r;
}

static int logs_show(struct ctl *ctl, struct logs *logs)
{
	struct log_printer printer = { .ctl = ctl };
	int r = logs_ask(logs, ctl->options.follow);

	if (r != CTL_DONE)
		return r;
	if (logs_prepare_outputs(logs, &printer) == 0) {
		if (logs->n_outputs == 0)
			log_line(&ctl->log, LOG_ERR, "no service in these nodes");
		return CTL_FAILED;
	}
	r = logs_collect(logs, ctl->deadline_usec);
	for (size_t i = 0; r == CTL_DONE && i < logs->lines.n; i++)
		r = log_print(&printer, logs->lines.lines[i]);
	(void)fflush(ctl->out.file);
	if (r != CTL_DONE || !ctl->options.follow)
		return r;
	return logs_follow_all(logs, &printer);
}

/* A filter without --lines asks for all lines that match. */
static int logs_run(struct ctl *ctl, const struct log_filter *filter, char **nodes)
{
	bool filtered = log_filter_is_set(filter);
	uint64_t max = ctl->options.lines;
	struct logs logs;
	int r = 0;

	if (max == UINT64_MAX)
		max = filtered ? UINT32_MAX : LINES_DEFAULT;
	logs_init(&logs, ctl, max);
	logs.filter = filtered ? filter : NULL;
	for (size_t i = 0; r == 0 && nodes[i]; i++)
		r = json_array_append_new(logs.nodes, json_string(nodes[i]));
	r = r < 0 ? ctl_fail(ctl, -ENOMEM) : logs_show(ctl, &logs);
	logs_done(&logs);
	return r;
}

int cmd_logs(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	struct log_filter filter = { o->since_usec, o->until_usec, o->level, NULL };
	char mistake[128];
	regex_t pattern;
	int r;

	if (o->reopen)
		return session_do_nodes(ctl, METHOD_REOPEN_LOGS, argv, json_object(), NULL);
	if (o->follow && o->timeout_usec == USEC_INFINITY)
		ctl->deadline_usec = USEC_INFINITY;
	if (!o->grep)
		return logs_run(ctl, &filter, argv);
	r = regcomp(&pattern, o->grep, REG_EXTENDED | REG_NOSUB);
	if (r != 0) {
		(void)regerror(r, &pattern, mistake, sizeof(mistake));
		log_line(&ctl->log, LOG_ERR, "--grep: invalid pattern '%s': %s", o->grep, mistake);
		return CTL_USAGE;
	}
	filter.pattern = &pattern;
	r = logs_run(ctl, &filter, argv);
	regfree(&pattern);
	return r;
}
