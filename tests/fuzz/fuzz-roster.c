/*
 * The memory file by which the daemon goes on: an input is the number of rows of the roster, a byte, then the
 * history of faults and the rows.  The rest is the tape of the configuration, or the records of the logger.
 * Descriptors and children of the rows exist.
 *
 * The outcome is a set of rows or a refusal; rows that are written and read again are the same; a tree
 * that goes on by them can be described, and ends without a descriptor of theirs.  Seeds of a format stay when
 * another one follows.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "daemon/describe/describe.h"
#include "daemon/guard/lease.h"
#include "daemon/logger/logging.h"
#include "daemon/loop/roster.h"
#include "daemon/reap/former-goals.h"
#include "daemon/reap/survivors.h"
#include "daemon/service/object.h"
#include "daemon/tree/exit.h"
#include "daemon/tree/goals.h"
#include "proto/logger-store.h"
#include "sys/ipc/pagefile.h"
#include "sys/spawn/crash-history.h"
#include "tests/fuzz/world.h"

#define ROWS_AT	      4096 /* in the file */
#define ROWS_MAX      16
#define FIRST_FD      100 /* of the rows */
#define FDS_MAX	      (FIRST_FD + 4 * ROWS_MAX)
#define CHILDREN      4
#define WRONG_FILE    0x80 /* in the number of a row: its descriptor is one of another kind */
#define HISTORY_SIZE  sizeof(struct crash_history)
#define NUMBER_MAPPED 1000 /* from here on a number names nothing */

static const char config[] = "[swansong]\ncontrol-socket = none\n"
			     "[web]\nshutdown-timeout = 1min\n"
			     "[web/a]\ncommand = a\nattach = yes\nlog = file:/a\n"
			     "listen = tcp:127.0.0.1:8471\n"
			     "[web/b]\ncommand = b\nrequires = web/a\nready = notify\nlog = null\n"
			     "fd-store-max = 4\nsuccess-status = 3 SIGHUP\n"
			     "[web/once]\ncommand = c\ntype = oneshot\nlog = null\n"
			     "[job]\ncommand = c\ntype = oneshot\nschedule = 1h\nlog = null\n"
			     "[db]\ncommand = d\ncontrol = yes\nautostart = no\nlog = null\n";

static pid_t children[CHILDREN];

/* No process is sent a signal: neither children, which stay, nor one that a damaged row names. */
int __wrap_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo)
{
	(void)pid;
	(void)signo;
	return 0;
}

/* A child claims to be of a service.  A process that reads its environment would be slow. */
int __wrap_environment_read(pid_t pid, const char *name, char *buf, size_t size);
int __wrap_environment_read(pid_t pid, const char *name, char *buf, size_t size)
{
	(void)name;
	(void)snprintf(buf, size, "web/b");
	return pid == children[0] ? 0 : -ENOENT;
}

/* At once, and not in a child, so that descriptors can be counted. */
int __wrap_passed_close_now(int fd);
int __wrap_passed_close_now(int fd)
{
	return fd_close(fd);
}

void __wrap_closer_discard(struct context *ctx, const char *owner, const int *fds, size_t n);
void __wrap_closer_discard(struct context *ctx, const char *owner, const int *fds, size_t n)
{
	(void)ctx;
	(void)owner;
	for (size_t i = 0; i < n; i++)
		(void)fd_close(fds[i]);
}

/* No port is taken, of which there is one for all programs. */
int __wrap_inet_listen(const struct sockaddr *address, socklen_t length, int type);
int __wrap_inet_listen(const struct sockaddr *address, socklen_t length, int type)
{
	(void)address;
	(void)length;
	return socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
}

static void make_children(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
		children[i] = fork();
		FUZZ_CHECK(children[i] >= 0);
		if (children[i] > 0)
			continue;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd_close_above(STDERR_FILENO);
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			(void)close(fd);
		for (;;)
			(void)pause();
	}
}

/* Some descriptors are kept for the next input; those of the fuzzer are none of a former image. */
static void begin_input(void)
{
	static struct world world;

	if (!children[0]) {
		world_begin(&world, config);
		world_end(&world);
		make_children();
	}
	for (int fd = STDERR_FILENO + 1; fd < FIRST_FD; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < FDS_MAX; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Some are closed by children, which share the table of descriptors. */
static bool await_fds(int n)
{
	for (int i = 0; i < 10000 && count_fds() != n; i++)
		(void)poll(NULL, 0, 1);
	return count_fds() == n;
}

/* --- descriptors of the former image --- */

struct files {
	int ours[ROWS_MAX]; /* the other ends */
	int former[ROWS_MAX];
	int numbers[ROWS_MAX]; /* in the input */
	int n;
	const uint8_t *tape;
	size_t tape_size;
};

static int make_socket(int type, bool listens)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address.sun_family)) == 0);
	FUZZ_CHECK(!listens || listen(fd, 1) == 0);
	return fd;
}

static int make_memory(const void *data, size_t size, unsigned seals)
{
	int fd = memfd_create("row", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
	FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

/* The store of the logger has no output. */
static int make_store(const struct files *files)
{
	int fd = make_memory(NULL, 0, 0);

	FUZZ_CHECK(ftruncate(fd, STORE_HEADER + 8 * STORE_RECORD) == 0);
	FUZZ_CHECK(pwrite(fd, files->tape, files->tape_size, STORE_HEADER) ==
		   (ssize_t)files->tape_size);
	return fd;
}

static int make_pair(int *ours)
{
	int fds[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	*ours = fds[1];
	return fds[0];
}

static int make_pipe(int *ours)
{
	int fds[2];

	FUZZ_CHECK(pipe2(fds, O_NONBLOCK | O_CLOEXEC) == 0);
	*ours = fds[1];
	return fds[0];
}

enum file_kind { PAIR, PIPE, TAPE, LISTENER, DATAGRAM, PAGE, STORE, N_FILES };

static enum file_kind kind_of_file(const struct roster_row *row)
{
	static const struct {
		const char *prefix;
		enum file_kind kind;
	} kinds[] = {
		{ "configuration", TAPE }, { "output ", PIPE }, { "errors ", PIPE },
		{ "listen ", LISTENER },   { "page ", PAGE },	{ "logger store", STORE },
		{ "control ", LISTENER },  { "/", DATAGRAM },	{ "@", DATAGRAM },
	};

	if (row->number & WRONG_FILE)
		return row->number % N_FILES;
	if (row->kind == ROSTER_STORED)
		return PIPE;
	if (row->kind == ROSTER_TRANSIENT)
		return TAPE;
	for (size_t i = 0; row->kind == ROSTER_DESCRIPTOR && i < ARRAY_SIZE(kinds); i++)
		if (strncmp(row->name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return PAIR;
}

static int make_file(const struct files *files, enum file_kind kind, int *ours)
{
	switch (kind) {
	case TAPE:
		return make_memory(files->tape, files->tape_size, F_SEAL_WRITE);
	case STORE:
		return make_store(files);
	case PAGE:
		return pagefile_new();
	case LISTENER:
		return make_socket(SOCK_STREAM, true);
	case DATAGRAM:
		return make_socket(SOCK_DGRAM, false);
	case PIPE:
		return make_pipe(ours);
	default:
		return make_pair(ours);
	}
}

/* Rows of one number have one descriptor, as that of a connection with guards. */
static int32_t find_file(struct files *files, const struct roster_row *row)
{
	int i = 0, fd;

	if (row->number < 0 || row->number >= NUMBER_MAPPED)
		return row->number;
	while (i < files->n && files->numbers[i] != row->number)
		i++;
	if (i < files->n)
		return files->former[i];
	files->ours[i] = -1;
	fd = make_file(files, kind_of_file(row), &files->ours[i]);
	files->former[i] = FIRST_FD + 2 * i;
	FUZZ_CHECK(fd >= 0 && dup3(fd, files->former[i], 0) >= 0);
	(void)close(fd);
	files->numbers[files->n++] = row->number;
	return files->former[i];
}

static void close_files(const struct files *files)
{
	for (int i = 0; i < files->n; i++)
		(void)fd_close(files->ours[i]);
}

static pid_t find_child(uint64_t number)
{
	return number > 0 && number < NUMBER_MAPPED * 1000 ? children[number % CHILDREN]
							   : (pid_t)number;
}

/* Gives the numbers of the input to files and processes of the fuzzer. */
static void map_row(struct files *files, struct roster_row *row)
{
	if (row->kind == ROSTER_PROCESS)
		row->number = find_child((uint64_t)row->number);
	else if (row->kind != ROSTER_GOAL && row->kind < ROSTER_SCHEDULE)
		row->number = find_file(files, row);
	if (strncmp(row->name, "logger store", sizeof(row->name)) == 0)
		row->detail[0] = (uint64_t)find_child(row->detail[0]);
}

/* --- the file --- */

static int write_file(const uint8_t *data, size_t size, struct files *files)
{
	static struct roster_row rows[ROWS_MAX];
	struct fuzz_input input = { data, size };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	const uint8_t *part;
	size_t max = fuzz_byte(&input) % (ROWS_MAX + 1),
	       n = fuzz_bytes(&input, HISTORY_SIZE, &part);

	FUZZ_CHECK(fd >= 0 && pwrite(fd, part, n, 0) == (ssize_t)n);
	n = MIN(input.size / sizeof(rows[0]), max);
	(void)fuzz_bytes(&input, n * sizeof(rows[0]), &part);
	memcpy(rows, part, n * sizeof(rows[0]));
	files->tape = input.data;
	files->tape_size = input.size;
	for (size_t i = 0; i < n; i++)
		map_row(files, &rows[i]);
	n *= sizeof(rows[0]);
	FUZZ_CHECK(pwrite(fd, rows, n, ROWS_AT) == (ssize_t)n);
	return fd;
}

static enum crash_reason read_history(int fd)
{
	struct crash_history history;
	const struct crash *latest;

	/* Rows are read also behind a history that is refused. */
	if (crash_history_read(fd, &history) < 0)
		return CRASH_FAULT;
	latest = crash_latest(&history);
	FUZZ_CHECK(latest >= history.last && latest < history.last + CRASHES_KEPT);
	return history.reason ? (enum crash_reason)history.reason : CRASH_FAULT;
}

/* --- rows --- */

static void check_row(const struct roster_row *row)
{
	FUZZ_CHECK(memchr(row->path, 0, sizeof(row->path)));
	FUZZ_CHECK(memchr(row->name, 0, sizeof(row->name)));
	if (row->kind == ROSTER_DESCRIPTOR || row->kind == ROSTER_CONNECTION ||
	    row->kind == ROSTER_LEASE_FD || row->kind == ROSTER_STORED ||
	    row->kind == ROSTER_TRANSIENT)
		FUZZ_CHECK(row->number > STDERR_FILENO && fcntl(row->number, F_GETFD) >= 0);
}

/* Rows that are written are read again; descriptors stay those of @roster. */
static void check_round_trip(struct roster *roster)
{
	int fd = memfd_create("again", MFD_CLOEXEC);
	struct roster_row *row, *again;
	struct roster *writer, *reader;
	unsigned place;

	FUZZ_CHECK(fd >= 0 && roster_new(&writer, fd) == 0);
	for (uint32_t kind = ROSTER_DESCRIPTOR; kind <= ROSTER_MESSAGES; kind++)
		for (size_t at = 0; (row = roster_next(roster, kind, &at));) {
			check_row(row);
			place = 0;
			roster_write(writer, &place, row);
			FUZZ_CHECK(place > 0);
		}
	roster_free(writer);
	FUZZ_CHECK(roster_new(&reader, fd) == 0);
	for (uint32_t kind = ROSTER_DESCRIPTOR; kind <= ROSTER_FINAL; kind++) {
		size_t to = 0;

		for (size_t at = 0; (row = roster_next(roster, kind, &at));) {
			again = roster_next(reader, kind, &to);
			FUZZ_CHECK(again && memcmp(again, row, sizeof(*row)) == 0);
			again->kind = ROSTER_NONE;
		}
		FUZZ_CHECK(!roster_next(reader, kind, &to));
	}
	roster_free(reader);
	(void)close(fd);
}

/* --- the tree --- */

static void check_service(const struct service *s)
{
	const struct outcome *outcome = &s->run.outcome;

	FUZZ_CHECK(s->state < N_STATES);
	FUZZ_CHECK(!s->main.alive || (s->main.pid > 0 && fsm_has_process(s->state)));
	FUZZ_CHECK(outcome->kind <= OUTCOME_UNKNOWN && outcome->end <= END_DUMPED);
	FUZZ_CHECK(outcome->kind != OUTCOME_EXITED ||
		   (outcome->value >= 0 && outcome->value <= UINT8_MAX));
	FUZZ_CHECK(outcome->kind != OUTCOME_SIGNALED ||
		   (outcome->value > 0 && outcome->value <= SIGRTMAX));
}

static void check_tree(struct world *world)
{
	struct node *root = world->tree.root;
	char line[DESCRIBE_LINE_MAX];
	json_t *json;

	for (struct node *n = root; n; n = node_next(n, root)) {
		json = describe_node(n);
		FUZZ_CHECK(json);
		json_decref(json);
		if (n->service)
			check_service(n->service);
	}
	json = describe_guards(root, false);
	FUZZ_CHECK(json && json_array_size(json) <= (size_t)CHILDREN + ROWS_MAX + 1);
	json_decref(json);
	(void)describe_line(line, &world->tree);
}

/* As daemon_start() does it. */
static void go_on(struct world *world)
{
	struct control_config control = { .mode = 0600, .group = (gid_t)-1 };
	static struct survivors survivors;
	char path[64];

	(void)snprintf(path, sizeof(path), "@fuzz-control-%d", (int)getpid());
	control.path = path;
	FUZZ_CHECK(control_new(&world->control, &world->tree, &world->reload) == 0);
	/* The former socket, or none. */
	(void)control_listen(world->control, &control);
	lease_keep_ids(&world->ctx);
	requests_take_former_runs(&world->tree);
	survivors_begin(&survivors, &world->tree);
	control_take_former(world->control);
	former_goals_take(&world->tree);
	(void)exit_take_former(&world->tree);
	roster_settle(world->ctx.roster);
	check_tree(world);
	world_run(world);
	check_tree(world);
	world_end_processes(world);
	world_pass(world, 3600 * USEC_PER_SEC);
	check_tree(world);
	survivors_done(&survivors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;
	struct files files = { .n = 0 };
	struct roster *roster;
	enum crash_reason reason;
	int fd, n;

	begin_input();
	n = count_fds();
	fd = write_file(data, size, &files);
	reason = read_history(fd);
	FUZZ_CHECK(roster_new(&roster, fd) == 0);
	roster_close_strays(roster);
	check_round_trip(roster);
	/* The configuration of the tape may be one that is refused, as all of them. */
	if (world_begin_after(&world, config, roster, reason)) {
		go_on(&world);
		world_end(&world);
	}
	roster_free(roster);
	(void)close(fd);
	close_files(&files);
	FUZZ_CHECK(await_fds(n));
	return 0;
}
