#pragma once

/* The answer of an attached program to a request for a report; see base/page.h. */

#include "base/page.h"
#include "swansong/end/report-private.h"

/*
 * Writes the message about the tree below @root to @buf, without NUL; returns its length.  The site
 * with the oldest guard comes first, and as many sites are written as there is room for.  Guards
 * with an unknown site are left out: the page has the number of all guards.
 */
size_t attach_report(struct swansong *root, char buf[static PAGE_MESSAGE_MAX]);
