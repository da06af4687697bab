/*
 * shutdown: how long the end of an idle tree takes beyond its processes, whatever their order is.
 *
 * usage: shutdown [--json] [--rounds N] [--builddir PATH] [--swansongd PATH] [N]
 *
 * N services (200) of the smallest child, which ends as soon as it gets its signal, so that all of the
 * time is the supervisor's: all at once; in ten layers, each of which needs two of the one before; and
 * in one chain.  Beside it is the time of the same order with nothing around it: kill and wait, for one
 * layer after the other.  The best of --rounds (5) is shown.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon.h"
#include "report.h"
#include "world.h"

#define NSEC_PER_MSEC 1e6
#define TARGET_MSEC   50
#define LAYERS	      10

extern char **environ;

static size_t n_services = 200;

static size_t layer_width(void)
{
	return n_services < LAYERS ? 1 : n_services / LAYERS;
}

static void in_layers(FILE *config, size_t i)
{
	size_t width = layer_width(), before = i - width;

	if (i >= width)
		(void)fprintf(config, "requires = s%zu\nafter = s%zu\n", before,
			      before % width ? before - 1 : before + width - 1);
}

static void in_a_chain(FILE *config, size_t i)
{
	if (i > 0)
		(void)fprintf(config, "requires = s%zu\n", i - 1);
}

static const struct shape {
	const char *name;
	void (*edges)(FILE *config, size_t i);
	bool chain, layers;
} shapes[] = {
	{ "all at once", NULL, false, false },
	{ "in ten layers", in_layers, false, true },
	{ "in one chain", in_a_chain, true, false },
};

static double measure_daemon(struct programs *programs, const struct shape *shape)
{
	struct daemon d;

	programs->edges = shape->edges;
	(void)daemon_start(&d, programs, n_services, NULL);
	return (double)daemon_stop(&d) / NSEC_PER_MSEC;
}

/* --- the floor --- */

static pid_t start_child(const char *child, int births)
{
	const char *const argv[] = { child, NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_adddup2(&files, births, 1);
	errno = posix_spawn(&pid, child, &files, NULL, (char *const *)argv, environ);
	if (errno != 0)
		err(EXIT_FAILURE, "%s", child);
	(void)posix_spawn_file_actions_destroy(&files);
	return pid;
}

static void end_children(const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)kill(pids[i], SIGTERM);
	for (size_t i = 0; i < n; i++)
		if (waitpid(pids[i], NULL, 0) < 0)
			err(EXIT_FAILURE, "waitpid");
}

static double measure_floor(const struct programs *programs, const struct shape *shape)
{
	size_t width = shape->chain ? 1 : shape->layers ? layer_width() : n_services;
	pid_t *pids = calloc(n_services, sizeof(*pids)), pid;
	uint64_t begun;
	int births[2];

	if (!pids || pipe(births) < 0)
		err(EXIT_FAILURE, "floor");
	for (size_t i = 0; i < n_services; i++) {
		pids[i] = start_child(programs->child, births[1]);
		if (read(births[0], &pid, sizeof(pid)) != sizeof(pid))
			err(EXIT_FAILURE, "floor");
	}
	begun = now_nsec();
	for (size_t i = 0; i < n_services; i += width)
		end_children(pids + i, MIN(width, n_services - i));
	begun = now_nsec() - begun;
	(void)close(births[0]);
	(void)close(births[1]);
	free(pids);
	return (double)begun / NSEC_PER_MSEC;
}

static void measure(struct report *report, struct programs *programs, unsigned rounds)
{
	char title[96];

	(void)snprintf(title, sizeof(title),
		       "shutdown of %zu idle services; floor: kill and wait; best of %u rounds",
		       n_services, rounds);
	report_begin(report, title);
	for (size_t s = 0; s < ARRAY_SIZE(shapes); s++) {
		double daemon = INFINITY, floor_msec = INFINITY;

		for (unsigned i = 0; i < rounds; i++) {
			floor_msec = fmin(floor_msec, measure_floor(programs, &shapes[s]));
			daemon = fmin(daemon, measure_daemon(programs, &shapes[s]));
		}
		report_add(report, (struct figure){ shapes[s].name, "ms", daemon, floor_msec,
						    TARGET_MEASURED, TARGET_MSEC });
	}
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "builddir", required_argument, NULL, 'b' },
		{ "swansongd", required_argument, NULL, 's' },
		{ 0 },
	};
	const char *builddir = getenv("top_builddir");
	struct programs programs = { .swansongd = NULL };
	unsigned rounds = 5;
	bool json = false;
	struct report report;
	char *folder;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'r':
			rounds = (unsigned)atoi(optarg);
			break;
		case 'b':
			builddir = optarg;
			break;
		case 's':
			programs.swansongd = optarg;
			break;
		default:
			(void)fputs("usage: shutdown [--json] [--rounds N] [--builddir PATH] "
				    "[--swansongd PATH] [N]\n",
				    stderr);
			return 2;
		}
	}
	if (optind < argc && atoi(argv[optind]) > 0)
		n_services = (size_t)atoi(argv[optind]);
	programs_find(&programs, builddir ? builddir : ".");
	(void)unsetenv("NOTIFY_SOCKET");
	world_enter();
	programs.folder = folder = world_make_folder();
	report_init(&report, json);
	measure(&report, &programs, rounds);
	world_remove_folder(folder);
	free(folder);
	return report_end(&report);
}
