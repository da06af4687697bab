/*
 * The entries of a plan are in the order of their signals, so that an entry waits only for entries
 * before it.  In a large plan, and if the plan names only some of the nodes that an entry waits for, it
 * waits for all entries of earlier steps: that takes longer, and never less.
 */
#include "ctl/history/expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "ctl/terminal/show.h"
#include "proto/history/advice.h"

#define EXACT_MAX 1000

struct step {
	const struct samples *samples; /* NULL: too few */
	uint64_t worst_usec, end_usec;
	size_t *before; /* the entries that it waits for */
	size_t n_before;
};

struct expect {
	const struct plan_entry_view *entries;
	struct step *steps;
	size_t n;
	uint64_t random;
};

static bool expect_is_final(const struct plan_entry_view *entry)
{
	return strcmp(entry->kind, "final") == 0;
}

const struct samples *expect_samples(const struct history *history,
				     const struct plan_entry_view *entry)
{
	const struct figures *f =
		expect_is_final(entry) ? NULL : history_find(history, entry->node);

	return f && f->own.n >= ADVICE_ENDS ? &f->own : NULL;
}

static bool expect_waits_for(const struct expect *x, size_t entry, size_t before)
{
	const struct plan_entry_view *e = &x->entries[entry], *b = &x->entries[before];
	size_t i;
	json_t *wait;

	if (expect_is_final(e))
		return text_is_within(b->node, e->node);
	if (e->more_waits != FIELD_NONE || x->n > EXACT_MAX)
		return b->step < e->step;
	json_array_foreach (e->waits, i, wait) {
		if (text_is_within(b->node, json_string_value(wait)))
			return true;
	}
	return false;
}

static int expect_init_step(struct expect *x, size_t entry, const struct history *history)
{
	const struct plan_entry_view *e = &x->entries[entry];
	struct step *step = &x->steps[entry];

	step->samples = expect_samples(history, e);
	step->worst_usec = e->end_usec == USEC_INFINITY || e->begin_usec > e->end_usec
				   ? USEC_INFINITY
				   : e->end_usec - e->begin_usec;
	step->before = calloc(entry + 1, sizeof(*step->before));
	for (size_t i = 0; step->before && i < entry; i++)
		if (expect_waits_for(x, entry, i))
			step->before[step->n_before++] = i;
	return step->before ? 0 : -ENOMEM;
}

static void expect_done(struct expect *x)
{
	for (size_t i = 0; x->steps && i < x->n; i++)
		free(x->steps[i].before);
	free(x->steps);
}

/* xorshift64, by Marsaglia. */
static uint64_t expect_draw_number(struct expect *x, uint64_t below)
{
	x->random ^= x->random << 13;
	x->random ^= x->random >> 7;
	x->random ^= x->random << 17;
	return x->random % below;
}

static uint64_t expect_draw_end(struct expect *x)
{
	uint64_t last = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct step *step = &x->steps[i];
		uint64_t begin = 0, usec = step->worst_usec;

		if (step->samples)
			usec = step->samples->usec[expect_draw_number(x, step->samples->n)];
		for (size_t k = 0; k < step->n_before; k++)
			begin = MAX(begin, x->steps[step->before[k]].end_usec);
		step->end_usec = clock_add(begin, usec);
		last = MAX(last, step->end_usec);
	}
	return last;
}

int expect_plan(const struct history *history, const struct plan_entry_view *entries, size_t n,
		uint64_t worst_usec, uint64_t grace_usec, struct expectation *ret)
{
	cleanup(expect_done) struct expect x = {
		.entries = entries,
		.n = n,
		.steps = calloc(n + 1, sizeof(*x.steps)),
		.random = 1,
	};
	uint64_t usec[EXPECT_DRAWS];
	const struct samples all = { .usec = usec, .n = EXPECT_DRAWS };
	int r = x.steps ? 0 : -ENOMEM;

	*ret = (struct expectation){ .n = n };
	for (size_t i = 0; i < n && r == 0; i++) {
		r = expect_init_step(&x, i, history);
		ret->n_unknown += !x.steps[i].samples;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < EXPECT_DRAWS; i++)
		usec[i] = MIN(expect_draw_end(&x), worst_usec);
	samples_sort(&all);
	ret->p50_usec = samples_percentile(&all, 500);
	ret->p99_usec = samples_percentile(&all, 990);
	ret->n_fitting = samples_count(&all, grace_usec);
	return 0;
}

void expect_print(struct ctl *ctl, const struct expectation *x, uint64_t grace_usec)
{
	char p50[CLOCK_TEXT_MAX], p99[CLOCK_TEXT_MAX], grace[CLOCK_TEXT_MAX], text[SHOW_NOTE_MAX];
	struct words w = words_in(text, sizeof(text));

	words_add(&w, "", "by past ends: p50 %s, p99 %s", clock_text(p50, x->p50_usec),
		  clock_text(p99, x->p99_usec));
	if (grace_usec != USEC_INFINITY)
		words_add(&w, "; ", "fits %s in %zu of %d draws", clock_text(grace, grace_usec),
			  x->n_fitting, EXPECT_DRAWS);
	if (x->n_unknown)
		words_add(&w, "; ", "%zu of %zu steps have fewer than %d ends: worst case",
			  x->n_unknown, x->n, ADVICE_ENDS);
	ctl_print(ctl, "%s", text);
}

json_t *expect_json(const struct expectation *x)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "p50_usec",
			 (json_int_t)MIN(x->p50_usec, (uint64_t)INT64_MAX), "p99_usec",
			 (json_int_t)MIN(x->p99_usec, (uint64_t)INT64_MAX), "draws",
			 (json_int_t)EXPECT_DRAWS, "fitting", (json_int_t)x->n_fitting, "unknown",
			 (json_int_t)x->n_unknown);
}
