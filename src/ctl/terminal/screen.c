/*
 * A table collects its cells in libsmartcols, which renders it at once; columns without a cell are
 * hidden.  A live view is the same text: before it is drawn again, the cursor goes up by the lines
 * that are drawn, and each line is cut to the width of the terminal.
 */
#include "ctl/terminal/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <wchar.h>

#define RESET "\033[0m"

static const char *const codes[] = {
	[STYLE_BOLD] = "\033[1m",  [STYLE_FAINT] = "\033[2m",  [STYLE_GOOD] = "\033[32m",
	[STYLE_BUSY] = "\033[33m", [STYLE_BAD] = "\033[1;31m",
};

void screen_init(struct screen *screen, FILE *file)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool tty = isatty(fileno(file)), terminal = tty && term && strcmp(term, "dumb") != 0;

	*screen = (struct screen){
		.file = file,
		.tty = tty,
		.terminal = terminal,
		.colour = terminal && !(no_color && *no_color),
	};
}

bool screen_set_locale(void)
{
	bool utf8;

	(void)setlocale(LC_CTYPE, "");
	utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!utf8)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
	return utf8;
}

void table_init(struct table *t, size_t n_columns, const char *const *titles)
{
	bool utf8 = screen_set_locale();

	*t = (struct table){ .smart = scols_new_table(), .n_columns = n_columns };
	t->failed = !t->smart || scols_table_enable_ascii(t->smart, !utf8) < 0 ||
		    scols_table_enable_noheadings(t->smart, !titles) < 0 ||
		    scols_table_enable_minout(t->smart, true) < 0 ||
		    scols_table_set_termforce(t->smart, SCOLS_TERMFORCE_NEVER) < 0 ||
		    scols_table_set_column_separator(t->smart, "  ") < 0;
	for (size_t i = 0; !t->failed && i < n_columns; i++) {
		const char *title = titles ? titles[i] : "";
		struct libscols_column *column = scols_table_new_column(t->smart, title, 0, 0);

		t->failed =
			!column || (*title && scols_cell_set_color(scols_column_get_header(column),
								   codes[STYLE_FAINT]) < 0);
		t->filled |= *title ? 1U << i : 0;
	}
}

void table_done(struct table *t)
{
	scols_unref_table(t->smart);
}

struct libscols_line *table_begin_row(struct table *t, struct libscols_line *parent)
{
	struct libscols_line *line = t->failed ? NULL : scols_table_new_line(t->smart, parent);

	t->failed |= !line;
	if (parent)
		(void)scols_column_set_flags(scols_table_get_column(t->smart, 0), SCOLS_FL_TREE);
	t->line = line;
	t->column = 0;
	return line;
}

void table_add(struct table *t, enum style style, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	if (!t->line && !table_begin_row(t, NULL))
		return;
	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0) {
		t->failed = true;
		return;
	}
	/* Takes the text over. */
	t->failed |= scols_line_refer_data(t->line, t->column, text) < 0;
	if (n > 0 && codes[style])
		t->failed |= scols_cell_set_color(scols_line_get_cell(t->line, t->column),
						  codes[style]) < 0;
	t->filled |= n > 0 ? 1U << t->column : 0;
	if (++t->column == t->n_columns)
		t->line = NULL;
}

void table_end_row(struct table *t)
{
	t->line = NULL;
}

/* The lines of the table, without the newline of the last one; NULL without rows. */
static int table_render(struct table *t, bool colour, char **ret)
{
	char *newline, *end;

	*ret = NULL;
	if (t->failed || scols_table_enable_colors(t->smart, colour) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++)
		if (!(t->filled & 1U << i))
			(void)scols_column_set_flags(scols_table_get_column(t->smart, i),
						     SCOLS_FL_HIDDEN);
	if (scols_table_is_empty(t->smart))
		return 0;
	if (scols_print_table_to_string(t->smart, ret) < 0)
		return -ENOMEM;
	/* The titles are filled up with blanks where the last one is empty. */
	newline = strchrnul(*ret, '\n');
	end = newline;
	while (end > *ret && end[-1] == ' ')
		end--;
	(void)memmove(end, newline, strlen(newline) + 1);
	return 0;
}

int table_print(struct table *t, struct screen *screen)
{
	cleanup(freep) char *text = NULL;
	int r = table_render(t, screen->colour, &text);

	if (text)
		(void)fprintf(screen->file, "%s\n", text);
	return r;
}

/*
 * Prints the first @width columns of the line at @text; escape codes take no column, and are all printed.
 * Return: the end of the line.
 */
static const char *screen_print_cut(const struct screen *screen, const char *text, int width)
{
	while (*text && *text != '\n') {
		wchar_t c = 0;
		int n = *text == '\033' ? (int)strcspn(text, "m") + 1
					: mbtowc(&c, text, MB_CUR_MAX);

		n = n > 0 ? n : 1;
		width -= c ? wcwidth(c) : 0;
		if (!c || width >= 0)
			(void)fwrite(text, 1, (size_t)n, screen->file);
		text += n;
	}
	(void)fputc('\n', screen->file);
	return *text ? text + 1 : text;
}

void screen_wipe(struct screen *screen)
{
	if (screen->drawn)
		fprintf(screen->file, "\033[%zuA\033[J", screen->drawn);
	screen->drawn = 0;
	/* Flushes the text before a message goes to the same terminal by standard error. */
	(void)fflush(screen->file);
}

int screen_redraw(struct screen *screen, const char *head, struct table *table)
{
	struct winsize size = {};
	cleanup(freep) char *text = NULL;
	int r = table_render(table, screen->colour, &text);
	size_t rows = r == 0 && text ? 1 : 0, shown; /* with that of the titles */
	const char *at = text;
	char escaped[4096], line[sizeof(escaped) + 16];

	if (ioctl(fileno(screen->file), TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ||
	    size.ws_row < 4)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	for (const char *p = text; rows > 0 && (p = strchr(p, '\n')); p++)
		rows++;
	/* Room for the head, the line that counts the other rows, and the cursor's own. */
	shown = MIN(rows, (size_t)size.ws_row - 3);
	screen_wipe(screen);
	text_escape(escaped, sizeof(escaped), head);
	(void)snprintf(line, sizeof(line), "%s%s%s", screen->colour ? codes[STYLE_BOLD] : "",
		       escaped, screen->colour ? RESET : "");
	(void)screen_print_cut(screen, line, size.ws_col);
	for (size_t row = 0; row < shown; row++)
		at = screen_print_cut(screen, at, size.ws_col);
	if (shown < rows)
		fprintf(screen->file, "  and %zu more\n", rows - shown);
	screen->drawn = 1 + shown + (shown < rows);
	(void)fflush(screen->file);
	return r;
}
