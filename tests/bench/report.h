#pragma once

/*
 * The results of a benchmark: figures, each beside that of a floor of the same run, which has done
 * the same with nothing around it.  The machine's speed and load cancel out in the ratio, and so
 * it is the ratio that can be compared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* The upper bound that is wanted for a figure; shown to the reader, no run fails by it. */
enum target_kind { TARGET_NONE, TARGET_RATIO, TARGET_MEASURED };

struct figure {
	const char *name, *unit;
	double measured;
	double floor; /* NAN: there is none */
	enum target_kind kind;
	double target;
	double bound; /* 0: none; of the ratio, or without a floor of the figure: beyond it the program fails */
};

struct report {
	bool json;
	json_t *tables;	 /* with json: all so far */
	json_t *figures; /* of the present table, which has it */
	bool failed;	 /* a figure is beyond its bound */
};

void report_init(struct report *report, bool json);

/* Begins a table; @title names the measurement and its tool. */
void report_begin(struct report *report, const char *title);
void report_add(struct report *report, struct figure figure);

/* The end of the output.  Return: the exit status of the program: 1 if a figure is beyond its bound. */
int report_end(struct report *report);

uint64_t now_nsec(void); /* CLOCK_MONOTONIC */

/* Sorts @values.  @fraction 0.5: the median; @n is not 0. */
double percentile(double *values, size_t n, double fraction);
