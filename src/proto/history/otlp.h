#pragma once

/*
 * The report of a shutdown as spans of OpenTelemetry: the JSON of OTLP, as a collector takes it at
 * /v1/traces.  The shutdown is one trace: a span for each node below that of the node that it is in,
 * and below it a span for each state of its service and for each guard.
 *
 * A start in the form of a report is one trace, too: a span for each attempt, and below it one for each
 * state until the service was up.
 */

#include "proto/report.h"

/*
 * The identifiers follow from the report, so that a report that is sent twice is one trace.  Returns a
 * new object; NULL: out of memory.
 */
enum otlp_kind { OTLP_SHUTDOWN, OTLP_START };
json_t *otlp_build(const struct report *report, enum otlp_kind kind);
