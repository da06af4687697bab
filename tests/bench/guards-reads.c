/*
 * A read that waits: each byte comes back from another thread on the same processor, which runs only
 * when the reader sleeps.  The floor is the same with read(2).
 */
#include "guards.h"

#include <err.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURNS  2000
#define ROUNDS 30

struct echo {
	int in, out;			      /* of the thread */
	int to, from;			      /* of the reader */
	struct swansong_interrupt *interrupt; /* NULL: read(2) */
};

static void *echo_thread(void *arg)
{
	struct echo *e = arg;
	char byte;

	while (read(e->in, &byte, 1) == 1)
		if (write(e->out, &byte, 1) != 1)
			break;
	return NULL;
}

static double take_turns(struct echo *e)
{
	uint64_t begun = now_nsec();

	for (unsigned i = 0; i < TURNS; i++) {
		char byte = 0;
		ssize_t n = write(e->to, &byte, 1);

		if (n == 1 && e->interrupt)
			n = swansong_interrupt_read(e->interrupt, e->from, &byte, 1);
		else if (n == 1)
			n = read(e->from, &byte, 1);
		if (n != 1)
			errx(EXIT_FAILURE, "the echo fails");
	}
	return (double)(now_nsec() - begun) / TURNS;
}

static void report_echo(struct report *report, const char *name, struct echo *e,
			struct swansong_interrupt *interrupt)
{
	pthread_t thread = start_thread(echo_thread, e);
	double best = INFINITY, floor = INFINITY;

	for (unsigned i = 0; i < ROUNDS; i++) {
		e->interrupt = interrupt;
		best = fmin(best, take_turns(e));
		e->interrupt = NULL;
		floor = fmin(floor, take_turns(e));
	}
	(void)close(e->to);
	(void)pthread_join(thread, NULL);
	report_add(report, (struct figure){ name, "ns", best, floor, TARGET_NONE, 0 });
	if (e->from != e->to)
		(void)close(e->from);
	if (e->out != e->in)
		(void)close(e->out);
	(void)close(e->in);
}

/* This thread, and those that it starts. */
static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		err(EXIT_FAILURE, "sched_setaffinity");
}

void report_reads(struct report *report)
{
	struct swansong *root = new_root();
	struct swansong_interrupt *interrupt;
	int socket[2], there[2], back[2];
	cpu_set_t all;

	if (swansong_interrupt_new(root, &interrupt) < 0 ||
	    sched_getaffinity(0, sizeof(all), &all) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, socket) < 0 || pipe(there) < 0 || pipe(back) < 0)
		err(EXIT_FAILURE, "cannot begin");
	stay_on_one_processor();
	report_echo(report, "interrupt_read that waits, socket; floor: read",
		    &(struct echo){ socket[1], socket[1], socket[0], socket[0], NULL }, interrupt);
	report_echo(report, "interrupt_read that waits, pipe; floor: read",
		    &(struct echo){ there[0], back[1], there[1], back[0], NULL }, interrupt);
	(void)sched_setaffinity(0, sizeof(all), &all);
	(void)swansong_interrupt_unref(interrupt);
	(void)swansong_unref(root);
}
