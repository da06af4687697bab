#include "ctl/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define GAP 2 /* blanks between two columns */

/* Its text is that of the table from @at on, and ends with a NUL.  There may be a lot of them. */
struct cell {
	uint32_t at, width;
	enum style style;
};

struct table {
	struct cell *cells;
	size_t n, size, columns;
	char *text;
	size_t text_used, text_size;
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
	};
}

bool screen_set_locale(void)
{
	(void)setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
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
	free(table->cells);
	free(table->text);
	free(table);
	return NULL;
}

/* Characters, which is what text from here needs: what is wider is rare and only shifts its row. */
static uint32_t width_of(const char *text)
{
	uint32_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
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

/* Where @n more bytes of text belong. */
static char *next_text(struct table *table, size_t n)
{
	size_t size = table->text_size ? table->text_size : 1024;
	char *text;

	while (size - table->text_used < n)
		size *= 2;
	if (size > UINT32_MAX)
		return NULL;
	if (size != table->text_size) {
		text = realloc(table->text, size);
		if (!text)
			return NULL;
		table->text = text;
		table->text_size = size;
	}
	return table->text + table->text_used;
}

void table_add_text(struct table *table, enum style style, const char *text)
{
	size_t length = text_plain(text);
	bool plain = !text[length]; /* as most are, which are worth no second look */
	size_t size = plain ? length + 1 : strlen(text) * 4 + 1;
	struct cell *cell = next_cell(table);
	char *escaped = next_text(table, size);

	if (!cell || !escaped) {
		table->failed = true;
		return;
	}
	if (plain)
		memcpy(escaped, text, size);
	else
		length = strlen(text_escape(escaped, size, text));
	*cell = (struct cell){
		.at = (uint32_t)table->text_used,
		.width = plain ? (uint32_t)length : width_of(escaped),
		.style = style,
	};
	table->text_used += length + 1;
	table->n++;
}

void table_add_number(struct table *table, enum style style, uint64_t number)
{
	char text[TEXT_NUMBER_MAX];

	table_add_text(table, style, text_number(text, number));
}

void table_add(struct table *table, enum style style, const char *format, ...)
{
	cleanup(freep) char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		table_add_text(table, style, text);
	else
		table->failed = true;
}

int table_new_titled(struct table **ret, const char *const *titles, size_t n)
{
	int r = table_new(ret, n);

	for (size_t i = 0; r == 0 && i < n; i++)
		table_add_text(*ret, STYLE_FAINT, titles[i]);
	return r;
}

void table_end_row(struct table *table)
{
	while (!table->failed && table->n % table->columns)
		table_add_text(table, STYLE_PLAIN, "");
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

/* How long its text is. */
static size_t cell_length(const struct table *table, const struct cell *cell)
{
	const struct cell *next = cell + 1;
	size_t end = next < table->cells + table->n ? next->at : table->text_used;

	return end - cell->at - 1;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t width = 0;

	for (size_t i = column; i < table->n; i += table->columns)
		if (table->cells[i].width > width)
			width = table->cells[i].width;
	return width;
}

/* The bytes of the first @width characters. */
static size_t cut(const char *text, size_t width)
{
	size_t bytes = 0;

	for (; text[bytes]; bytes++) {
		if (((unsigned char)text[bytes] & 0xc0) == 0x80)
			continue;
		if (width-- == 0)
			break;
	}
	return bytes;
}

/* On its way to the screen: a list of services has too many pieces for a call of stdio each. */
struct buffer {
	const struct screen *screen;
	size_t used;
	char bytes[16 * 1024];
};

static void buffer_flush(struct buffer *buffer)
{
	(void)fwrite(buffer->bytes, 1, buffer->used, buffer->screen->file);
	buffer->used = 0;
}

static void put(struct buffer *buffer, const char *bytes, size_t n)
{
	if (n > sizeof(buffer->bytes) - buffer->used)
		buffer_flush(buffer);
	if (n > sizeof(buffer->bytes)) {
		(void)fwrite(bytes, 1, n, buffer->screen->file);
		return;
	}
	memcpy(buffer->bytes + buffer->used, bytes, n);
	buffer->used += n;
}

static void put_blanks(struct buffer *buffer, size_t n)
{
	static const char blanks[] = "                                ";
	const size_t most = sizeof(blanks) - 1;

	for (; n > most; n -= most)
		put(buffer, blanks, most);
	put(buffer, blanks, n);
}

static void put_text(struct buffer *buffer, const char *text)
{
	put(buffer, text, strlen(text));
}

/* At most @width characters of the cell.  Return: how many there were. */
static size_t print_cell(const struct table *table, const struct cell *cell, struct buffer *buffer,
			 size_t width)
{
	const char *code = buffer->screen->colour && cell->width ? style_code(cell->style) : NULL;
	const char *text = table->text + cell->at;

	if (code) {
		put_text(buffer, "\033[");
		put_text(buffer, code);
		put_text(buffer, "m");
	}
	put(buffer, text, cell->width <= width ? cell_length(table, cell) : cut(text, width));
	if (code)
		put_text(buffer, "\033[0m");
	return MIN((size_t)cell->width, width);
}

/* No blanks at the end of a line: the padding is held back until something follows. */
static void print_row(const struct table *table, struct buffer *buffer, size_t first,
		      const size_t *widths, size_t limit)
{
	size_t at = 0, used = 0;

	for (size_t column = 0; column < table->columns; column++) {
		const struct cell *cell = &table->cells[first + column];

		if (cell->width && at < limit) {
			put_blanks(buffer, at - used);
			used = at + print_cell(table, cell, buffer, limit - at);
		}
		at += widths[column] ? widths[column] + GAP : 0;
	}
	put_text(buffer, "\n");
}

static int print_rows(const struct table *table, const struct screen *screen, size_t rows,
		      size_t limit)
{
	cleanup(freep) size_t *widths = calloc(table->columns, sizeof(*widths));
	cleanup(freep) struct buffer *buffer = malloc(sizeof(*buffer));

	if (table->failed || !widths || !buffer)
		return -ENOMEM;
	buffer->screen = screen;
	buffer->used = 0;
	for (size_t column = 0; column < table->columns; column++)
		widths[column] = column_width(table, column);
	for (size_t row = 0; row < rows; row++)
		print_row(table, buffer, row * table->columns, widths, limit);
	buffer_flush(buffer);
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
