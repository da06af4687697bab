/*
 * An outage is a span that has no end until the line of the next cause, or of the service that is ready
 * again.
 */
#include "proto/history/ledger.h"

/* Returns the outage that goes on, or NULL. */
static struct ledger_span *ledger_open(const struct ledger *ledger)
{
	struct ledger_span *last = ledger->n > 0 ? &ledger->spans[ledger->n - 1] : NULL;

	return last && last->until_usec == FIELD_NONE ? last : NULL;
}

/* Ends the present outage at @usec; a @cause of an outage begins one.  Return: 0 or -ENOMEM. */
static int ledger_enter(struct ledger *ledger, enum outage cause, uint64_t usec)
{
	struct ledger_span *open = ledger_open(ledger);

	if (open && open->cause == cause)
		return 0;
	if (open) /* the clock may have been set back */
		open->until_usec = MAX(open->from_usec, usec);
	if (cause == OUTAGE_OVER || cause == OUTAGE_REMOVED)
		return 0;
	return array_append(ledger->spans, ledger->n,
			    (struct ledger_span){ usec, FIELD_NONE, cause });
}

int ledger_add_unknown(struct ledger *ledger, uint64_t usec)
{
	if (!ledger->since_usec || ledger_open(ledger) || ledger->until_usec != FIELD_NONE)
		return 0;
	return ledger_enter(ledger, OUTAGE_UNKNOWN, usec);
}

int ledger_add(struct ledger *ledger, enum outage outage, uint64_t usec)
{
	int r = 0;

	if (!ledger->since_usec)
		ledger->since_usec = usec;
	else if (ledger->until_usec != FIELD_NONE) /* its section is back */
		r = ledger_enter(ledger, OUTAGE_PLANNED, ledger->until_usec);
	ledger->until_usec = outage == OUTAGE_REMOVED ? usec : FIELD_NONE;
	return r < 0 ? r : ledger_enter(ledger, outage, usec);
}

/* --- sums --- */

/* Cuts @span to @sum; returns false if no part of it is in that. */
static bool ledger_cut(const struct ledger_sum *sum, struct ledger_span *span)
{
	span->from_usec = MAX(span->from_usec, sum->since_usec);
	span->until_usec = MIN(span->until_usec, sum->until_usec);
	return span->from_usec <= span->until_usec;
}

void ledger_add_up(const struct ledger *ledger, uint64_t since_usec, uint64_t until_usec,
		   struct ledger_sum *ret)
{
	uint64_t since = MAX(ledger->since_usec, since_usec);
	uint64_t until = MIN(ledger->until_usec, until_usec);

	*ret = (struct ledger_sum){ .since_usec = since, .until_usec = MAX(since, until) };
	ret->known_usec = ret->ready_usec = ret->until_usec - since;
	for (size_t i = 0; i < ledger->n; i++) {
		struct ledger_span span = ledger->spans[i];
		uint64_t usec;

		if (!ledger_cut(ret, &span))
			continue;
		usec = MIN(span.until_usec - span.from_usec, ret->ready_usec);
		ret->causes[span.cause].n++;
		ret->causes[span.cause].usec += usec;
		ret->causes[span.cause].longest_usec =
			MAX(ret->causes[span.cause].longest_usec, usec);
		ret->ready_usec -= usec;
		ret->known_usec -= span.cause == OUTAGE_UNKNOWN ? usec : 0;
	}
}

static json_t *ledger_build_spans(const struct ledger *ledger, const struct ledger_sum *sum)
{
	json_t *spans = json_array();

	for (size_t i = 0; i < ledger->n; i++) {
		struct ledger_span span = ledger->spans[i];

		if (ledger_cut(sum, &span))
			(void)json_array_append_new(
				spans, json_pack("{s:I, s:I, s:s}", "from_usec",
						 (json_int_t)span.from_usec, "until_usec",
						 (json_int_t)span.until_usec, "cause",
						 history_outages[span.cause]));
	}
	return spans;
}

json_t *ledger_build(const struct ledger *ledger, const char *node, uint64_t since_usec,
		     uint64_t until_usec)
{
	cleanup(json_decrefp) json_t *causes = json_object();
	struct ledger_sum sum;

	ledger_add_up(ledger, since_usec, until_usec, &sum);
	for (enum outage cause = OUTAGE_PLANNED; cause <= OUTAGE_UNKNOWN; cause++)
		if (json_object_set_new(
			    causes, history_outages[cause],
			    json_pack("{s:I, s:I, s:I}", "outages", (json_int_t)sum.causes[cause].n,
				      "total_usec", (json_int_t)sum.causes[cause].usec,
				      "longest_usec", (json_int_t)sum.causes[cause].longest_usec)) <
		    0)
			return NULL;
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:O, s:o}", "node", node, "since_usec",
			 (json_int_t)sum.since_usec, "until_usec", (json_int_t)sum.until_usec,
			 "known_usec", (json_int_t)sum.known_usec, "ready_usec",
			 (json_int_t)sum.ready_usec, "causes", causes, "outages",
			 ledger_build_spans(ledger, &sum));
}
