#pragma once

/* What a program that is attached answers when it is asked for a report: base/page.h. */

#include <stddef.h>

#include "base/page.h"
#include "swansong/end/report-private.h"

/*
 * Writes the message about the tree below @root to @buf, without NUL; returns its length.  Places
 * come with the oldest guard first, as many as there is room for.  Guards whose place is not known
 * are left out: that they are there is in the page.
 */
size_t attach_report(struct swansong *root, char buf[static PAGE_MESSAGE_MAX]);
