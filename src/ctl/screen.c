#include "ctl/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define GAP 2 /* blanks between two columns */

struct cell {
	enum style style;
	size_t width;
	char *text;
};

struct table {
	struct cell *cells;
	size_t n, size, columns;
	bool failed;
};

void screen_init(struct screen *screen, FILE *file)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool terminal = isatty(fileno(file)) && term && strcmp(term, "dumb") != 0;

	*screen = (struct screen){
		.file = file,
		.terminal = terminal,
		.colour = terminal && !(no_color && *no_color),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

int table_new(struct table **ret, size_t columns)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->columns = columns;
	*ret = table;
	return 0;
}

struct table *table_free(struct table *table)
{
	if (!table)
		return NULL;
	for (size_t i = 0; i < table->n; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
	return NULL;
}

/* Characters, which is what text from here needs: what is wider is rare and only shifts its row. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static char *escaped(const char *format, va_list ap) printf_like(1, 0);
static char *escaped(const char *format, va_list ap)
{
	cleanup(freep) char *raw = NULL;
	char *text;
	size_t size;

	if (vasprintf(&raw, format, ap) < 0) {
		raw = NULL;
		return NULL;
	}
	size = strlen(raw) * 4 + 1;
	text = malloc(size);
	return text ? text_escape(text, size, raw) : NULL;
}

static struct cell *next_cell(struct table *table)
{
	if (table->n == table->size) {
		size_t size = table->size ? table->size * 2 : 64;
		struct cell *cells = reallocarray(table->cells, size, sizeof(*cells));

		if (!cells)
			return NULL;
		table->cells = cells;
		table->size = size;
	}
	return &table->cells[table->n];
}

void table_add(struct table *table, enum style style, const char *format, ...)
{
	struct cell *cell = next_cell(table);
	va_list ap;

	if (!cell) {
		table->failed = true;
		return;
	}
	va_start(ap, format);
	*cell = (struct cell){ .style = style, .text = escaped(format, ap) };
	va_end(ap);
	if (!cell->text) {
		table->failed = true;
		return;
	}
	cell->width = width_of(cell->text);
	table->n++;
}

int table_new_titled(struct table **ret, const char *const *titles, size_t n)
{
	int r = table_new(ret, n);

	for (size_t i = 0; r == 0 && i < n; i++)
		table_add(*ret, STYLE_FAINT, "%s", titles[i]);
	return r;
}

void table_end_row(struct table *table)
{
	while (!table->failed && table->n % table->columns)
		table_add(table, STYLE_PLAIN, "%s", "");
}

static const char *style_code(enum style style)
{
	switch (style) {
	case STYLE_PLAIN:
		break;
	case STYLE_BOLD:
		return "1";
	case STYLE_FAINT:
		return "2";
	case STYLE_GOOD:
		return "32";
	case STYLE_BUSY:
		return "33";
	case STYLE_BAD:
		return "1;31";
	}
	return NULL;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->n; i += table->columns)
		if (table->cells[i].width > width)
			width = table->cells[i].width;
	return width;
}

/* At most @width characters of the cell.  Return: how many there were. */
static size_t print_cell(const struct cell *cell, const struct screen *screen, size_t width)
{
	const char *code = screen->colour && cell->width ? style_code(cell->style) : NULL;
	size_t bytes = 0;

	for (size_t left = width; cell->text[bytes]; bytes++) {
		if (((unsigned char)cell->text[bytes] & 0xc0) == 0x80)
			continue;
		if (left == 0)
			break;
		left--;
	}
	if (code)
		fprintf(screen->file, "\033[%sm", code);
	fwrite(cell->text, 1, bytes, screen->file);
	if (code)
		fputs("\033[0m", screen->file);
	return MIN(cell->width, width);
}

/* No blanks at the end of a line: the padding is held back until something follows. */
static void print_row(const struct table *table, const struct screen *screen, size_t first,
		      const size_t *widths, size_t limit)
{
	size_t at = 0, used = 0;

	for (size_t column = 0; column < table->columns; column++) {
		const struct cell *cell = &table->cells[first + column];

		if (cell->width && at < limit) {
			fprintf(screen->file, "%*s", (int)(at - used), "");
			used = at + print_cell(cell, screen, limit - at);
		}
		at += widths[column] ? widths[column] + GAP : 0;
	}
	fputc('\n', screen->file);
}

static int print_rows(const struct table *table, const struct screen *screen, size_t rows,
		      size_t limit)
{
	cleanup(freep) size_t *widths = calloc(table->columns, sizeof(*widths));

	if (table->failed || !widths)
		return -ENOMEM;
	for (size_t column = 0; column < table->columns; column++)
		widths[column] = column_width(table, column);
	for (size_t row = 0; row < rows; row++)
		print_row(table, screen, row * table->columns, widths, limit);
	return 0;
}

int table_print(const struct table *table, struct screen *screen)
{
	return print_rows(table, screen, table->n / table->columns, SIZE_MAX);
}

static struct winsize terminal_size(const struct screen *screen)
{
	struct winsize size = {};

	if (ioctl(fileno(screen->file), TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
	    size.ws_row < 4)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	return size;
}

void screen_wipe(struct screen *screen)
{
	if (screen->drawn)
		fprintf(screen->file, "\033[%zuA\033[J", screen->drawn);
	screen->drawn = 0;
}

int screen_redraw(struct screen *screen, const char *head, const struct table *table)
{
	struct winsize size = terminal_size(screen);
	size_t rows = table->n / table->columns;
	/* Room for the head, a line that says how much there is besides, and the cursor's own. */
	size_t shown = MIN(rows, (size_t)size.ws_row - 3);
	cleanup(table_freep) struct table *title = NULL;
	int r;

	r = table_new(&title, 1);
	if (r < 0)
		return r;
	table_add(title, STYLE_BOLD, "%s", head);
	screen_wipe(screen);
	r = print_rows(title, screen, 1, size.ws_col);
	if (r == 0)
		r = print_rows(table, screen, shown, size.ws_col);
	if (shown < rows)
		fprintf(screen->file, "  and %zu more\n", rows - shown);
	screen->drawn = 1 + shown + (shown < rows);
	(void)fflush(screen->file);
	return r;
}
