#pragma once

/*
 * A history is a text: configurations, then operations, a line each.
 *
 *	config a
 *	[web]
 *	command = main ready=50
 *	config b
 *	…
 *	operations
 *	start web
 *	+1000 reload b
 *
 * "with groups" before the first configuration: there are control groups.
 * "+N" lets N milliseconds pass before the operation.  The first configuration is that of the start.
 * A history without one of its lines is a history, too: this is how it is shortened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HISTORY_LINES 512

struct history {
	uint64_t seed; /* of the world, for all that no line decides */
	size_t n;
	char *lines[HISTORY_LINES];
};

void history_init(struct history *history, uint64_t seed);
void history_done(struct history *history);

/* Adds a line. */
void history_add(struct history *history, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns a copy without the @n lines from @from on. */
struct history history_without(const struct history *history, size_t from, size_t n);

/* Draws the history of @seed: in one of sixteen the daemon has faults. */
void history_draw(struct history *history, uint64_t seed, unsigned operations);

/* Reads and prints the text; its first line has the seed.  Return: 0 or -errno. */
int history_read(struct history *history, const char *path);
void history_print(const struct history *history, FILE *file);

/* Returns true if there is such a line. */
bool history_has(const struct history *history, const char *line);

/* Returns the text of the configuration, to be freed; NULL: there is none.  "": the first one. */
char *history_config(const struct history *history, const char *name);

/* The number of the first line with an operation. */
size_t history_operations(const struct history *history);
