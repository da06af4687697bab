#pragma once

/* The files of the page, which the build puts into the program. */

#include "base/std.h"

struct page_file {
	const char *name; /* "style.css" */
	const char *type; /* "text/css; charset=utf-8" */
	const char *text;
	size_t size;
};

/* Returns NULL if there is no such file. */
const struct page_file *page_find(const char *name);
