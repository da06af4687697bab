/* The filter is applied here, to collected lines or to each new one: the logger does not know it. */
#include "ctl/logs/filter.h"

#include <syslog.h>

bool log_filter_is_set(const struct log_filter *f)
{
	return f->since_usec > 0 || f->until_usec != USEC_INFINITY || f->level != LOG_DEBUG ||
	       f->pattern;
}

static int filter_level_of(const struct log_line *line)
{
	const char *text = line->text;

	return line->length >= 3 && text[0] == '<' && text[1] >= '0' && text[1] <= '7' &&
			       text[2] == '>'
		       ? text[1] - '0'
		       : LOG_INFO;
}

/* Without memory the line counts as one that matches. */
static bool filter_matches(const regex_t *pattern, const struct log_line *line)
{
	cleanup(freep) char *text = strndup(line->text, line->length);

	return !text || regexec(pattern, text, 0, NULL, 0) == 0;
}

bool log_filter_takes(const struct log_filter *f, const struct log_line *line)
{
	return (line->time_usec == 0 ||
		(line->time_usec >= f->since_usec && line->time_usec <= f->until_usec)) &&
	       filter_level_of(line) <= f->level &&
	       (!f->pattern || filter_matches(f->pattern, line));
}

void log_filter_lines(const struct log_filter *f, struct log_lines *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (log_filter_takes(f, l->lines[i]))
			l->lines[kept++] = l->lines[i];
		else
			free(l->lines[i]);
	l->n = kept;
}
