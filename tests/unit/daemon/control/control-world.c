#include "tests/unit/daemon/control/control-world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/main/update.h"

#define ROUNDS_MAX 1000

struct control *control;
struct trial trial;
struct programs programs;
struct upgrade upgrade;
struct rollout rollout;
struct changes changes;

static struct parent *parent;
static struct reload reload_by_request;
static char socket_path[128];

void control_begin(const char *text)
{
	static const char *const paths[] = { "config" };
	static const struct crash_history former;
	struct parent_address nobody = { .watchdog_usec = USEC_INFINITY };
	const struct control_config config = {
		.path = socket_path,
		.mode = 0600,
		.group = (gid_t)-1,
		.run_group = (gid_t)-1,
	};

	(void)snprintf(socket_path, sizeof(socket_path), "%s/control", directory);
	write_file("config", text, strlen(text));
	begin(text);
	ck_assert_int_eq(parent_new(&parent, &tree, &nobody), 0);
	reload_by_request = (struct reload){
		.tree = &tree,
		.parent = parent,
		.paths = paths,
		.n_paths = 1,
		.trust = true,
		.trial = &trial,
		.programs = &programs,
		.upgrade = &upgrade,
		.rollout = &rollout,
		.changes = &changes,
	};
	ck_assert_int_eq(rollout_init(&rollout, &tree), 0);
	changes_init(&changes, &tree, 1);
	trial_init(&trial, &ctx, &reload_by_request);
	programs_init(&programs, &tree);
	upgrade_init(&upgrade, &tree, &former);
	ck_assert_int_eq(control_new(&control, &tree, &reload_by_request), 0);
	ck_assert_int_eq(control_listen(control, &config), 0);
}

static void control_end(void)
{
	control = control_free(control);
	upgrade_done(&upgrade);
	closer_done(&trial.closer);
	closer_done(&programs.closer);
	rollout_done(&rollout);
	changes_done(&changes);
	parent = parent_free(parent);
	finish();
	remove_directory();
}

TCase *control_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, make_directory, control_end);
	return tc;
}

void serve(void)
{
	struct update update = { .tree = &tree, .control = control, .reload = &reload_by_request };
	int n = 0;

	do {
		ck_assert_int_lt(n++, ROUNDS_MAX);
		pass(0);
		update_turn(&update);
	} while (sd_event_run(ctx.event, 0) > 0 || agenda_is_due(&ctx.agenda));
}

void serve_later(uint64_t usec)
{
	pass(usec);
	serve();
}

void serve_child(void)
{
	int status = 0;
	struct reap_exit exit = { .pid = waitpid(-1, &status, 0) };
	struct process *process = process_find(&processes, exit.pid);

	exit.signaled = WIFSIGNALED(status);
	exit.value = exit.signaled ? WTERMSIG(status) : WEXITSTATUS(status);
	ck_assert_ptr_nonnull(process);
	closer_died(process, &exit);
	serve_later(0);
}

int client_new(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	(void)strcpy(address.sun_path, socket_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	serve();
	return fd;
}

static void call_with(int client, const char *method, const char *parameters, const char *flags)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "{\"method\":\"io.swansong.%s\",\"parameters\":{%s}%s}", method,
			 parameters, flags);

	ck_assert_int_lt(n, (int)sizeof(text));
	ck_assert_int_eq(send(client, text, (size_t)n + 1, MSG_NOSIGNAL), n + 1);
	serve();
}

void call(int client, const char *method, const char *parameters)
{
	call_with(client, method, parameters, "");
}

void call_more(int client, const char *method, const char *parameters)
{
	call_with(client, method, parameters, ",\"more\":true");
}

const char *reply(int client)
{
	static char text[16384];
	size_t n = 0;

	while (n < sizeof(text)) {
		ssize_t r = recv(client, text + n, 1, MSG_DONTWAIT);

		if (r <= 0)
			return r < 0 && errno == EAGAIN ? "" : "end";
		if (!text[n++])
			return text;
	}
	ck_abort_msg("a reply is too long");
}

void expect_reply(int client, const char *text)
{
	ck_assert_str_eq(reply(client), text);
}

void expect_in_reply(int client, const char *text)
{
	const char *found = reply(client);

	ck_assert_msg(strstr(found, text) != NULL, "'%s' is not in '%s'", text, found);
}
