#pragma once

/* Families of samples, in the text format of Prometheus or in OpenMetrics. */

#include <stdint.h>
#include <stdio.h>

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

struct samples {
	FILE *to;
	enum metrics_format format;
	const char *family; /* the name; of a counter, without _total */
};

/* The format that a client asks for by its header Accept, or NULL. */
enum metrics_format metrics_accepted(const char *accept);

/* "text/plain; version=0.0.4; charset=utf-8" */
const char *metrics_type(enum metrics_format format);

/* Begins a family.  @type: as in OpenMetrics, "gauge", "counter", "histogram" or "info". */
void samples_begin(struct samples *samples, const char *family, const char *type, const char *help);

/* Ends the text. */
void samples_end(struct samples *samples);

/*
 * Writes the name of a sample: the family, @suffix, and unless they are NULL the labels in @labels
 * and @label.  Its value follows, by one of the functions below.
 */
void sample_name(struct samples *samples, const char *suffix, const char *labels, const char *label,
		 const char *value);
void sample_number(struct samples *samples, uint64_t number);
void sample_usec(struct samples *samples, uint64_t usec); /* in seconds */

/* Returns the label node="PATH" for @labels, to be freed by free(); NULL: out of memory. */
char *sample_label(const char *path);
