/*
 * A guard is a value and cannot be told from its copy; its record can be: the first drop takes that
 * away, and the second finds it gone, or another guard's.  References that are left are a number in
 * the node, whose memory stays.  Of a wait it is known who waits, and who has taken the guards that
 * are held, but not who will drop them.
 */
#include "swansong/count/misuse-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "swansong/base/record-private.h"

/* After which it is said that somebody waits for himself; most waits are over by then. */
#define PATIENCE_USEC (2 * USEC_PER_SEC)

_Noreturn void misuse_end(const char *function, const char *mistake)
{
	(void)dprintf(STDERR_FILENO, "libswansong: %s(): %s\n", function, mistake);
	abort();
}

/* Taken by this thread, in the subtree of the node @arg. */
static bool record_is_own(const struct record *record, const void *arg)
{
	return pthread_equal(record->taker, thread_self()) && node_is_within(record->node, arg);
}

static void complain(struct swansong *s, const char *function)
{
	cleanup(freep) struct record *own = NULL;
	struct records *records = node_records(s);
	size_t n = 0;

	if (!records || records_copy(records, record_is_own, s, &own, &n) < 0 || n == 0)
		return;
	(void)dprintf(STDERR_FILENO,
		      "libswansong: %s() waits for %zu guard%s that its own thread has taken, "
		      "one in %s() at %s:%u\n",
		      function, n, n == 1 ? "" : "s", own[0].function, own[0].file, own[0].line);
}

void swansong_guard_adopt_(struct swansong *s, unsigned int record)
{
	if (MISUSE_IS_CAUGHT && record)
		records_adopt(s->tree->records, record);
}

int misuse_wait(int (*wait)(void *arg, uint64_t deadline), void *arg, uint64_t deadline,
		struct swansong *s, const char *function)
{
	if (MISUSE_IS_CAUGHT) {
		uint64_t soon = clock_add(clock_now_usec(), PATIENCE_USEC);

		if (soon < deadline && wait(arg, soon) == -ETIMEDOUT)
			complain(s, function);
	}
	return wait(arg, deadline);
}
