#pragma once

/* Text that is put together in a buffer.  Text without room is cut. */

#include "base/std.h"

struct words {
	char *buf;
	size_t size, used;
};

/* @buf is empty then. */
struct words words_in(char *buf, size_t size);

/* Adds the text, behind @separator unless it is the first one. */
void words_add(struct words *words, const char *separator, const char *format, ...)
	printf_like(3, 4);
