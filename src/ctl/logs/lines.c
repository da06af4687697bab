/*
 * An array of pointers to lines; a line and its text are one block of memory.  Merging is a stable
 * sort by time: before it, times are made to rise within each source, so that a clock that was set
 * back does not change the order of the lines of a source.
 */
#include "ctl/logs/lines.h"

#include <syslog.h>

int log_lines_add(struct log_lines *l, const struct log_line *line)
{
	struct log_line *copy;

	if (array_reserve(l->lines, l->n) < 0)
		return -ENOMEM;
	copy = malloc(sizeof(*copy) + line->length);
	if (!copy)
		return -ENOMEM;
	*copy = *line;
	copy->text = memcpy(copy + 1, line->text, line->length);
	l->lines[l->n++] = copy;
	return 0;
}

int log_lines_append(struct log_lines *l, struct log_lines *from)
{
	size_t moved = 0;

	while (moved < from->n && array_reserve(l->lines, l->n) == 0)
		l->lines[l->n++] = from->lines[moved++];
	from->n -= moved;
	if (from->n > 0)
		memmove(from->lines, from->lines + moved, from->n * sizeof(struct log_line *));
	return from->n > 0 ? -ENOMEM : 0;
}

void log_lines_done(struct log_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->lines[i]);
	free(l->lines);
	*l = (struct log_lines){ .n = 0 };
}

static int line_compare(const void *one, const void *other)
{
	const struct log_line *a = *(struct log_line *const *)one;
	const struct log_line *b = *(struct log_line *const *)other;

	if (a->time_usec != b->time_usec)
		return a->time_usec < b->time_usec ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void log_lines_merge(struct log_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->lines[i]->source->last_usec = UINT64_MAX;
	/* From the end: a line without a time has that of the line after it. */
	for (size_t i = l->n; i-- > 0;) {
		struct log_line *line = l->lines[i];

		if (line->time_usec == 0 && line->source->last_usec != UINT64_MAX)
			line->time_usec = line->source->last_usec;
		line->source->last_usec = line->time_usec;
	}
	/* Each source has the time of its first line now. */
	for (size_t i = 0; i < l->n; i++) {
		struct log_line *line = l->lines[i];

		line->time_usec = MAX(line->time_usec, line->source->last_usec);
		line->source->last_usec = line->time_usec;
		line->order = i;
	}
	array_sort(l->lines, l->n, line_compare);
}

void log_lines_limit(struct log_lines *l, uint64_t max)
{
	size_t kept = l->n;

	for (size_t i = 0; i < l->n; i++)
		l->lines[i]->source->first->n_shown = 0;
	for (size_t i = l->n; i-- > 0;) {
		if (l->lines[i]->source->first->n_shown++ < max)
			l->lines[--kept] = l->lines[i];
		else
			free(l->lines[i]);
	}
	l->n -= kept;
	if (kept > 0)
		memmove(l->lines, l->lines + kept, l->n * sizeof(struct log_line *));
}

/* --- the filter, which the logger does not know --- */

bool log_filter_is_set(const struct log_filter *f)
{
	return f->since_usec > 0 || f->until_usec != USEC_INFINITY || f->level != LOG_DEBUG ||
	       f->pattern;
}

static int log_filter_level_of(const struct log_line *line)
{
	const char *text = line->text;

	return line->length >= 3 && text[0] == '<' && text[1] >= '0' && text[1] <= '7' &&
			       text[2] == '>'
		       ? text[1] - '0'
		       : LOG_INFO;
}

/* Without memory the line counts as one that matches. */
static bool log_filter_matches(const regex_t *pattern, const struct log_line *line)
{
	cleanup(freep) char *text = strndup(line->text, line->length);

	return !text || regexec(pattern, text, 0, NULL, 0) == 0;
}

bool log_filter_takes(const struct log_filter *f, const struct log_line *line)
{
	return (line->time_usec == 0 ||
		(line->time_usec >= f->since_usec && line->time_usec <= f->until_usec)) &&
	       log_filter_level_of(line) <= f->level &&
	       (!f->pattern || log_filter_matches(f->pattern, line));
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
