#include "tests/fuzz/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/spawn/launch.h"
#include "daemon/tree/build.h"
#include "tests/fuzz/fuzz.h"

/* No process has such a number, or a higher one. */
#define NO_PID	 0x7ffff000
#define REST_MAX 10000

int __wrap_launch(const struct launch *launch, struct context *context,
		  const struct launch_program *program, pid_t *pid, struct launch_failure *failure);
int __wrap_launch(const struct launch *launch, struct context *context,
		  const struct launch_program *program, pid_t *pid, struct launch_failure *failure)
{
	static pid_t launched;

	(void)launch;
	(void)context;
	(void)program;
	(void)failure;
	*pid = NO_PID + launched++ % 1000;
	return 0;
}

/* No call may change a file of the machine, whichever file an input names. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	if ((flags & O_ACCMODE) != O_RDONLY && strncmp(path, "fuzz-", 5) != 0) {
		errno = EACCES;
		return -1;
	}
	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return __real_open(path, flags, mode);
}

int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)address;

	if (un->sun_family != AF_UNIX || (length > sizeof(un->sun_family) && un->sun_path[0] &&
					  strncmp(un->sun_path, "fuzz-", 5) != 0)) {
		errno = EACCES;
		return -1;
	}
	return __real_bind(fd, address, length);
}

void world_begin(struct world *world, const char *text)
{
	static struct log log = { .fd = -1, .level = LOG_DEBUG, .name = "fuzz" };
	static struct signals signals;
	static struct fuzz_file file = FUZZ_FILE;
	static const char *const paths[] = { file.path };
	static char *environment[] = { NULL };
	struct parent_address nobody = { .watchdog_usec = USEC_INFINITY };
	struct config *config = NULL;

	fuzz_file_set(&file, text, strlen(text));
	*world = (struct world){
		.reload = { .tree = &world->tree, .paths = paths, .n_paths = 1, .trust = true }
	};
	FUZZ_CHECK(context_init(&world->ctx, &log, &signals) == 0);
	process_table_init(&world->processes);
	world->ctx.processes = &world->processes;
	world->ctx.environment = environment;
	FUZZ_CHECK(reload_config(&config, paths, 1, true, &log, NULL) == 0);
	FUZZ_CHECK(tree_init(&world->tree, &world->ctx, config) == 0);
	config_unref(config);
	FUZZ_CHECK(parent_new(&world->parent, &world->tree, &nobody) == 0);
	world->reload.parent = world->parent;
}

void world_end(struct world *world)
{
	world->control = control_free(world->control);
	world->parent = parent_free(world->parent);
	tree_done(&world->tree);
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
