/*
 * A guard is a value, and looks like its copy.  Its record does not: the first drop removes the
 * record, and the second drop finds no record, or that of another guard.  The references that
 * remain are a number in the node, whose memory stays.  Of a wait, the waiting thread is known, and
 * so are the threads that have taken the held guards; the threads that will drop them are not.
 */
#include "swansong/count/misuse-private.h"

#include "swansong/base/cancel-private.h"
#include "swansong/base/record-private.h"

/* Time after which a wait for guards of the own thread is reported; most waits are over by then. */
#define PATIENCE_USEC (2 * USEC_PER_SEC)

_Noreturn void misuse_end(const char *function, const char *mistake)
{
	(void)cancel_disable();
	(void)dprintf(STDERR_FILENO, "libswansong: %s(): %s\n", function, mistake);
	abort();
}

/* Returns true if this thread has taken the guard, in the subtree of the node @arg. */
static bool misuse_is_own_record(const struct record *record, const void *arg)
{
	return pthread_equal(record->taker, thread_self()) && node_is_within(record->node, arg);
}

static void misuse_print(struct swansong *s, const char *function)
{
	cleanup(freep) struct record *own = NULL;
	struct records *records = node_records(s);
	size_t n = 0;

	if (!records || records_copy(records, misuse_is_own_record, s, &own, &n) < 0 || n == 0)
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
			misuse_print(s, function);
	}
	return wait(arg, deadline);
}
