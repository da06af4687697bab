#pragma once

/*
 * Pieces of an SVG. All text that is written is escaped: for XML, and for the eye as everywhere (base/text.h).
 * The width of a text is an estimate, too large for most fonts.
 */

#include "base/std.h"

/* The width of @text in units of the font's size. */
double svg_width(const char *text);

/* Writes the text, as character data or the value of an attribute, cut to about @width units of the font's size. */
void svg_escape_cut(FILE *file, const char *text, double width);

/* <title>: shown when the pointer is on the element around it. */
void svg_title(FILE *file, const char *format, ...) printf_like(2, 3);

void svg_rect(FILE *file, const char *class, double x, double y, double width, double height);
void svg_line(FILE *file, const char *class, double x1, double y1, double x2, double y2);

/* A diamond, 8 high, that begins at its top. */
void svg_diamond(FILE *file, const char *class, double x, double y);

/* @anchor: "start", "middle" or "end". */
void svg_text(FILE *file, const char *class, double x, double y, const char *anchor,
	      const char *text);
