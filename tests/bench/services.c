/*
 * services: the costs of swansongd with many services, beside the least possible ones.
 *
 * usage: services [OPTION...] [N...]
 *
 * N services (1000) of the smallest child; as many below the floor (floor.c).  Both are run in
 * turns, --rounds times; the best of each is shown, as other work of the machine only makes a run slower.
 *
 * All that twice, each beside a floor that does likewise: with a control group for each child, which
 * costs the kernel as much again as half a fork, and without, as most supervisors run.
 */
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "daemon.h"
#include "report.h"
#include "sys/process/cgroup.h"
#include "world.h"

#define RESTARTS     500
#define STATUSES     20
#define LOOP_SECONDS 1
/* dinit starts 34,753 times where the floor starts 115,069 times (a loop of 10 s, every delay off). */
#define DINIT_LOOP_RATIO (115069.0 / 34753)
/* For a start and a stop, by `strace -f -c`: the peers make 41 to 175. */
#define CALLS_WANTED  25
#define CALLS_REACHED 77
#define COUNTED_MAX   ((size_t)200) /* services; under strace all is slow */
#define NSEC_PER_USEC 1e3
#define NSEC_PER_MSEC 1e6

extern char **environ;

struct options {
	bool json;
	unsigned rounds, idle_seconds;
	struct programs programs;
};

/* Of one supervisor, the best of all rounds. */
struct best {
	double start_msec, stop_msec, cpu_msec;
	double restart_median_usec, restart_p99_usec;
	double status_msec, status_command_msec, status_one_msec, no_command_msec;
	double descriptors;
	double pss, anonymous, anonymous_after; /* KiB */
	double loop_usec;
};

/* Nothing has been measured yet.  The struct has no other members than numbers. */
static struct best none(void)
{
	struct best best;
	double *numbers = (double *)&best;

	for (size_t i = 0; i < sizeof(best) / sizeof(*numbers); i++)
		numbers[i] = INFINITY;
	return best;
}

static void keep_best(double *best, double value)
{
	*best = fmin(*best, value);
}

/* --- measurements --- */

static void measure_restarts(struct subject *s, struct best *best)
{
	double usec[RESTARTS];

	for (size_t i = 0; i < RESTARTS; i++)
		usec[i] = (double)subject_restart(s, i * 7919 % s->n) / NSEC_PER_USEC;
	keep_best(&best->restart_median_usec, percentile(usec, RESTARTS, 0.5));
	keep_best(&best->restart_p99_usec, percentile(usec, RESTARTS, 0.99));
}

static void measure_memory(const struct subject *s, struct best *best)
{
	keep_best(&best->pss, (double)subject_read(s, "smaps_rollup", "Pss"));
	keep_best(&best->anonymous, (double)subject_read(s, "smaps_rollup", "Anonymous"));
	keep_best(&best->descriptors, (double)subject_count_descriptors(s));
}

static double median_status(struct daemon *d)
{
	double msec[STATUSES];

	for (size_t i = 0; i < STATUSES; i++)
		msec[i] = (double)daemon_status(d) / NSEC_PER_MSEC;
	return percentile(msec, STATUSES, 0.5);
}

static void measure_status(struct daemon *d, struct best *best)
{
	keep_best(&best->status_msec, median_status(d));
	keep_best(&best->anonymous_after,
		  (double)subject_read(&d->subject, "smaps_rollup", "Anonymous"));
}

/* The whole command, from its execution to its end, as peers are measured.  Returns the median. */
static double time_command(const char *const *argv)
{
	posix_spawn_file_actions_t files;
	double msec[STATUSES];

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	for (size_t i = 0; i < STATUSES; i++) {
		uint64_t begun = now_nsec();
		int status;
		pid_t pid;

		if (posix_spawn(&pid, argv[0], &files, NULL, (char *const *)argv, environ) != 0 ||
		    waitpid(pid, &status, 0) < 0 || status != 0)
			errx(EXIT_FAILURE, "%s fails", argv[0]);
		msec[i] = (double)(now_nsec() - begun) / NSEC_PER_MSEC;
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return percentile(msec, STATUSES, 0.5);
}

static void measure_commands(const struct daemon *d, const char *ctl, struct best *best)
{
	const char *const all[] = { ctl, "--socket", d->socket, "status", NULL };
	const char *const one[] = { ctl, "--socket", d->socket, "status", "s0", NULL };
	const char *const none[] = { ctl, "--version", NULL };

	keep_best(&best->status_command_msec, time_command(all));
	keep_best(&best->status_one_msec, time_command(one));
	keep_best(&best->no_command_msec, time_command(none));
}

/* How long one run takes of a child that ends at once, and is started again at once. */
static void measure_loop(struct subject *s, struct best *best)
{
	double runs = (double)subject_count_births(s, LOOP_SECONDS);

	keep_best(&best->loop_usec, LOOP_SECONDS * 1e6 / runs);
}

static void floor_execute(struct subject *s, const struct programs *programs, const char *child,
			  size_t n, const char *const *wrapper)
{
	char number[24];
	const char *const own[] = { programs->floor, number, child,
				    programs->groups ? "groups" : NULL, NULL };
	const char *argv[16];
	size_t words = 0;

	for (; wrapper && wrapper[words] && words < ARRAY_SIZE(argv) - ARRAY_SIZE(own); words++)
		argv[words] = wrapper[words];
	memcpy(argv + words, own, sizeof(own));
	(void)snprintf(number, sizeof(number), "%zu", n);
	subject_start(s, argv, n);
}

static uint64_t floor_start(struct subject *s, const struct programs *programs, size_t n)
{
	uint64_t begun = now_nsec();

	floor_execute(s, programs, programs->child, n, NULL);
	subject_await(s);
	return now_nsec() - begun;
}

/* A start and a stop, and a life with everything in between. */
static void run_floor(const struct programs *programs, size_t n, struct best *best)
{
	struct subject s;

	keep_best(&best->start_msec, (double)floor_start(&s, programs, n) / NSEC_PER_MSEC);
	measure_memory(&s, best);
	keep_best(&best->stop_msec, (double)subject_stop(&s) / NSEC_PER_MSEC);
	keep_best(&best->cpu_msec, (double)s.cpu_usec / 1e3);

	(void)floor_start(&s, programs, n);
	measure_restarts(&s, best);
	(void)subject_stop(&s);

	floor_execute(&s, programs, programs->ender, 1, NULL);
	measure_loop(&s, best);
	(void)subject_stop(&s);
}

static void run_daemon(const struct programs *programs, size_t n, struct best *best)
{
	struct daemon d;

	keep_best(&best->start_msec, (double)daemon_start(&d, programs, n, NULL) / NSEC_PER_MSEC);
	measure_memory(&d.subject, best);
	keep_best(&best->stop_msec, (double)daemon_stop(&d) / NSEC_PER_MSEC);
	keep_best(&best->cpu_msec, (double)d.subject.cpu_usec / 1e3);

	(void)daemon_start(&d, programs, n, NULL);
	measure_status(&d, best);
	measure_commands(&d, programs->swansongctl, best);
	daemon_disconnect(&d);
	measure_restarts(&d.subject, best);
	(void)daemon_stop(&d);

	daemon_start_loop(&d, programs, 1);
	measure_loop(&d.subject, best);
	(void)daemon_stop(&d);
}

/* Memory of a daemon that has next to nothing. */
static void run_small(const struct programs *programs, struct best *best)
{
	struct daemon d;

	(void)daemon_start(&d, programs, 1, NULL);
	measure_memory(&d.subject, best);
	(void)daemon_stop(&d);
}

/* How often the daemon wakes up in this time with nothing to do. */
static double count_wakeups(const struct programs *programs, size_t n, unsigned seconds)
{
	struct timespec time = { .tv_sec = seconds };
	uint64_t before, after;
	struct daemon d;

	(void)daemon_start(&d, programs, n, NULL);
	daemon_disconnect(&d);
	/*
	 * Wake-ups by the end of the connection and by the last births do not count, nor do the limits of what is done by
	 * then: each expires once, as it costs less than a call that takes it back.
	 */
	(void)subject_restart(&d.subject, 0);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_sec = 2 }, NULL);
	before = subject_read(&d.subject, "status", "voluntary_ctxt_switches");
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	after = subject_read(&d.subject, "status", "voluntary_ctxt_switches");
	(void)daemon_stop(&d);
	return (double)(after - before);
}

/* --- system calls --- */

/* The number of calls in the last line of `strace -c`, "100.00 SECONDS USECS CALLS [ERRORS] total". */
static double read_total(int fd)
{
	double total = NAN;
	uint64_t calls;
	char line[256];
	FILE *f = fdopen(fd, "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " total\n") && sscanf(line, "%*f %*f %*u %" SCNu64, &calls) == 1)
			total = (double)calls;
	if (f)
		(void)fclose(f);
	return total;
}

/* A whole life of it. */
static void live(const struct programs *programs, size_t n, const char *const *wrapper, bool floor)
{
	struct subject s;
	struct daemon d;

	if (!floor) {
		(void)daemon_start(&d, programs, n, wrapper);
		(void)daemon_stop(&d);
		return;
	}
	floor_execute(&s, programs, programs->child, n, wrapper);
	subject_await(&s);
	(void)subject_stop(&s);
}

/* System calls of a whole life of the daemon, or the floor, and of its children; NAN without strace. */
static double count_calls(const struct programs *programs, size_t n, bool floor)
{
	char path[32];
	const char *const strace[] = { "strace", "-D", "-f", "-c", "-o", path, NULL };
	int fds[2];

	/* Not close-on-exec: strace has it, and its summary is there when that has ended. */
	if (pipe(fds) < 0)
		err(EXIT_FAILURE, "pipe");
	(void)fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	live(programs, n, strace, floor);
	(void)close(fds[1]);
	return read_total(fds[0]);
}

static double calls_of_one(const struct programs *programs, size_t n, bool floor)
{
	return (count_calls(programs, n, floor) - count_calls(programs, 1, floor)) /
	       (double)(n - 1);
}

static bool has_strace(void)
{
	return system("strace -D -c -o /dev/null true 2>/dev/null") == 0;
}

/* --- the report --- */

/*
 * The targets are what the best peers and the floor suggest.  The bounds are what was reached with all that is on
 * by default, and half as much again for times: they find a change that loses it.
 */
static void tell(struct report *report, const struct best *daemon, const struct best *small,
		 const struct best *floor, size_t n)
{
	const double others = (double)(n - 1);
	const struct figure figures[] = {
		{ "start, exec to all up", "ms", daemon->start_msec, floor->start_msec,
		  TARGET_RATIO, 1.2, 1.9 },
		{ "stop, SIGTERM to exit", "ms", daemon->stop_msec, floor->stop_msec, TARGET_RATIO,
		  1.1, 6 },
		{ "CPU of both, all processes", "ms", daemon->cpu_msec, floor->cpu_msec,
		  TARGET_NONE, 0, 2.5 },
		{ "restart, median", "us", daemon->restart_median_usec, floor->restart_median_usec,
		  TARGET_RATIO, 1.2, 2.2 },
		{ "restart, 99 %", "us", daemon->restart_p99_usec, floor->restart_p99_usec,
		  TARGET_RATIO, 1.3, 3 },
		{ "crash loop without a delay, one run", "us", daemon->loop_usec, floor->loop_usec,
		  TARGET_RATIO, DINIT_LOOP_RATIO, 3 },
		{ "status of all, median", "ms", daemon->status_msec, NAN, TARGET_MEASURED,
		  8 * (double)n / 1000, 15 * MAX((double)n / 1000, 1) },
		{ "the same by swansongctl, whole", "ms", daemon->status_command_msec, NAN,
		  TARGET_MEASURED, 2.4 * (double)n / 1000, 80 * MAX((double)n / 1000, 1) },
		{ "status of one, whole; floor: --version", "ms", daemon->status_one_msec,
		  daemon->no_command_msec, TARGET_RATIO, 1.5, 6 },
		{ "PSS with 1 service", "KiB", small->pss, floor->pss, TARGET_NONE, 0, 0 },
		{ "PSS a service", "KiB", (daemon->pss - small->pss) / others, NAN, TARGET_MEASURED,
		  3.5, 3.5 },
		{ "anonymous memory a service", "KiB",
		  (daemon->anonymous - small->anonymous) / others, NAN, TARGET_MEASURED, 1.9, 3.2 },
		{ "the same after 20 x status of all", "KiB",
		  (daemon->anonymous_after - small->anonymous) / others, NAN, TARGET_NONE, 0, 3.5 },
		{ "descriptors a service", "", (daemon->descriptors - small->descriptors) / others,
		  NAN, TARGET_MEASURED, 1.2, 2.05 },
	};
	const size_t with_one = 10; /* make sense with 1 service */

	for (size_t i = 0; i < (n == 1 ? with_one : ARRAY_SIZE(figures)); i++)
		report_add(report, figures[i]);
}

/* @first is the time per service of the first size that was measured; 0: this one is. */
static void tell_growth(struct report *report, const struct best *daemon, size_t n, double *first)
{
	double one = daemon->start_msec * 1e3 / (double)n;

	if (*first > 0)
		report_add(report, (struct figure){ "start of one, beside that of the first size",
						    "us", one, *first, TARGET_RATIO, 1.3, 2 });
	else
		*first = one;
}

static void measure(struct report *report, const struct options *o, size_t n, double *first)
{
	struct best daemon = none(), small = none(), floor = none();
	char title[160];

	(void)snprintf(
		title, sizeof(title),
		"swansongd with %zu services, %s control groups; floor: vfork and waitpid%s; "
		"best of %u rounds",
		n, o->programs.groups ? "with" : "without", o->programs.groups ? " with them" : "",
		o->rounds);
	report_begin(report, title);
	for (unsigned i = 0; i < o->rounds; i++) {
		run_floor(&o->programs, n, &floor);
		run_daemon(&o->programs, n, &daemon);
	}
	run_small(&o->programs, &small);
	tell(report, &daemon, &small, &floor, n);
	tell_growth(report, &daemon, n, first);
	if (o->idle_seconds > 0)
		report_add(report, (struct figure){ "wake-ups while idle", "times",
						    count_wakeups(&o->programs, n, o->idle_seconds),
						    NAN, TARGET_MEASURED, 0, 0.5 });
	n = MIN(n, COUNTED_MAX);
	if (n > 1 && has_strace()) {
		double calls = calls_of_one(&o->programs, n, false),
		       least = calls_of_one(&o->programs, n, true);

		report_add(report, (struct figure){ "system calls a service, start and stop",
						    "calls", calls, least, TARGET_MEASURED,
						    CALLS_WANTED, CALLS_REACHED * 1.1 / least });
	}
}

/* Are there control groups that we may divide? */
static bool has_groups(void)
{
	cleanup(closep) int group = -1;
	char path[CGROUP_PATH_MAX];

	if (cgroup_of(getpid(), path) < 0)
		return false;
	group = cgroup_open(path);
	return group >= 0 && cgroup_is_delegated(group, path);
}

static void measure_size(struct report *report, struct options *o, size_t n, double first[2])
{
	o->programs.groups = has_groups();
	measure(report, o, n, &first[o->programs.groups]);
	if (!o->programs.groups || !world_hide_groups())
		return;
	o->programs.groups = false;
	measure(report, o, n, &first[false]);
	world_show_groups();
}

/* --- the command line --- */

static const char usage[] =
	"usage: services [OPTION...] [N...]\n"
	"\n"
	"  --json            one JSON document, for programs\n"
	"  --rounds N        take the best of so many (5)\n"
	"  --idle SECONDS    look at the idle daemon for so long; 0: not at all (5)\n"
	"  --builddir PATH   where the programs are ($top_builddir, or .)\n"
	"  --swansongd PATH  another swansongd than the one there\n";

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "idle", required_argument, NULL, 'i' },
		{ "builddir", required_argument, NULL, 'b' },
		{ "swansongd", required_argument, NULL, 's' },
		{ 0 },
	};
	const char *builddir = getenv("top_builddir");
	int option;

	*o = (struct options){ .rounds = 5, .idle_seconds = 5 };
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			o->json = true;
			break;
		case 'r':
			o->rounds = (unsigned)atoi(optarg);
			break;
		case 'i':
			o->idle_seconds = (unsigned)atoi(optarg);
			break;
		case 'b':
			builddir = optarg;
			break;
		case 's':
			o->programs.swansongd = optarg;
			break;
		default:
			(void)fputs(usage, stderr);
			exit(2);
		}
	}
	programs_find(&o->programs, builddir ? builddir : ".");
}

int main(int argc, char **argv)
{
	struct options options;
	struct report report;
	double first[2] = { 0 };
	char *folder;

	parse_options(argc, argv, &options);
	(void)unsetenv("NOTIFY_SOCKET");
	world_enter();
	folder = world_make_folder();
	options.programs.folder = folder;
	report_init(&report, options.json);
	if (optind == argc)
		measure_size(&report, &options, 1000, first);
	for (; optind < argc; optind++) {
		int n = atoi(argv[optind]);

		if (n < 1)
			errx(2, "how many services are %s?", argv[optind]);
		measure_size(&report, &options, (size_t)n, first);
	}
	world_remove_folder(folder);
	free(folder);
	return report_end(&report);
}
