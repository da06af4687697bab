#include "model/life/budget.h"

#define MARGIN_LEAST_USEC USEC_PER_SEC
#define MARGIN_PART	  20
#define SHARE_PART	  3

uint64_t budget_of_grace(uint64_t grace_usec)
{
	uint64_t margin = grace_usec / MARGIN_PART;

	if (grace_usec == USEC_INFINITY)
		return USEC_INFINITY;
	if (margin < MARGIN_LEAST_USEC)
		margin = MARGIN_LEAST_USEC;
	return grace_usec - MIN(margin, grace_usec / SHARE_PART);
}

uint64_t budget_before(uint64_t deadline_usec, uint64_t now_usec, uint64_t wanted_usec)
{
	if (deadline_usec == USEC_INFINITY || deadline_usec <= now_usec)
		return deadline_usec;
	return deadline_usec - MIN(wanted_usec, (deadline_usec - now_usec) / SHARE_PART);
}

uint64_t budget_needed(uint64_t timeout_usec, uint64_t deadline_usec, uint64_t own_usec)
{
	uint64_t later = own_usec > deadline_usec ? own_usec - deadline_usec : 0;

	return timeout_usec > later ? timeout_usec - later : 0;
}

uint64_t budget_stop_limit(const struct stop_times *t)
{
	uint64_t drained = clock_add(t->began_usec, t->drain_timeout_usec);
	uint64_t from = MIN(t->idle_usec, drained);
	uint64_t end;

	if (from < t->began_usec)
		from = t->began_usec;
	end = clock_add(from, t->stop_timeout_usec);
	return t->busy && drained > end ? drained : end;
}
