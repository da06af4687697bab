#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/roster.h"
#include "daemon/streams/activation.h"
#include "daemon/streams/listener.h"
#include "daemon/notify/watchdog.h"

static struct context ctx;
static struct process_table processes;
static char scratch[64];

static void setup(void)
{
	static struct log log = { .fd = -1, .level = LOG_EMERG, .name = "test" };
	static struct signals signals;

	(void)snprintf(scratch, sizeof(scratch), "/tmp/test-activation.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	process_table_init(&processes);
	ctx.processes = &processes;
}

static void teardown(void)
{
	ck_assert(list_is_empty(&ctx.listeners));
	closer_discards_done(&ctx);
	process_table_done(&processes);
	context_done(&ctx);
	ck_assert_int_eq(rmdir(scratch), 0);
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Waits for children that close some, one after the other. */
static unsigned await_descriptors(unsigned n)
{
	for (int i = 0; i < 10000 && count_descriptors() != n; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		struct process *closer = pid > 0 ? process_find(&processes, pid) : NULL;

		if (closer)
			closer_died(closer, &(struct reap_exit){ .pid = pid });
		(void)poll(NULL, 0, 1);
	}
	return count_descriptors();
}

/* --- the store --- */

static int new_file(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(stored_descriptors_stay_in_order)
{
	struct fdstore store;
	const struct fdstore_entry *entry;
	const char *names[] = { "a", "b", "a" };
	unsigned before = count_descriptors();
	int more = new_file();
	size_t n = 0;

	fdstore_init(&store, &ctx, "web", 3);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(fdstore_add(&store, new_file(), names[i], true), 0);
	ck_assert_int_eq(fdstore_add(&store, more, "c", true), -ENOBUFS);
	ck_assert_int_eq(close(more), 0);
	ck_assert_uint_eq(await_descriptors(before + 3), before + 3);
	list_for_each (entry, &store.entries, in_store)
		ck_assert_str_eq(entry->name, names[n++]);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(fdstore_remove(&store, "c"), 0);
	ck_assert_uint_eq(fdstore_remove(&store, "a"), 2);
	ck_assert_uint_eq(store.n, 1);
	fdstore_clear(&store);
	ck_assert_uint_eq(await_descriptors(before), before);
}
END_TEST

START_TEST(descriptor_with_a_closed_other_end_is_removed)
{
	struct fdstore store;
	int fds[2], kept[2];

	fdstore_init(&store, &ctx, "web", 3);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(kept, O_CLOEXEC), 0);
	ck_assert_int_eq(fdstore_add(&store, fds[0], "pipe", true), 0);
	ck_assert_int_eq(fdstore_add(&store, kept[0], "kept", false), 0);
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	(void)close(fds[1]);
	(void)close(kept[1]);
	ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(store.n, 1);
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(fdstore_remove(&store, "kept"), 1);
}
END_TEST

START_TEST(the_same_file_is_stored_once)
{
	struct fdstore store;
	unsigned before = count_descriptors();
	int fd = new_file(), same = dup(fd);

	fdstore_init(&store, &ctx, "web", 3);
	ck_assert_int_eq(fdstore_add(&store, fd, "a", true), 0);
	/* Where the kernel refuses to compare, it is another. */
	if (fdstore_add(&store, same, "b", true) > 0)
		ck_assert_int_eq(close(same), 0);
	ck_assert_uint_ge(store.n, 1);
	fdstore_clear(&store);
	ck_assert_uint_eq(await_descriptors(before), before);
	ck_assert_int_lt(fcntl(same, F_GETFD), 0);
}
END_TEST

START_TEST(stored_descriptors_go_on_after_a_fault)
{
	struct fdstore store, next, other;
	struct fdstore_entry *entry;
	cleanup(closep) int file = memfd_create("roster", MFD_CLOEXEC);
	int fds[2];

	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	fdstore_init(&store, &ctx, "web", 3);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(fdstore_add(&store, fds[0], "pipe", true), 0);
	ck_assert_int_eq(fdstore_add(&store, new_file(), "file", false), 0);
	ck_assert_int_eq(fdstore_add(&store, new_file(), "gone", false), 0);
	ck_assert_uint_eq(fdstore_remove(&store, "gone"), 1);
	/* The next image has nothing but the file and the descriptors. */
	list_for_each_taken (entry, &store.entries, in_store) {
		sd_event_source_disable_unref(entry->hangup);
		free(entry);
	}
	ctx.roster = roster_free(ctx.roster);
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	fdstore_init(&other, &ctx, "db", 3);
	ck_assert_uint_eq(other.n, 0);
	fdstore_init(&next, &ctx, "web", 3);
	roster_settle(ctx.roster);
	ck_assert_uint_eq(next.n, 2);
	ck_assert_int_ge(fcntl(fds[0], F_GETFD), 0);
	(void)close(fds[1]);
	ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(next.n, 1);
	ck_assert_uint_eq(fdstore_remove(&next, "file"), 1);
	ctx.roster = roster_free(ctx.roster);
}
END_TEST

/* --- descriptors of a start --- */

/* Of one node at a time. */
static struct node_config node(struct listen *listen, size_t n)
{
	static struct extras extras;

	extras.listen = listen;
	extras.n_listen = n;
	extras.fd_store_max = 2;
	return (struct node_config){
		.refs = 1,
		.path = "a",
		.parts.extras = &extras,
		.notify = true,
	};
}

static struct listen at_path(char path[static 100], const char *name)
{
	(void)snprintf(path, 100, "%s/%s", scratch, name);
	return (struct listen){
		.kind = LISTEN_UNIX,
		.address = path,
		.name = (char *)name,
		.mode = 0640,
		.owner = (uid_t)-1,
		.group = (gid_t)-1,
	};
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	r = connect(fd, (struct sockaddr *)&address, sizeof(address));
	(void)close(fd);
	return r;
}

START_TEST(start_gets_sockets_then_the_store)
{
	char paths[2][100];
	struct listen listen[] = { at_path(paths[0], "x"), at_path(paths[1], "y") };
	struct node_config config = node(listen, 2);
	struct activation_plan plan;
	struct activation *a;

	ck_assert_int_eq(activation_new(&a, &ctx, &config), 0);
	activation_plan(a, &plan);
	ck_assert_uint_eq(plan.n_files, 2);
	ck_assert_str_eq(plan.variables[2], "LISTEN_FDNAMES=x:y");
	ck_assert_int_eq(activation_store(a, new_file(), "one", true), 0);
	ck_assert_int_eq(activation_store(a, new_file(), "two", true), 0);
	ck_assert_int_eq(activation_store(a, new_file(), "three", true), -ENOBUFS);
	activation_plan(a, &plan);
	ck_assert_uint_eq(plan.n_files, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(plan.files[i].to, 3 + i);
	ck_assert_str_eq(plan.variables[0], "LISTEN_PID=");
	ck_assert_ptr_eq(plan.pid, plan.variables[0] + strlen("LISTEN_PID="));
	ck_assert_str_eq(plan.variables[1], "LISTEN_FDS=4");
	ck_assert_str_eq(plan.variables[2], "LISTEN_FDNAMES=x:y:one:two");
	activation_unlisten(a);
	activation_plan(a, &plan);
	ck_assert_str_eq(plan.variables[2], "LISTEN_FDNAMES=one:two");
	fdstore_clear(activation_fdstore(a));
	activation_plan(a, &plan);
	ck_assert_uint_eq(plan.n_files, 0);
	ck_assert(!plan.variables[0] && !plan.pid);
	activation_free(a);
}
END_TEST

START_TEST(service_without_descriptors_has_no_activation)
{
	struct node_config config = node(NULL, 0);
	struct activation *a;

	config.notify = false;
	ck_assert_int_eq(activation_new(&a, &ctx, &config), 0);
	ck_assert_ptr_null(a);
	ck_assert_ptr_null(activation_free(a));
}
END_TEST

/* --- listeners --- */

START_TEST(handed_over_descriptors_are_named)
{
	const struct handover list[] = { { "PAGE", 10 }, { "PAGE", 11 }, { "OTHER", 12 } };
	const int numbers[] = { 5, 6, 8 }, sources[] = { 10, 11, 12 };
	struct handover many[HANDOVER_MAX + 1];
	struct handover_plan plan;

	handover_plan(&plan, list, ARRAY_SIZE(list), 5, 7);
	ck_assert_uint_eq(plan.n_files, 3);
	for (size_t i = 0; i < plan.n_files; i++) {
		ck_assert_int_eq(plan.files[i].to, numbers[i]);
		ck_assert_int_eq(plan.files[i].from, sources[i]);
	}
	ck_assert_uint_eq(plan.n_variables, 2);
	ck_assert_str_eq(plan.variables[0], "PAGE=5:6");
	ck_assert_str_eq(plan.variables[1], "OTHER=8");

	handover_plan(&plan, NULL, 0, 3, -1);
	ck_assert(plan.n_files == 0 && plan.n_variables == 0);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct handover){ "MANY", (int)i };
	handover_plan(&plan, many, ARRAY_SIZE(many), 3, -1);
	ck_assert_uint_eq(plan.n_files, HANDOVER_MAX);
	ck_assert_str_eq(plan.variables[0], "MANY=3:4:5:6:7:8");
}
END_TEST

START_TEST(services_of_an_address_share_its_socket)
{
	char path[100];
	struct listen listen = at_path(path, "x");
	struct node_config config = node(&listen, 1);
	struct listener *a, *b;
	struct stat st;

	ck_assert_int_eq(listener_get(&a, &ctx, &config, KEY_LISTEN, &listen), 0);
	ck_assert_int_eq(listener_get(&b, &ctx, &config, KEY_LISTEN, &listen), 0);
	ck_assert_ptr_eq(a, b);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
	listener_put(a);
	ck_assert_int_eq(connect_to(path), 0);
	listener_put(b);
	ck_assert_int_lt(stat(path, &st), 0);
}
END_TEST

static void serve(int fd)
{
	ck_assert_int_eq(listen(fd, 16), 0);
}

static void count_call(void *arg)
{
	++*(unsigned *)arg;
}

START_TEST(a_watch_reports_one_connection_also_on_a_shared_socket)
{
	char path[100];
	struct listen listen = at_path(path, "x");
	struct node_config config = node(&listen, 1);
	unsigned before = count_descriptors(), calls = 0, other_calls = 0;
	struct activation *a, *other;

	ck_assert_int_eq(activation_new(&a, &ctx, &config), 0);
	ck_assert_int_eq(activation_new(&other, &ctx, &config), 0);
	ck_assert_int_eq(activation_watch(a, count_call, &calls), 0);
	ck_assert_int_eq(activation_watch(other, count_call, &other_calls), 0);
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_int_eq(connect_to(path), 0);
	while (sd_event_run(ctx.event, 0) > 0)
		;
	ck_assert(calls == 1 && other_calls == 1);
	/* It still waits in the socket. */
	ck_assert_int_eq(activation_watch(a, count_call, &calls), 0);
	while (sd_event_run(ctx.event, 0) > 0)
		;
	ck_assert(calls == 2 && other_calls == 1);
	activation_free(other);
	activation_free(a);
	/* A child closes the socket, as the connection may have descriptors. */
	ck_assert_int_gt(wait(NULL), 0);
	ck_assert_uint_eq(await_descriptors(before), before);
}
END_TEST

START_TEST(closed_sockets_are_opened_again)
{
	char path[100];
	struct listen listen = at_path(path, "x");
	struct node_config config = node(&listen, 1);
	struct activation *a;

	ck_assert_int_eq(activation_new(&a, &ctx, &config), 0);
	ck_assert(activation_is_listening(a));
	activation_unlisten(a);
	ck_assert(!activation_is_listening(a));
	ck_assert_int_lt(connect_to(path), 0);
	ck_assert_int_eq(activation_listen(a), 0);
	ck_assert_int_eq(connect_to(path), 0);
	activation_free(a);
}
END_TEST

START_TEST(an_address_in_use_is_refused_and_kept)
{
	char path[100];
	struct listen listen = at_path(path, "x");
	struct node_config config = node(&listen, 1);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct listener *l;
	struct activation *a;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	serve(fd);
	ck_assert_int_eq(listener_get(&l, &ctx, &config, KEY_LISTEN, &listen), -EADDRINUSE);
	ck_assert_int_eq(activation_new(&a, &ctx, &config), -EADDRINUSE);
	ck_assert_ptr_null(a);
	ck_assert_int_eq(connect_to(path), 0);
	(void)close(fd);
	/* The socket at the path has no process any more. */
	ck_assert_int_eq(listener_get(&l, &ctx, &config, KEY_LISTEN, &listen), 0);
	ck_assert_int_eq(connect_to(path), 0);
	listener_put(l);
}
END_TEST

START_TEST(file_at_the_address_is_kept)
{
	char path[100];
	struct listen listen = at_path(path, "x");
	struct node_config config = node(&listen, 1);
	struct listener *l;

	(void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ck_assert_int_eq(listener_get(&l, &ctx, &config, KEY_LISTEN, &listen), -EEXIST);
	ck_assert_int_eq(unlink(path), 0);

	/* A file that has replaced the socket is kept, too. */
	ck_assert_int_eq(listener_get(&l, &ctx, &config, KEY_LISTEN, &listen), 0);
	ck_assert_int_eq(unlink(path), 0);
	(void)close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	listener_put(l);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* --- the watchdog --- */

static unsigned n_expired;

static void on_expired(void *arg)
{
	ck_assert_ptr_eq(arg, &n_expired);
	n_expired++;
}

/* Handles one event of the loop, and the alarms that have expired after it. */
static void run_loop(uint64_t usec)
{
	ck_assert_int_ge(sd_event_run(ctx.event, usec), 0);
	if (ctx.alarms.due)
		alarms_run(&ctx.alarms);
}

START_TEST(sign_of_life_prolongs_the_watchdog)
{
	struct watchdog w;
	uint64_t began, pinged;

	watchdog_init(&w, &ctx, on_expired, &n_expired);
	watchdog_set(&w, 50 * USEC_PER_MSEC);
	ck_assert_uint_eq(watchdog_left(&w, clock_now_usec()), USEC_INFINITY);
	began = clock_now_usec();
	watchdog_start(&w);
	while (clock_now_usec() < began + 30 * USEC_PER_MSEC)
		;
	watchdog_ping(&w);
	pinged = clock_now_usec();
	while (n_expired == 0)
		run_loop(10 * USEC_PER_SEC);
	ck_assert_uint_ge(clock_now_usec() + 1 - pinged, 50 * USEC_PER_MSEC - 1000);
	/* It is off now. */
	ck_assert_uint_eq(watchdog_left(&w, clock_now_usec()), USEC_INFINITY);
	run_loop(0);
	ck_assert_uint_eq(n_expired, 1);
	watchdog_done(&w);
}
END_TEST

START_TEST(watchdog_without_an_interval_does_not_expire)
{
	struct watchdog w;

	watchdog_init(&w, &ctx, on_expired, &n_expired);
	watchdog_start(&w);
	watchdog_set(&w, USEC_INFINITY);
	ck_assert_uint_eq(watchdog_left(&w, clock_now_usec()), USEC_INFINITY);
	watchdog_set(&w, 1);
	watchdog_stop(&w);
	run_loop(0);
	ck_assert_uint_eq(n_expired, 0);
	watchdog_done(&w);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-activation");
	TCase *tc = tcase_create("daemon-activation");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, stored_descriptors_stay_in_order);
	tcase_add_test(tc, descriptor_with_a_closed_other_end_is_removed);
	tcase_add_test(tc, the_same_file_is_stored_once);
	tcase_add_test(tc, stored_descriptors_go_on_after_a_fault);
	tcase_add_test(tc, start_gets_sockets_then_the_store);
	tcase_add_test(tc, service_without_descriptors_has_no_activation);
	tcase_add_test(tc, handed_over_descriptors_are_named);
	tcase_add_test(tc, services_of_an_address_share_its_socket);
	tcase_add_test(tc, a_watch_reports_one_connection_also_on_a_shared_socket);
	tcase_add_test(tc, closed_sockets_are_opened_again);
	tcase_add_test(tc, an_address_in_use_is_refused_and_kept);
	tcase_add_test(tc, file_at_the_address_is_kept);
	tcase_add_test(tc, sign_of_life_prolongs_the_watchdog);
	tcase_add_test(tc, watchdog_without_an_interval_does_not_expire);
	suite_add_tcase(s, tc);
	return s;
}
