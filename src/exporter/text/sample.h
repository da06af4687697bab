#pragma once

/* Families of samples, in the text format of Prometheus or in OpenMetrics. */

#include "base/std.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

struct samples {
	FILE *to;
	enum metrics_format format;
	const char *family; /* the name; of a counter, without _total */
	const char *suffix; /* of its samples; those of a histogram set it */
};

/* The format that a client asks for by its header Accept, or NULL. */
enum metrics_format metrics_accepted(const char *accept);

/* "text/plain; version=0.0.4; charset=utf-8" */
const char *metrics_type(enum metrics_format format);

/* Begins a family.  @type: as in OpenMetrics, "gauge", "counter", "histogram" or "info". */
void samples_begin(struct samples *samples, const char *family, const char *type, const char *help);

void samples_end(struct samples *samples);

/* Writes a sample, with the labels in @labels and @label, unless they are NULL. */
void sample_add(struct samples *samples, const char *labels, const char *label, const char *value,
		uint64_t number);
void sample_add_usec(struct samples *samples, const char *labels, const char *label,
		     const char *value, uint64_t usec); /* in seconds */

/* Returns the label node="PATH" for @labels, to be freed by free(); NULL: out of memory. */
char *sample_label(const char *path);
