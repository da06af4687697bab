#pragma once

/*
 * Output for people: what the terminal can show, and tables and trees, which libsmartcols prints.
 * libsmartcols shows every byte of a cell that is not printable as \xHH, so that no text of a
 * server can drive the terminal.
 */

#include <libsmartcols/libsmartcols.h>

#include "base/std.h"

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_FAINT, STYLE_GOOD, STYLE_BUSY, STYLE_BAD };

struct screen {
	FILE *file;
	bool tty;      /* control characters could drive it */
	bool terminal; /* it can be drawn anew */
	bool colour;
	size_t drawn; /* lines of the last screen_redraw() */
};

/* Looks at the file, $NO_COLOR and $TERM. */
void screen_init(struct screen *screen, FILE *file);

/*
 * Sets the locale for characters.  Text is UTF-8 in every locale.  Return: true if the locale of
 * the environment is UTF-8 as well.
 */
bool screen_set_locale(void);

/*
 * Rows of cells, filled from left to right.  No function but table_print() and screen_redraw()
 * fails: both return -ENOMEM if memory ran out before.
 */
struct table {
	struct libscols_table *smart; /* NULL: memory ran out */
	struct libscols_line *line;   /* NULL: the next cell begins a row */
	size_t n_columns, column;
	unsigned filled; /* a bit for each column that has text */
	bool failed;
};

/* @titles: one a column, "" is none; NULL: there is no row of titles. */
void table_init(struct table *table, size_t n_columns, const char *const *titles);
#define table_init_titles(table, ...)                                               \
	table_init(table, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
		   (const char *const[]){ __VA_ARGS__ })
void table_done(struct table *table);

/*
 * Begins a row below @parent, a row that table_begin_row() returned; of a NULL @parent it is at the
 * top.  The first column shows the tree.  Other rows begin with their first cell.
 */
struct libscols_line *table_begin_row(struct table *table, struct libscols_line *parent);

/* Fills the next cell. */
void table_add(struct table *table, enum style style, const char *format, ...) printf_like(3, 4);

/* Leaves the remaining cells of the row empty. */
void table_end_row(struct table *table);

/*
 * Prints the table, but nothing if it has no rows.  A column is as wide as its widest cell; a
 * column without text is left out.  Return: 0 or -ENOMEM.
 */
int table_print(struct table *table, struct screen *screen);

/*
 * On a terminal: prints a line and a table in the place of what was drawn before, cut to the size
 * of the terminal.  Return: 0 or -ENOMEM.
 */
int screen_redraw(struct screen *screen, const char *head, struct table *table);

/* Wipes away what was drawn last. */
void screen_wipe(struct screen *screen);
