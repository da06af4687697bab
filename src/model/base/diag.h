#pragma once

/*
 * What is wrong with a configuration, for people: every mistake of one run, each with its place.
 * The text of one entry is "FILE:LINE: [SECTION] KEY: what is wrong, what is allowed".  It may hold
 * any bytes of the file but a newline: who shows it on a terminal escapes it, as log_line() does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/macro.h"

/*
 * A line of a configuration file.  @file is owned by the struct config; line 0 is the file itself.
 */
struct place {
	const char *file;
	unsigned line;
};

enum diag_level { DIAG_WARNING, DIAG_ERROR };

struct diag;

int diag_new(struct diag **ret);
struct diag *diag_free(struct diag *diag);
DEFINE_CLEANUP(struct diag *, diag_free)

/*
 * Says that @file is read after all files named before; one that was never named comes where
 * diag_add() first meets it.  Copies the name, never fails: without memory the file comes last.
 */
void diag_file(struct diag *diag, const char *file);

/*
 * Adds an entry.  Never fails: without memory for the text the entry still counts.
 * At most DIAG_MAX texts are kept; further ones are only counted.  Keeps nothing of @place.
 */
#define DIAG_MAX 200
void diag_add(struct diag *diag, enum diag_level level, struct place place, const char *format, ...)
	printf_like(4, 5);

size_t diag_errors(const struct diag *diag);
size_t diag_warnings(const struct diag *diag);

/*
 * Calls @emit for each entry, ordered by file as loaded and then by line; one text without newline.
 * If texts were not kept, a last one says how many.
 */
void diag_each(const struct diag *diag,
	       void (*emit)(enum diag_level level, const char *text, void *arg), void *arg);

/* The beginning of @text, to be quoted in an entry; ends with "..." if it is cut.  Returns @buf. */
#define DIAG_EXCERPT_MAX 84
char *diag_excerpt(char buf[static DIAG_EXCERPT_MAX], const char *text);
