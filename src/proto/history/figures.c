/*
 * Samples are collected as they come and sorted once.  The pid of a client is no part of a reason, so
 * that requests count together.
 */
#include "proto/history/figures.h"

#include "proto/history/reader.h"

#define REASONS_MAX 32 /* a service has few, but a file may have anything */

/* --- samples --- */

static int samples_add(struct samples *samples, uint64_t usec)
{
	return array_append(samples->usec, samples->n, usec);
}

static int figures_compare_usec(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void samples_sort(const struct samples *samples)
{
	array_sort(samples->usec, samples->n, figures_compare_usec);
}

uint64_t samples_percentile(const struct samples *samples, unsigned permille)
{
	size_t rank = (samples->n * permille + 999) / 1000;

	if (samples->n == 0)
		return 0;
	return samples->usec[rank == 0 ? 0 : rank - 1];
}

size_t samples_count(const struct samples *samples, uint64_t usec)
{
	size_t low = 0, high = samples->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (samples->usec[middle] <= usec)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- one node --- */

DEFINE_DICT_NAME(figures_name, struct figures, node)

static int history_get(struct history *h, const char *node, struct figures **ret)
{
	struct figures *f = dict_find(&h->by_path, node);
	size_t length = strlen(node) + 1;

	if (f) {
		*ret = f;
		return 0;
	}
	if (array_reserve(h->nodes, h->n) < 0)
		return -ENOMEM;
	f = calloc(1, sizeof(*f) + length);
	if (!f)
		return -ENOMEM;
	f->node = memcpy(f + 1, node, length);
	if (dict_add(&h->by_path, f) < 0) {
		free(f);
		return -ENOMEM;
	}
	h->nodes[h->n++] = *ret = f;
	return 0;
}

/* Returns the index of the reason, or that behind the last. */
static size_t figures_find_reason(const struct figures *f, const char *why, size_t length)
{
	size_t i = 0;

	while (i < f->n_reasons &&
	       (strncmp(f->reasons[i].text, why, length) != 0 || f->reasons[i].text[length]))
		i++;
	return i;
}

static int figures_add_reason(struct figures *f, const char *why, const char **ret)
{
	/* "asked by pid 7, uid 0: nightly" counts as "asked". */
	const char *pid = strstr(why, " by pid ");
	size_t length = pid ? (size_t)(pid - why) : strlen(why);
	size_t i = figures_find_reason(f, why, length);
	struct figures_reason *reason;

	if (i == f->n_reasons && i >= REASONS_MAX) {
		why = "other reasons";
		length = strlen(why);
		i = figures_find_reason(f, why, length);
	}
	if (i < f->n_reasons) {
		f->reasons[i].n++;
		*ret = f->reasons[i].text;
		return 0;
	}
	if (array_reserve(f->reasons, i) < 0)
		return -ENOMEM;
	reason = &f->reasons[i];
	*reason = (struct figures_reason){ strndup(why, length), 1 };
	if (!reason->text)
		return -ENOMEM;
	f->n_reasons++;
	*ret = reason->text;
	return 0;
}

/* A service gets no signal if its last process has ended by itself. */
static int figures_add_phases(struct figures *f, const struct history_phases *p)
{
	bool busy = p->draining_usec > 0, idle = p->stopping_usec > 0;
	int r = 0;

	if (!busy && !idle && p->killing_usec == 0)
		return 0;
	r = samples_add(&f->own, clock_add(clock_add(p->delay_usec, p->draining_usec),
					   clock_add(clock_add(p->stopping_usec, p->killing_usec),
						     p->closing_usec)));
	if (r == 0 && busy)
		r = samples_add(&f->draining, p->draining_usec);
	if (r == 0 && (idle || !busy))
		r = samples_add(&f->stopping, p->stopping_usec);
	if (p->killing_usec > 0)
		*(busy && !idle ? &f->n_draining_killed : &f->n_stopping_killed) += 1;
	return r;
}

/* An outage of the root is one of all services since the line at @before. */
static int history_add_outage(struct history *h, const struct history_line *line, uint64_t before)
{
	struct figures *f;
	int r = 0;

	if (!*line->node) {
		for (size_t i = 0; i < h->n && r == 0; i++)
			r = ledger_add_unknown(&h->nodes[i]->ledger, before);
		return r;
	}
	r = history_get(h, line->node, &f);
	return r < 0 ? r : ledger_add(&f->ledger, line->outage, line->time_usec);
}

static int history_add(const struct history_line *line, void *arg)
{
	struct history *h = arg;
	uint64_t before = h->last_usec;
	struct figures_end *end;
	struct figures *f;
	int r;

	h->last_usec = line->time_usec;
	if (line->outage)
		return history_add_outage(h, line, before);
	r = history_get(h, line->node, &f);
	if (r < 0)
		return r;
	f->first_usec = f->n == 0 ? line->time_usec : MIN(f->first_usec, line->time_usec);
	f->last_usec = MAX(f->last_usec, line->time_usec);
	end = &f->last[f->n++ % FIGURES_LAST];
	*end = (struct figures_end){ line->time_usec, line->total_usec, line->forced, "" };
	f->n_forced += line->forced;
	r = samples_add(&f->total, line->total_usec);
	if (r == 0)
		r = figures_add_reason(f, line->why, &end->why);
	return r == 0 && line->has_phases ? figures_add_phases(f, &line->phases) : r;
}

/* --- all --- */

static int figures_compare_reasons(const void *a, const void *b)
{
	const struct figures_reason *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->text, y->text);
}

static int figures_compare_nodes(const void *a, const void *b)
{
	return strcmp((*(struct figures *const *)a)->node, (*(struct figures *const *)b)->node);
}

int history_load(struct history **ret, const char *path, uint64_t size_max)
{
	struct history *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	dict_init(&h->by_path, figures_name);
	r = history_read(path, size_max, history_add, h, &h->skipped);
	if (r < 0) {
		history_free(h);
		return r;
	}
	for (size_t i = 0; i < h->n; i++) {
		struct figures *f = h->nodes[i];

		samples_sort(&f->total);
		samples_sort(&f->own);
		samples_sort(&f->stopping);
		samples_sort(&f->draining);
		array_sort(f->reasons, f->n_reasons, figures_compare_reasons);
	}
	array_sort(h->nodes, h->n, figures_compare_nodes);
	*ret = h;
	return 0;
}

struct history *history_free(struct history *h)
{
	if (!h)
		return NULL;
	dict_done(&h->by_path);
	for (size_t i = 0; i < h->n; i++) {
		struct figures *f = h->nodes[i];

		for (size_t k = 0; k < f->n_reasons; k++)
			free(f->reasons[k].text);
		free(f->reasons);
		free(f->total.usec);
		free(f->own.usec);
		free(f->stopping.usec);
		free(f->draining.usec);
		free(f->ledger.spans);
		free(f);
	}
	free(h->nodes);
	return free_memory(h);
}

const struct figures *history_find(const struct history *h, const char *node)
{
	return dict_find(&h->by_path, node);
}

/* --- JSON --- */

static json_t *figures_build_reasons(const struct figures *f)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < f->n_reasons; i++)
		(void)json_array_append_new(
			reasons, json_pack("{s:o, s:I}", "why", message_string(f->reasons[i].text),
					   "ends", (json_int_t)f->reasons[i].n));
	return reasons;
}

static json_int_t figures_percentile(const struct figures *f, unsigned permille)
{
	return (json_int_t)samples_percentile(&f->total, permille);
}

json_t *figures_build(const struct figures *f)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "node", f->node, "ends",
			 (json_int_t)f->n, "forced", (json_int_t)f->n_forced, "p50_usec",
			 figures_percentile(f, 500), "p99_usec", figures_percentile(f, 990),
			 "longest_usec", figures_percentile(f, 1000), "first_usec",
			 (json_int_t)f->first_usec, "last_usec", (json_int_t)f->last_usec,
			 "reasons", figures_build_reasons(f));
}

json_t *figures_build_last(const struct figures *f)
{
	json_t *ends = json_array();

	for (size_t i = f->n - MIN(f->n, FIGURES_LAST); i < f->n; i++) {
		const struct figures_end *end = &f->last[i % FIGURES_LAST];

		(void)json_array_append_new(
			ends,
			json_pack("{s:I, s:I, s:b, s:o}", "time_usec", (json_int_t)end->time_usec,
				  "total_usec", (json_int_t)end->total_usec, "forced", end->forced,
				  "why", message_string(end->why)));
	}
	return ends;
}
