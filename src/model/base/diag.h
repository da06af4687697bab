#pragma once

/*
 * The errors and warnings of a configuration: every one of a run, each with its file and line.  The
 * text of an entry is "FILE:LINE: [SECTION] KEY: what is wrong: what is expected".  The text may
 * have any bytes of the file except a newline: it must be escaped for a terminal, as log_line()
 * does.
 */

#include "base/log.h"
#include "base/std.h"

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
 * Puts @file after all files named before; a file that is never named gets its position by the
 * first diag_add().  Copies the name.  Never fails: without memory the file comes last.
 */
void diag_file(struct diag *diag, const char *file);

/*
 * Adds an entry, unless the same one is there.  Never fails: without memory for the text the entry still
 * counts.  At most DIAG_MAX texts are kept; further ones are only counted.  @place is copied.
 */
#define DIAG_MAX 200
void diag_add(struct diag *diag, enum diag_level level, struct place place, const char *format, ...)
	printf_like(4, 5);

size_t diag_errors(const struct diag *diag);
size_t diag_warnings(const struct diag *diag);

/*
 * Calls @emit for each entry, in the order of files and lines.  A text has no newline.  If texts
 * were not kept, a last text has their number.  A file is valid as long as @diag, or NULL.
 */
void diag_each(const struct diag *diag,
	       void (*emit)(enum diag_level level, struct place place, const char *text, void *arg),
	       void *arg);

/* Logs the entries, and prints the errors to @file, each after a newline.  Both may be NULL. */
void diag_report(const struct diag *diag, struct log *log, FILE *file);

/* Copies @text for a quotation in an entry; a cut text ends with "...".  Returns @buf. */
#define DIAG_EXCERPT_MAX 84
char *diag_excerpt(char buf[static DIAG_EXCERPT_MAX], const char *text);
