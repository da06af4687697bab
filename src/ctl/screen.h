#pragma once

/*
 * Where people read: what the terminal can show, and tables.  Everything in a table is escaped
 * (base/text.h), so that nothing a server says can drive a terminal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/macro.h"

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_FAINT, STYLE_GOOD, STYLE_BUSY, STYLE_BAD };

struct screen {
	FILE *file;
	bool terminal; /* it can be drawn anew */
	bool colour;
	bool utf8;
	size_t drawn; /* lines of the last screen_redraw() */
};

/* Looks at the file, the locale, $NO_COLOR and $TERM. */
void screen_init(struct screen *screen, FILE *file);

/* Rows of cells, filled from left to right. */
struct table;

int table_new(struct table **ret, size_t columns);
struct table *table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free)

/* Likewise, with a first row of these @n, one a column; "" is none. */
int table_new_titled(struct table **ret, const char *const *titles, size_t n);

/* The next cell.  Never fails: a table that ran out of memory says so when it is printed. */
void table_add(struct table *table, enum style style, const char *format, ...) printf_like(3, 4);

/* Fills the row up with empty cells. */
void table_end_row(struct table *table);

/* Columns are as wide as their widest cell, but for the last.  Return: 0 or -ENOMEM. */
int table_print(const struct table *table, struct screen *screen);

/*
 * On a terminal: a line and a table, in the place of what was drawn before, cut to its size.
 *
 * Return: 0 or -ENOMEM.
 */
int screen_redraw(struct screen *screen, const char *head, const struct table *table);

/* Wipes away what was drawn last. */
void screen_wipe(struct screen *screen);
