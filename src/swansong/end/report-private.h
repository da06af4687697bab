#pragma once

/* Reports, for the other files of the library. */

#include <swansong/report.h>

/* swansong_report() for a node that needs no reference. */
int report_new(struct swansong *s, struct swansong_report **ret);
