/*
 * inits: swansong-init beside the inits of containers that the machine has.
 *
 * usage: inits [--json] [--rounds N] [--orphans N]
 *
 * Each table compares swansong-init with another init as the floor.
 *
 * All take turns, round by round, and of the rounds the median counts: where a library lies, and with
 * it how much of it comes into memory, is new with every start; and a machine is not as fast now as it
 * was a minute ago.  The figures shall show the work of an init, not the choice of a CPU or the order of the
 * scheduler: so all processes share one CPU for the signals, and an init that collects orphans has a CPU
 * of its own; no process there is preempted, if the kernel permits that.
 */
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "report.h"
#include "subject.h"
#include "world.h"

#define ROUNDS_MAX    5000
#define TURNS	      25
#define TURNS_ORPHANS 75   /* the work of the kernel beside it differs the most */
#define SIGNALS	      1000 /* in a turn */
#define NSEC_PER_USEC 1e3
#define NSEC_PER_MSEC 1e6

struct subject_init {
	const char *name, *path;
	const char *argv[3]; /* up to the command */
	/* The results. */
	double start_usec[ROUNDS_MAX];
	double rss[TURNS], pss[TURNS], anonymous[TURNS]; /* KiB */
	double signal_median_usec[TURNS], signal_p99_usec[TURNS];
	double reap_msec[TURNS_ORPHANS];
	double size, wakeups;
};

struct options {
	bool json;
	unsigned rounds, orphans, idle_seconds;
	char *child, *pong;
};

enum which { OURS, OURS_STATIC, TINI, TINI_STATIC, DUMB_INIT, CATATONIT, NONE, N_SUBJECTS };

static struct subject_init subjects[N_SUBJECTS] = {
	[OURS] = { .name = "swansong-init", .argv = { "--" } },
	[OURS_STATIC] = { .name = "swansong-init-static", .argv = { "--" } },
	[TINI] = { .name = "tini", .path = "/usr/bin/tini", .argv = { "-sg", "--" } },
	[TINI_STATIC] = { .name = "tini-static",
			  .path = "/usr/bin/tini-static",
			  .argv = { "-sg", "--" } },
	[DUMB_INIT] = { .name = "dumb-init", .path = "/usr/bin/dumb-init", .argv = { "--" } },
	[CATATONIT] = { .name = "catatonit", .path = "/usr/bin/catatonit", .argv = { "-g", "--" } },
	[NONE] = { .name = "no init" },
};

/* The command line of @command behind @init. */
static void build(const char *argv[8], const struct subject_init *init, const char *const *command)
{
	size_t n = 0;

	if (init->path)
		argv[n++] = init->path;
	for (size_t i = 0; i < ARRAY_SIZE(init->argv) && init->argv[i]; i++)
		argv[n++] = init->argv[i];
	while (*command)
		argv[n++] = *command++;
	argv[n] = NULL;
}

static bool is_there(const struct subject_init *init)
{
	return init == &subjects[NONE] || (init->path && access(init->path, X_OK) == 0);
}

static void start(struct subject *s, const struct subject_init *init, const char *const *command)
{
	const char *argv[8];

	build(argv, init, command);
	subject_start(s, argv, 1);
}

static void end(struct subject *s)
{
	(void)kill(s->pid, SIGTERM);
	(void)waitpid(s->pid, NULL, 0);
	(void)close(s->births);
	free(s->children);
}

/* --- where it runs --- */

static cpu_set_t cpus; /* the CPUs that we may use */

static int first_cpu(void)
{
	int cpu = 0;

	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	return cpu;
}

static int last_cpu(void)
{
	int cpu = CPU_SETSIZE - 1;

	while (!CPU_ISSET(cpu, &cpus))
		cpu--;
	return cpu;
}

/* Moves this process, and all that it starts later, to one CPU without preemption. */
static void stay(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(last_cpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		err(EXIT_FAILURE, "sched_setaffinity");
	(void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
}

static void go_anywhere(void)
{
	(void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		err(EXIT_FAILURE, "sched_setaffinity");
}

/* --- measurements --- */

static void measure_start(struct subject_init *init, const struct options *o, size_t turn)
{
	const char *const command[] = { o->child, NULL };
	uint64_t begun = now_nsec();
	struct subject s;

	start(&s, init, command);
	subject_await(&s);
	init->start_usec[turn] = (double)(now_nsec() - begun) / NSEC_PER_USEC;
	end(&s);
}

static void measure_memory(struct subject_init *init, const struct options *o, size_t turn)
{
	const char *const command[] = { o->child, NULL };
	struct subject s;

	start(&s, init, command);
	subject_await(&s);
	/* It may not be done with its own start yet. */
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 20000000 }, NULL);
	init->rss[turn] = (double)subject_read(&s, "smaps_rollup", "Rss");
	init->pss[turn] = (double)subject_read(&s, "smaps_rollup", "Pss");
	init->anonymous[turn] = (double)subject_read(&s, "smaps_rollup", "Anonymous");
	end(&s);
}

static uint64_t switches(const struct subject *s)
{
	return subject_read(s, "status", "voluntary_ctxt_switches");
}

/* All inits at once: each only waits for the time. */
static void measure_wakeups(const char *child, unsigned seconds)
{
	const char *const command[] = { child, NULL };
	struct subject s[NONE];
	uint64_t before[NONE];

	for (size_t i = 0; i < NONE; i++) {
		if (!is_there(&subjects[i]))
			continue;
		start(&s[i], &subjects[i], command);
		subject_await(&s[i]);
	}
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 50000000 }, NULL);
	for (size_t i = 0; i < NONE; i++)
		if (is_there(&subjects[i]))
			before[i] = switches(&s[i]);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_sec = seconds }, NULL);
	for (size_t i = 0; i < NONE; i++) {
		if (!is_there(&subjects[i]))
			continue;
		subjects[i].wakeups = (double)(switches(&s[i]) - before[i]);
		end(&s[i]);
	}
}

static void await_byte(const struct subject *s)
{
	char byte;

	if (read(s->births, &byte, 1) != 1)
		errx(EXIT_FAILURE, "no answer to a signal");
}

static void measure_signals(struct subject_init *init, const struct options *o, size_t turn)
{
	const char *const command[] = { o->pong, "pong", NULL };
	double usec[SIGNALS];
	struct subject s;

	start(&s, init, command);
	await_byte(&s);
	for (size_t i = 0; i < SIGNALS; i++) {
		uint64_t begun = now_nsec();

		(void)kill(s.pid, SIGUSR1);
		await_byte(&s);
		usec[i] = (double)(now_nsec() - begun) / NSEC_PER_USEC;
	}
	init->signal_median_usec[turn] = percentile(usec, SIGNALS, 0.5);
	init->signal_p99_usec[turn] = percentile(usec, SIGNALS, 0.99);
	end(&s);
}

/* As PID 1, which ends with all that is left.  NAN where there may be no namespace. */
static void measure_orphans(struct subject_init *init, const struct options *o, size_t turn)
{
	char number[16], cpu[16], text[32] = "";
	const char *const command[] = { o->pong, "orphans", number, cpu, NULL };
	const char *argv[8];
	int fds[2];
	ssize_t length;
	pid_t pid;

	(void)snprintf(number, sizeof(number), "%u", o->orphans);
	(void)snprintf(cpu, sizeof(cpu), "%d", first_cpu());
	build(argv, init, command);
	if (pipe2(fds, O_CLOEXEC) < 0)
		err(EXIT_FAILURE, "pipe");
	pid = fork();
	if (pid == 0) {
		if (dup2(fds[1], 1) < 0 || unshare(CLONE_NEWPID) < 0)
			_exit(1);
		pid = fork();
		if (pid == 0) {
			stay();
			(void)execv(argv[0], (char *const *)argv);
			_exit(127);
		}
		(void)waitpid(pid, NULL, 0);
		_exit(0);
	}
	(void)close(fds[1]);
	length = read(fds[0], text, sizeof(text) - 1);
	(void)close(fds[0]);
	(void)waitpid(pid, NULL, 0);
	init->reap_msec[turn] = length > 1 ? strtod(text, NULL) / NSEC_PER_MSEC : NAN;
}

/* The first @n one after another, and in each turn another begins. */
static void take_turns(const struct options *o, size_t n, size_t turns,
		       void (*measure)(struct subject_init *init, const struct options *o,
				       size_t turn))
{
	for (size_t turn = 0; turn < turns; turn++) {
		for (size_t i = 0; i < n; i++) {
			struct subject_init *init = &subjects[(turn + i) % n];

			if (is_there(init))
				measure(init, o, turn);
		}
	}
}

static void measure(const struct options *o)
{
	struct stat st;

	take_turns(o, N_SUBJECTS, o->rounds, measure_start);
	take_turns(o, NONE, TURNS, measure_memory);
	measure_wakeups(o->child, o->idle_seconds);
	stay();
	take_turns(o, NONE, TURNS, measure_signals);
	go_anywhere();
	take_turns(o, NONE, TURNS_ORPHANS, measure_orphans);
	for (size_t i = 0; i < NONE; i++)
		if (is_there(&subjects[i]) && stat(subjects[i].path, &st) == 0)
			subjects[i].size = (double)st.st_size / 1024;
}

/* --- the report --- */

static double start_overhead(struct subject_init *init, unsigned rounds)
{
	return percentile(init->start_usec, rounds, 0.5) -
	       percentile(subjects[NONE].start_usec, rounds, 0.5);
}

static double median(double *values, size_t n)
{
	return isnan(values[0]) ? NAN : percentile(values, n, 0.5);
}

static void tell(struct report *report, const struct options *o, enum which ours, enum which other,
		 double start_target)
{
	struct subject_init *a = &subjects[ours], *b = &subjects[other];
	char title[128], orphans[64];

	if (!is_there(a) || !is_there(b))
		return;
	(void)snprintf(title, sizeof(title), "%s; floor: %s; %u rounds", a->name, b->name,
		       o->rounds);
	(void)snprintf(orphans, sizeof(orphans), "%u orphans collected", o->orphans);
	report_begin(report, title);

	const struct figure figures[] = {
		{ "start of a command, over no init", "us", start_overhead(a, o->rounds),
		  start_overhead(b, o->rounds), TARGET_RATIO, start_target },
		{ "signal to the command's answer, median", "us",
		  median(a->signal_median_usec, TURNS), median(b->signal_median_usec, TURNS),
		  TARGET_RATIO, 1 },
		{ "the same, 99 %", "us", median(a->signal_p99_usec, TURNS),
		  median(b->signal_p99_usec, TURNS), TARGET_NONE, 0 },
		{ orphans, "ms", median(a->reap_msec, TURNS_ORPHANS),
		  median(b->reap_msec, TURNS_ORPHANS), TARGET_RATIO, 1 },
		{ "resident memory", "KiB", median(a->rss, TURNS), median(b->rss, TURNS),
		  TARGET_RATIO, 1 },
		{ "its share of that", "KiB", median(a->pss, TURNS), median(b->pss, TURNS),
		  TARGET_NONE, 0 },
		{ "anonymous memory", "KiB", median(a->anonymous, TURNS),
		  median(b->anonymous, TURNS), TARGET_RATIO, 1 },
		{ "wake-ups while idle", "times", a->wakeups, b->wakeups, TARGET_MEASURED, 0 },
		{ "size of the program", "KiB", a->size, b->size, TARGET_NONE, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		report_add(report, figures[i]);
}

/* --- the command line --- */

static char *find_program(const char *name)
{
	const char *builddir = getenv("top_builddir");
	char *path;

	if (asprintf(&path, "%s/%s", builddir ? builddir : ".", name) < 0)
		err(EXIT_FAILURE, "%s", name);
	return path;
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "orphans", required_argument, NULL, 'o' },
		{ 0 },
	};
	int option;

	*o = (struct options){ .rounds = 300, .orphans = 5000, .idle_seconds = 3 };
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (option == 'j')
			o->json = true;
		else if (option == 'r')
			o->rounds = (unsigned)atoi(optarg);
		else if (option == 'o')
			o->orphans = (unsigned)atoi(optarg);
		else
			errx(2, "usage: inits [--json] [--rounds N] [--orphans N]");
	}
	if (o->rounds < 1 || o->rounds > ROUNDS_MAX || o->orphans > 30000)
		errx(2, "1 to %d rounds, 30000 orphans at most", ROUNDS_MAX);
}

int main(int argc, char **argv)
{
	struct options options;
	struct report report;

	parse_options(argc, argv, &options);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		err(EXIT_FAILURE, "sched_getaffinity");
	options.child = find_program("tests/bench/child");
	options.pong = find_program("tests/bench/init-child");
	subjects[OURS].path = find_program("swansong-init");
	subjects[OURS_STATIC].path = find_program("swansong-init-static");
	world_enter();
	measure(&options);
	report_init(&report, options.json);
	tell(&report, &options, OURS, TINI, 1);
	tell(&report, &options, OURS, DUMB_INIT, 1);
	tell(&report, &options, OURS_STATIC, TINI_STATIC, 0.5);
	tell(&report, &options, OURS_STATIC, CATATONIT, 1);
	free(options.child);
	free(options.pong);
	free((char *)subjects[OURS].path);
	free((char *)subjects[OURS_STATIC].path);
	return report_end(&report);
}
