#include "tests/fuzz/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "daemon/logger/logging.h"
#include "daemon/loop/closer.h"
#include "daemon/probe/attempt.h"
#include "daemon/reap/exit.h"
#include "daemon/service/start.h"
#include "daemon/spawn/hook.h"
#include "daemon/spawn/launch.h"
#include "daemon/tree/build.h"
#include "sys/file/path.h"
#include "tests/fuzz/fuzz.h"

/* No process has such a number, or a higher one. */
#define NO_PID	      0x7ffff000
#define REST_MAX      10000
#define PROCESSES_MAX 1000 /* ended at once */

int __wrap_launch(const struct launch *launch, struct context *context,
		  const struct launch_program *program, struct process *process,
		  struct launch_failure *failure);
int __wrap_launch(const struct launch *launch, struct context *context,
		  const struct launch_program *program, struct process *process,
		  struct launch_failure *failure)
{
	static pid_t launched;

	(void)launch;
	(void)failure;
	process_add(context->processes, process, NO_PID + launched++ % 1000, -1);
	process->group = process->pid;
	if (program->main)
		service_settle_start(process->service, &(struct spawn_failure){ 0 });
	return 0;
}

static uint64_t passed_usec;

uint64_t __real_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void);
uint64_t __wrap_clock_now_usec(void)
{
	return __real_clock_now_usec() + passed_usec;
}

/* --- the machine --- */

/* No call may change a file of the machine, whichever file an input names, or connect to a server. */
static bool is_of_fuzz(const char *path)
{
	if (strncmp(path, "fuzz-", 5) == 0 && !strstr(path, ".."))
		return true;
	errno = EACCES;
	return false;
}

static bool is_address_of_fuzz(const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)address;
	const char *path = un->sun_path, *slash;

	if (un->sun_family == AF_UNIX && (length <= sizeof(un->sun_family) || !un->sun_path[0]))
		return true;
	errno = EACCES;
	if (un->sun_family != AF_UNIX)
		return false;
	/* The directory that path_find() has found, below one of another user. */
	slash = strncmp(path, "/proc/self/fd/", 14) == 0 ? strrchr(path, '/') : NULL;
	return is_of_fuzz(slash ? slash + 1 : path);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	if ((flags & O_ACCMODE) != O_RDONLY && !is_of_fuzz(path))
		return -1;
	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return __real_open(path, flags, mode);
}

/* In front of all that is opened for writing, made, renamed or removed, but for the calls below. */
int __real_path_find(struct path *ret, const char *text, enum path_make make);
int __wrap_path_find(struct path *ret, const char *text, enum path_make make);
int __wrap_path_find(struct path *ret, const char *text, enum path_make make)
{
	if (is_of_fuzz(text))
		return __real_path_find(ret, text, make);
	*ret = (struct path){ .directory = -1 };
	return -EACCES;
}

int __real_path_open(const char *text, int flags, mode_t mode);
int __wrap_path_open(const char *text, int flags, mode_t mode);
int __wrap_path_open(const char *text, int flags, mode_t mode)
{
	return is_of_fuzz(text) ? __real_path_open(text, flags, mode) : -EACCES;
}

int __real_path_unlink(const char *text);
int __wrap_path_unlink(const char *text);
int __wrap_path_unlink(const char *text)
{
	return is_of_fuzz(text) ? __real_path_unlink(text) : -EACCES;
}

int __wrap_path_make_directory(const char *text, mode_t mode);
int __wrap_path_make_directory(const char *text, mode_t mode)
{
	(void)text;
	(void)mode;
	return -EACCES;
}

int __wrap_path_remove_directory(const char *text);
int __wrap_path_remove_directory(const char *text)
{
	(void)text;
	return -EACCES;
}

int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	return is_address_of_fuzz(address, length) ? __real_bind(fd, address, length) : -1;
}

int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	return is_address_of_fuzz(address, length) ? __real_connect(fd, address, length) : -1;
}

/* --- the tree --- */

static bool world_make(struct world *world, const char *path, struct roster *roster,
		       enum crash_reason reason)
{
	static struct log log = { .fd = -1, .level = LOG_DEBUG, .name = "fuzz" };
	static struct signals signals;
	static char *environment[] = { NULL };
	struct parent_address nobody = { .watchdog_usec = USEC_INFINITY };
	struct config *config = NULL;
	int r;

	/* No daemon waits for the children that close descriptors. */
	(void)signal(SIGCHLD, SIG_IGN);
	*world = (struct world){ .paths = { path } };
	world->reload = (struct reload){
		.tree = &world->tree, .paths = world->paths, .n_paths = 1, .trust = true
	};
	if (reload_config(&config, world->paths, 1, true, NULL, &log, NULL, roster) < 0)
		return false;
	FUZZ_CHECK(context_init(&world->ctx, &log, &signals) == 0);
	process_table_init(&world->processes);
	world->ctx.processes = &world->processes;
	world->ctx.environment.given = environment;
	world->ctx.roster = roster;
	world->ctx.reason = reason;
	if (roster)
		FUZZ_CHECK(logging_new(&world->ctx.logger, &world->ctx, &config->log_user) == 0);
	r = tree_init(&world->tree, &world->ctx, config);
	config_unref(config);
	if (r < 0) {
		world->ctx.logger = logging_free(world->ctx.logger);
		closer_discards_done(&world->ctx);
		context_done(&world->ctx);
		return false;
	}
	FUZZ_CHECK(parent_new(&world->parent, &world->tree, &nobody) == 0);
	world->reload.parent = world->parent;
	world->reload.rollout = &world->rollout;
	FUZZ_CHECK(rollout_init(&world->rollout, &world->tree) == 0);
	return true;
}

bool world_begin_at(struct world *world, const char *path)
{
	return world_make(world, path, NULL, CRASH_NONE);
}

bool world_begin_after(struct world *world, const char *text, struct roster *roster,
		       enum crash_reason reason)
{
	static struct fuzz_file file = FUZZ_FILE;

	fuzz_file_set(&file, text, strlen(text));
	return world_make(world, file.path, roster, reason);
}

void world_begin(struct world *world, const char *text)
{
	FUZZ_CHECK(world_begin_after(world, text, NULL, CRASH_NONE));
}

void world_end(struct world *world)
{
	world->control = control_free(world->control);
	world->parent = parent_free(world->parent);
	rollout_done(&world->rollout);
	tree_done(&world->tree);
	world->ctx.logger = logging_free(world->ctx.logger);
	closer_discards_done(&world->ctx);
	process_table_done(&world->processes);
	context_done(&world->ctx);
}

void world_run(struct world *world)
{
	struct update update = {
		.tree = &world->tree,
		.control = world->control,
		.parent = world->parent,
	};
	int n = 0, r;

	do {
		r = sd_event_run(world->ctx.event, 0);
		FUZZ_CHECK(r >= 0);
		if (world->ctx.alarms.due)
			alarms_run(&world->ctx.alarms);
		if (agenda_is_due(&world->ctx.agenda)) {
			update_turn(&update);
			r = 1;
		}
		/* After any input, the daemon comes to rest. */
		FUZZ_CHECK(n++ < REST_MAX);
	} while (r > 0);
}

static bool is_asked(const struct process *process)
{
	const struct service *s = process->service;

	return s->state != STATE_WAITING &&
	       (fsm_is_going_down(s->state) || s->state == STATE_CLEANING);
}

/* Returns false if the process goes on. */
static bool end_process(struct process *process)
{
	static const struct reap_exit exit = { .value = 0 };

	switch (process->kind) {
	case PROCESS_MAIN:
	case PROCESS_REMAINING:
		if (!is_asked(process))
			return false;
		service_process_died(process->service, process, &exit);
		return true;
	case PROCESS_HOOK:
		hook_died(process, &exit);
		return true;
	case PROCESS_PROBE:
		probe_died(process, &exit);
		return true;
	default:
		return false;
	}
}

static bool end_any(struct process_table *processes)
{
	struct process *p;

	for (size_t i = 0; i < ARRAY_SIZE(processes->buckets); i++)
		list_for_each (p, &processes->buckets[i], by_pid)
			if (p->alive && end_process(p))
				return true;
	return false;
}

void world_end_processes(struct world *world)
{
	/* Some are started again by their ends. */
	for (int n = 0; n < PROCESSES_MAX && end_any(&world->processes); n++)
		world_run(world);
}

void world_pass(struct world *world, uint64_t usec)
{
	struct alarms *alarms = &world->ctx.alarms;

	passed_usec += usec;
	for (int n = 0; n < REST_MAX && alarms->first && alarms->first->usec <= clock_now_usec();
	     n++)
		alarms_run(alarms);
	world_run(world);
}
