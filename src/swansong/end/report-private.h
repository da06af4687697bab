#pragma once

/* Reports for the rest of the library. */

#include <swansong/report.h>

/* swansong_report(), also of a node that nobody has a reference to. */
int report_new(struct swansong *s, struct swansong_report **ret);
