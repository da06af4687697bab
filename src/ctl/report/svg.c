/*
 * Elements of SVG, with text that may have any bytes.  The fonts of the reader are unknown, so the
 * width of a text is estimated by character, and never too small for most fonts: a text that may
 * not fit is cut and ends with an ellipsis.
 */
#include "ctl/report/svg.h"

#define TITLE_MAX 2048
#define NARROW	  0.61 /* width of most letters in most fonts without serifs */
#define WIDE	  1.05 /* width of ideographs, and of all other characters */

static const char mark[] = "\xe2\x80\xa6";

/* XML cannot contain some of these characters; the others change the direction of the text. */
static bool svg_is_unfit(const char *s, size_t length)
{
	static const char *const unfit[] = {
		"\xef\xbf\xbe", "\xef\xbf\xbf", "\xe2\x80\xaa", "\xe2\x80\xab",
		"\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6",
		"\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9",
	};
	const unsigned char *c = (const unsigned char *)s;

	if (length == 1)
		return *c < 0x20 || *c == 0x7f;
	if (length == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	for (size_t i = 0; length == 3 && i < ARRAY_SIZE(unfit); i++)
		if (memcmp(s, unfit[i], 3) == 0)
			return true;
	return false;
}

/* A character is this wide; *ret_length 0: it is one byte that is shown as \xHH. */
static double svg_measure(const char *s, size_t *ret_length)
{
	size_t length = text_character(s);

	*ret_length = length && !svg_is_unfit(s, length) ? length : 0;
	if (!*ret_length)
		return 4 * NARROW;
	return length == 1 ? NARROW : WIDE;
}

double svg_width(const char *text)
{
	double width = 0;

	while (*text) {
		size_t length;

		width += svg_measure(text, &length);
		text += length ? length : 1;
	}
	return width;
}

static void svg_write_character(FILE *file, const char *s, size_t length)
{
	static const char special[] = "&<>\"'";
	static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	const char *found = length == 1 ? strchr(special, *s) : NULL;

	if (found)
		(void)fputs(names[found - special], file);
	else if (length)
		(void)fwrite(s, 1, length, file);
	else
		(void)fprintf(file, "\\x%02x", (unsigned)(unsigned char)*s);
}

void svg_escape_cut(FILE *file, const char *text, double width)
{
	bool cut = svg_width(text) > width;

	width -= cut ? WIDE : 0;
	while (*text) {
		size_t length;

		width -= svg_measure(text, &length);
		if (cut && width < 0)
			break;
		svg_write_character(file, text, length);
		text += length ? length : 1;
	}
	if (cut)
		(void)fputs(mark, file);
}

static void svg_escape(FILE *file, const char *text)
{
	svg_escape_cut(file, text, svg_width(text) + 1);
}

void svg_title(FILE *file, const char *format, ...)
{
	char text[TITLE_MAX];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	(void)fputs("<title>", file);
	svg_escape(file, text);
	(void)fputs("</title>", file);
}

void svg_rect(FILE *file, const char *class, double x, double y, double width, double height)
{
	(void)fprintf(file,
		      "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
		      class, x, y, width, height);
}

void svg_line(FILE *file, const char *class, double x1, double y1, double x2, double y2)
{
	(void)fprintf(file, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>",
		      class, x1, y1, x2, y2);
}

void svg_diamond(FILE *file, const char *class, double x, double y)
{
	(void)fprintf(file, "<path class=\"%s\" d=\"M%.2f %.2fl4 4l-4 4l-4 -4z\"/>", class, x, y);
}

void svg_text(FILE *file, const char *class, double x, double y, const char *anchor,
	      const char *text)
{
	(void)fprintf(file, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", class,
		      x, y, anchor);
	svg_escape(file, text);
	(void)fputs("</text>\n", file);
}
