#include "daemon/logger/history-line.h"

#include "daemon/logger/history-log.h"

/* Texts of other programs may make the line too long.  NULL without memory. */
static char *history_print_line(struct history_line *line)
{
	for (;; line->n_held_by--) {
		cleanup(json_decrefp) json_t *object = history_line_build(line);
		char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

		if (!text || strlen(text) < HISTORY_LINE_MAX || line->n_held_by == 0)
			return text;
		free(text);
	}
}

void history_write_line(struct context *ctx, struct history_line *line)
{
	cleanup(freep) char *text = NULL;
	size_t size;

	if (!ctx->history_log)
		return;
	line->time_usec = clock_realtime_usec();
	text = history_print_line(line);
	if (!text) {
		log_node(ctx->log, LOG_ERR, *line->node ? line->node : CONFIG_ROOT_NAME,
			 "missing in the history: out of memory");
		return;
	}
	size = strlen(text);
	text[size] = '\n'; /* instead of the NUL */
	history_log_add(ctx->history_log, text, size + 1);
}
