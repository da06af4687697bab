/*
 * A report is a copy of the records of the subtree, sorted by site, merged, and sorted by age.
 *
 * A guard is counted before it is recorded, and its record is removed before its count.  So the
 * count is read first: a guard that is recorded, but was not yet counted at that moment, is known
 * all the same, and does not make other guards unknown.
 */
#include "swansong/end/report-private.h"

#include "swansong/count/misuse-private.h"
#include "swansong/count/node-private.h"
#include "swansong/base/record-private.h"

int swansong_report_enable(struct swansong *s)
{
	struct records *records;

	misuse_of_node(s);
	records = records_new();
	if (!records)
		return -ENOMEM;
	(void)records_free(node_track(s, records));
	return 0;
}

static bool report_is_below(const struct record *record, const void *arg)
{
	return node_is_within(record->node, arg);
}

static int report_compare_sites(const struct record *a, const struct record *b)
{
	int r = strcmp(a->file, b->file);

	if (r == 0)
		r = (a->line > b->line) - (a->line < b->line);
	return r == 0 ? strcmp(a->function, b->function) : r;
}

/* Orders records by site, the oldest of a site first. */
static int report_compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int r = report_compare_sites(x, y);

	return r == 0 ? (x->since_usec > y->since_usec) - (x->since_usec < y->since_usec) : r;
}

static int report_compare_ages(const void *a, const void *b)
{
	const struct swansong_report_site *x = a, *y = b;

	return (x->oldest < y->oldest) - (x->oldest > y->oldest);
}

/* Merges @records, which are sorted, to @sites.  Returns the number of sites. */
static size_t report_merge_records(const struct record *records, size_t n,
				   struct swansong_report_site *sites)
{
	uint64_t now = clock_now_usec();
	size_t n_sites = 0;

	for (size_t k = 0; k < n; k++) {
		const struct record *r = &records[k];

		if (k == 0 || report_compare_sites(r, r - 1) != 0)
			sites[n_sites++] = (struct swansong_report_site){
				.file = r->file,
				.function = r->function,
				.line = r->line,
				.oldest = now - r->since_usec,
			};
		sites[n_sites - 1].guards++;
	}
	qsort(sites, n_sites, sizeof(*sites), report_compare_ages);
	return n_sites;
}

int report_new(struct swansong *s, struct swansong_report **ret)
{
	cleanup(freep) struct record *copy = NULL;
	struct swansong_report_site *sites;
	struct swansong_report *report;
	struct records *records;
	uint64_t guards;
	size_t n = 0;

	records = node_records(s);
	guards = node_guard_count(s);
	if (records && records_copy(records, report_is_below, s, &copy, &n) < 0)
		return -ENOMEM;
	report = malloc(sizeof(*report) + n * sizeof(*sites)); /* less than the copy */
	if (!report)
		return -ENOMEM;
	sites = (struct swansong_report_site *)(report + 1);
	array_sort(copy, n, report_compare_records);
	*report = (struct swansong_report){
		.guards = guards > n ? guards : n,
		.unknown = guards > n ? guards - n : 0,
		.n = report_merge_records(copy, n, sites),
		.sites = sites,
	};
	*ret = report;
	return 0;
}

int swansong_report(struct swansong *s, struct swansong_report **ret)
{
	misuse_of_node(s);
	return report_new(s, ret);
}

static void report_write(const struct swansong_report *report, FILE *f)
{
	const char *separator = ": ";

	(void)fprintf(f, "%" PRIu64 " outstanding guard%s", report->guards,
		      report->guards == 1 ? "" : "s");
	for (size_t k = 0; k < report->n; k++) {
		const struct swansong_report_site *site = &report->sites[k];
		char age[CLOCK_TEXT_MAX];

		(void)fprintf(f, "%s%" PRIu64 " x %s:%u (oldest %s)", separator, site->guards,
			      site->file, site->line, clock_text(age, site->oldest));
		separator = ", ";
	}
	if (report->unknown)
		(void)fprintf(f, "%s%" PRIu64 " x unknown", separator, report->unknown);
}

int swansong_report_text(const struct swansong_report *report, char **ret)
{
	struct memstream m;
	int r = memstream_open(&m);

	if (r < 0)
		return r;
	report_write(report, m.file);
	return memstream_close(&m, ret);
}

struct swansong_report *swansong_report_free(struct swansong_report *report)
{
	return free_memory(report);
}
