/*
 * Lines are copied, so that each history owns its own.  A configuration ends at the next one or at the
 * operations.
 */
#include "tests/sim/history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void history_init(struct history *history, uint64_t seed)
{
	*history = (struct history){ .seed = seed };
}

void history_done(struct history *history)
{
	for (size_t i = 0; i < history->n; i++)
		free(history->lines[i]);
	history->n = 0;
}

void history_add(struct history *history, const char *format, ...)
{
	va_list ap;

	if (history->n == HISTORY_LINES)
		return;
	va_start(ap, format);
	if (vasprintf(&history->lines[history->n], format, ap) >= 0)
		history->n++;
	va_end(ap);
}

struct history history_without(const struct history *history, size_t from, size_t n)
{
	struct history copy;

	history_init(&copy, history->seed);
	for (size_t i = 0; i < history->n; i++)
		if (i < from || i >= from + n)
			history_add(&copy, "%s", history->lines[i]);
	return copy;
}

int history_read(struct history *history, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	history_init(history, 0);
	if (!file)
		return -errno;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "seed %" SCNu64, &history->seed) != 1 && *line && *line != '#')
			history_add(history, "%s", line);
	}
	free(line);
	(void)fclose(file);
	return 0;
}

void history_print(const struct history *history, FILE *file)
{
	(void)fprintf(file, "seed %" PRIu64 "\n", history->seed);
	for (size_t i = 0; i < history->n; i++)
		(void)fprintf(file, "%s\n", history->lines[i]);
}

size_t history_operations(const struct history *history)
{
	size_t i = 0;

	while (i < history->n && strcmp(history->lines[i], "operations") != 0)
		i++;
	return i < history->n ? i + 1 : i;
}

bool history_has(const struct history *history, const char *line)
{
	for (size_t i = 0; i < history->n; i++)
		if (strcmp(history->lines[i], line) == 0)
			return true;
	return false;
}

char *history_config(const struct history *history, const char *name)
{
	char *text = NULL;
	size_t size, i = 0, end = history_operations(history);
	FILE *file;

	for (; i < end; i++)
		if (strncmp(history->lines[i], "config ", 7) == 0 &&
		    (!*name || strcmp(history->lines[i] + 7, name) == 0))
			break;
	if (i == end)
		return NULL;
	file = open_memstream(&text, &size);
	for (i++; i < end && strncmp(history->lines[i], "config ", 7) != 0 &&
		  strcmp(history->lines[i], "operations") != 0;
	     i++)
		(void)fprintf(file, "%s\n", history->lines[i]);
	(void)fclose(file);
	return text;
}
