#pragma once

/*
 * The tree as HTML, for the first sight of the page and for browsers without JavaScript.  All text
 * from outside is escaped.
 */

#include "exporter/mirror/copy.h"

/*
 * Returns one sentence about the tree as plain text: "3 of 4 services are up; web/api failed"; to be
 * freed by free().  NULL: out of memory.
 */
char *html_summary(const struct copy *copy, bool up);

/* Writes that sentence and a table with a row for each node. */
void html_tree(FILE *to, const struct copy *copy, bool up, uint64_t now_usec);
