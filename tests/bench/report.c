#include "report.h"

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"

void report_init(struct report *report, bool json)
{
	*report = (struct report){ .json = json };
	if (json)
		report->tables = json_array();
}

void report_begin(struct report *report, const char *title)
{
	if (!report->json) {
		(void)printf("\n%s\n\n%-44s %10s %10s %7s %10s  %s\n", title, "", "measured",
			     "floor", "ratio", "target", "reached");
		return;
	}
	report->figures = json_array();
	if (json_array_append_new(report->tables, json_pack("{s:s, s:o}", "title", title, "figures",
							    report->figures)) < 0)
		errx(EXIT_FAILURE, "out of memory");
}

/* As many digits as are worth reading. */
static const char *number(char buf[static 32], double value)
{
	double size = fabs(value);

	if (isnan(value))
		return "-";
	(void)snprintf(buf, 32, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : 2, value);
	return buf;
}

/* A ratio counts as far as it is shown: smaller differences are none. */
static bool is_met(const struct figure *f)
{
	if (f->kind == TARGET_NONE || isnan(f->measured))
		return true;
	return f->kind == TARGET_RATIO ? f->measured / f->floor < f->target + 0.005
				       : f->measured <= f->target;
}

static bool is_beyond(const struct figure *f)
{
	return f->bound > 0 && (isnan(f->floor) ? f->measured : f->measured / f->floor) > f->bound;
}

static void print(const struct figure *f)
{
	char name[80], measured[32], floor_text[32], ratio[32], target[32];
	const char *unit = f->kind == TARGET_RATIO ? " x" : "";

	(void)snprintf(name, sizeof(name), "%s, %s", f->name, f->unit);
	(void)printf("%-44s %10s %10s %7s", name, number(measured, f->measured),
		     number(floor_text, f->floor), number(ratio, f->measured / f->floor));
	if (f->kind != TARGET_NONE)
		(void)printf(" %*s%s  %s", 10 - (int)strlen(unit), number(target, f->target), unit,
			     is_met(f) ? "yes" : "NO");
	if (is_beyond(f))
		(void)printf("  BEYOND its bound, %s", number(target, f->bound));
	(void)printf("\n");
	(void)fflush(stdout);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

void report_add(struct report *report, struct figure f)
{
	static const char *const kinds[] = {
		[TARGET_NONE] = NULL,
		[TARGET_RATIO] = "ratio",
		[TARGET_MEASURED] = "measured",
	};

	report->failed |= is_beyond(&f);
	if (!report->json) {
		print(&f);
		return;
	}
	if (json_array_append_new(
		    report->figures,
		    json_pack("{s:s, s:s, s:o, s:o, s:o, s:s?, s:o, s:b, s:o}", "name", f.name,
			      "unit", f.unit, "measured", real(f.measured), "floor", real(f.floor),
			      "ratio", real(f.measured / f.floor), "target_of", kinds[f.kind],
			      "target", f.kind == TARGET_NONE ? json_null() : json_real(f.target),
			      "met", is_met(&f), "bound",
			      f.bound > 0 ? json_real(f.bound) : json_null())) < 0)
		errx(EXIT_FAILURE, "out of memory");
}

int report_end(struct report *report)
{
	if (report->json) {
		(void)json_dumpf(report->tables, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		(void)printf("\n");
		json_decref(report->tables);
	}
	return fflush(stdout) == 0 && !report->failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t now_nsec(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double percentile(double *values, size_t n, double fraction)
{
	qsort(values, n, sizeof(*values), compare);
	return values[MIN(n - 1, (size_t)((double)n * fraction))];
}
