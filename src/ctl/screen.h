#pragma once

/*
 * Where people read: what the terminal can show, and tables.  Everything in a table is escaped
 * (base/text.h), so that nothing a server says can drive a terminal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/macro.h"

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_FAINT, STYLE_GOOD, STYLE_BUSY, STYLE_BAD };

struct screen {
	FILE *file;
	bool terminal; /* it can be drawn anew */
	bool colour;
	size_t drawn; /* lines of the last screen_redraw() */
};

/* Looks at the file, $NO_COLOR and $TERM. */
void screen_init(struct screen *screen, FILE *file);

/*
 * Sets the locale for characters, for who has to know what one is; it is not for nothing, and most
 * commands do not.  Return: is it UTF-8?
 */
bool screen_set_locale(void);

/* Rows of cells, filled from left to right. */
struct table;

int table_new(struct table **ret, size_t columns);
struct table *table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free)

/* Likewise, with a first row of these @n, one a column; "" is none. */
int table_new_titled(struct table **ret, const char *const *titles, size_t n);

/* The next cell.  Never fails: a table that ran out of memory says so when it is printed. */
void table_add(struct table *table, enum style style, const char *format, ...) printf_like(3, 4);

/* The same for what there is a lot of: a text, and a number. */
void table_add_text(struct table *table, enum style style, const char *text);
void table_add_number(struct table *table, enum style style, uint64_t number);

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
