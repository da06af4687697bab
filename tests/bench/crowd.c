/*
 * crowd: work of the daemon that grows with the number of its services, 5,000 and 20,000 in one group.
 *
 * usage: crowd [--builddir PATH] [--swansongd PATH]
 *
 * None of them runs: what is measured is the processor time of the daemon for a start, a status of all, a reload
 * that changes one service and an end.  Each is to grow with the number: of 4 times as many it may take 4 times as
 * long, and what compares each with all others takes 16 times as long.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon.h"
#include "report.h"
#include "world.h"

#define FEW	   5000
#define MANY	   20000
#define ROUNDS	   3
#define TIMES_MORE ((double)MANY / FEW)
#define BOUND	   (1.8 * TIMES_MORE)

enum part { PART_START, PART_STATUS, PART_RELOAD, PART_END, N_PARTS };

static const char *const names[] = {
	[PART_START] = "start of a group",
	[PART_STATUS] = "status of all",
	[PART_RELOAD] = "reload that changes one",
	[PART_END] = "shutdown",
};

struct group {
	size_t n;
	unsigned seconds; /* to stop: of the first service */
};

static void write_group(FILE *f, void *arg)
{
	const struct group *group = arg;

	(void)fputs("[group]\n", f);
	for (size_t i = 0; i < group->n; i++)
		(void)fprintf(f,
			      "[group/s%zu]\ncommand = /bin/true\nautostart = no\n"
			      "stop-timeout = %us\n",
			      i, i == 0 ? group->seconds : 10);
}

/* Of the daemon so far, in milliseconds. */
static double cpu_msec(const struct daemon *d)
{
	struct timespec time;
	clockid_t clock;

	errno = clock_getcpuclockid(d->subject.pid, &clock);
	if (errno != 0 || clock_gettime(clock, &time) < 0)
		err(EXIT_FAILURE, "the clock of swansongd");
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void measure(struct programs *programs, size_t n, double best[N_PARTS])
{
	struct group group = { .n = n, .seconds = 10 };
	double now[N_PARTS], before;
	struct daemon d;

	programs->arg = &group;
	(void)daemon_start(&d, programs, 0, NULL);
	now[PART_START] = before = cpu_msec(&d);
	if (daemon_count_nodes(&d) != n + 2)
		errx(EXIT_FAILURE, "the status is not that of all");
	now[PART_STATUS] = cpu_msec(&d) - before;
	before = cpu_msec(&d);
	group.seconds = 11;
	daemon_reload(&d, programs);
	now[PART_RELOAD] = cpu_msec(&d) - before;
	before = cpu_msec(&d);
	(void)daemon_stop(&d);
	now[PART_END] = (double)d.subject.cpu_usec / 1e3 - before;
	for (size_t i = 0; i < N_PARTS; i++)
		best[i] = fmin(best[i], now[i]);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "builddir", required_argument, NULL, 'b' },
		{ "swansongd", required_argument, NULL, 's' },
		{ 0 },
	};
	double few[N_PARTS] = { INFINITY, INFINITY, INFINITY, INFINITY };
	double many[N_PARTS] = { INFINITY, INFINITY, INFINITY, INFINITY };
	const char *builddir = getenv("top_builddir");
	cleanup(freep) char *folder = NULL;
	struct programs programs = { .sections = write_group };
	struct report report;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'b')
			builddir = optarg;
		else if (option == 's')
			programs.swansongd = optarg;
		else
			errx(2, "usage: crowd [--builddir PATH] [--swansongd PATH]");
	}
	programs_find(&programs, builddir ? builddir : ".");
	(void)unsetenv("NOTIFY_SOCKET");
	world_enter();
	folder = world_make_folder();
	programs.folder = folder;
	for (int i = 0; i < ROUNDS; i++) {
		measure(&programs, FEW, few);
		measure(&programs, MANY, many);
	}
	report_init(&report, false);
	report_begin(&report, "20,000 services in a group; floor: 5,000 of them");
	for (size_t i = 0; i < N_PARTS; i++)
		report_add(&report, (struct figure){ names[i], "ms", many[i], few[i], TARGET_RATIO,
						     TIMES_MORE, BOUND });
	world_remove_folder(folder);
	return report_end(&report);
}
