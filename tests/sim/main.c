/*
 * sim [--seconds N | --histories N] [--seed N] [--operations N] [--jobs N] [--short] [--print] [FILE...]
 *
 * Runs the histories of seeds from --seed on, or those of the files; without arguments those of
 * tests/sim/found and of some fixed seeds, as a test.  With --short: shutdowns with half of their time, see short.h.  A failing history is shortened and printed, and
 * the text can be given as a file.  Each job is a process: the end of a job by a signal is a failure
 * of the history that it was running.
 */
#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/sim/run.h"
#include "tests/sim/short.h"
#include "tests/sim/shrink.h"
#include "tests/sim/system.h"

#define JOBS_MAX	64
#define FAILURES_MAX	3 /* of a job: each is shortened, which takes its time */
#define TEST_HISTORIES	2000
#define TEST_OPERATIONS 30
#define SHORT_HISTORIES 1000

pid_t __real_fork(void);

struct options {
	uint64_t seed, seconds, histories;
	unsigned operations, jobs;
	bool print, is_short;
};

/* In memory that all jobs share. */
struct job {
	pid_t pid;
	uint64_t seed; /* of the history that it is running */
	unsigned failures;
	struct figures figures;
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report_failure(struct history *history, struct failure *failure)
{
	shrink_history(history, failure);
	printf("# promise %s: %s\n", failure->promise, failure->text);
	history_print(history, stdout);
	(void)fflush(stdout);
}

static void draw(struct history *history, const struct options *o, uint64_t seed)
{
	if (o->is_short)
		history_draw_short(history, seed);
	else
		history_draw(history, seed, o->operations);
}

static void run_job(const struct options *o, struct job *job, unsigned number)
{
	double until = now() + (double)o->seconds;

	for (uint64_t i = number; o->histories ? i < o->histories : now() < until; i += o->jobs) {
		struct history history;
		struct failure failure;

		job->seed = o->seed + i;
		draw(&history, o, job->seed);
		if (o->print)
			history_print(&history, stdout);
		if (!run_history(&history, &failure, &job->figures)) {
			report_failure(&history, &failure);
			job->failures++;
		}
		history_done(&history);
		if (job->failures == FAILURES_MAX)
			break;
	}
	(void)fflush(stdout);
}

static void report_crash(const struct options *o, const struct job *job, int status)
{
	struct failure failure = { .promise = "crash" };
	struct history history;

	(void)snprintf(failure.text, sizeof(failure.text), "seed %" PRIu64 ": %s %d", job->seed,
		       WIFSIGNALED(status) ? "signal" : "status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	draw(&history, o, job->seed);
	report_failure(&history, &failure);
	history_done(&history);
}

static void add_figures(struct figures *to, const struct figures *from)
{
	to->histories += from->histories;
	to->operations += from->operations;
	to->turns += from->turns;
	to->processes += from->processes;
	to->faults += from->faults;
	to->invalid += from->invalid;
	to->early += from->early;
	to->simulated_usec += from->simulated_usec;
}

static void print_figures(const struct figures *f, double seconds)
{
	printf("# %" PRIu64 " histories (%" PRIu64 " without a valid configuration), %" PRIu64
	       " operations, %" PRIu64 " turns, %" PRIu64 " processes, %" PRIu64 " faults, %" PRIu64
	       " killed early, %" PRIu64 " s of the world; %.0f histories a second\n",
	       f->histories, f->invalid, f->operations, f->turns, f->processes, f->faults, f->early,
	       f->simulated_usec / 1000000, (double)f->histories / seconds);
}

/* Runs the seeds in several processes.  Returns true if all promises held. */
static bool run_seeds(const struct options *o)
{
	struct job *jobs = mmap(NULL, JOBS_MAX * sizeof(*jobs), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct figures all = { 0 };
	double begun = now();
	bool good = true;

	if (jobs == MAP_FAILED)
		return false;
	(void)fflush(stdout);
	for (unsigned i = 0; i < o->jobs; i++) {
		pid_t pid = __real_fork();

		if (pid == 0) {
			run_job(o, &jobs[i], i);
			_exit(0);
		}
		jobs[i].pid = pid;
	}
	for (unsigned i = 0; i < o->jobs; i++) {
		int status = -1;

		(void)waitpid(jobs[i].pid, &status, 0);
		if (status != 0)
			report_crash(o, &jobs[i], status);
		good &= status == 0 && jobs[i].failures == 0;
		add_figures(&all, &jobs[i].figures);
	}
	print_figures(&all, now() - begun);
	(void)munmap(jobs, JOBS_MAX * sizeof(*jobs));
	return good;
}

static bool run_file(const char *path)
{
	struct figures figures = { 0 };
	struct failure failure = { .promise = "read", .text = "cannot be read" };
	struct history history;
	const char *slash = strrchr(path, '/');
	bool held = history_read(&history, path) == 0 && run_history(&history, &failure, &figures);

	printf("%s - %s\n", held ? "ok" : "not ok", slash ? slash + 1 : path);
	if (!held)
		printf("# promise %s: %s\n", failure.promise, failure.text);
	history_done(&history);
	return held;
}

static int is_history(const struct dirent *entry)
{
	return strstr(entry->d_name, ".sim") != NULL;
}

static int run_test(void)
{
	const struct options o = {
		.seed = 1, .histories = TEST_HISTORIES, .operations = TEST_OPERATIONS, .jobs = 2
	};
	const struct options with_little_time = {
		.seed = 1, .histories = SHORT_HISTORIES, .is_short = true, .jobs = 2
	};
	const char *top = getenv("top_srcdir");
	struct dirent **found = NULL;
	char path[4096];
	bool good = true, held;
	int n;

	(void)snprintf(path, sizeof(path), "%s/tests/sim/found", top ? top : ".");
	n = scandir(path, &found, is_history, alphasort);
	if (n < 0) {
		printf("Bail out! %s cannot be read\n", path);
		return 1;
	}
	printf("1..%d\n", n + 2);
	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/tests/sim/found/%s", top ? top : ".",
			       found[i]->d_name);
		good &= run_file(path);
		free(found[i]);
	}
	free(found);
	held = run_seeds(&o);
	printf("%s - promises hold in histories of fixed seeds\n", held ? "ok" : "not ok");
	good &= held;
	held = run_seeds(&with_little_time);
	printf("%s - the lowest stop-priority is killed first when the time is half\n",
	       held ? "ok" : "not ok");
	return good && held ? 0 : 1;
}

static bool read_option(struct options *o, int option, const char *text)
{
	uint64_t value = text ? strtoull(text, NULL, 10) : 0;

	switch (option) {
	case 's':
		o->seed = value;
		return true;
	case 't':
		o->seconds = value;
		return true;
	case 'n':
		o->histories = value;
		return true;
	case 'o':
		o->operations = (unsigned)value;
		return true;
	case 'j':
		o->jobs = value > 0 && value <= JOBS_MAX ? (unsigned)value : 1;
		return true;
	case 'w':
		o->is_short = true;
		return true;
	case 'p':
		o->print = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	static const struct option rows[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "histories", required_argument, NULL, 'n' },
		{ "operations", required_argument, NULL, 'o' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "short", no_argument, NULL, 'w' },
		{ "print", no_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	struct options o = { .seed = 1, .seconds = 5, .operations = 100, .jobs = 1 };
	bool good = true;
	int c;

	system_memory_init();
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("SWANSONG_GRACE");
	if (argc == 1)
		return run_test();
	while ((c = getopt_long(argc, argv, "", rows, NULL)) >= 0)
		if (!read_option(&o, c, optarg))
			return 2;
	for (int i = optind; i < argc; i++)
		good &= run_file(argv[i]);
	if (optind == argc)
		good = run_seeds(&o);
	return good ? 0 : 1;
}
