/*
 * The processes around an attached program: the processes that it forks and executes, another
 * process that wants to be attached, and the end of the program.  The daemon is the test, and the
 * program is a child of it, as only other processes see a lock.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/fake-daemon.h"
#include "tests/unit/fixtures/main.h"
#include <swansong/swansong.h>

extern char **environ;

static struct fake_daemon fake;
static pid_t program;
static struct swansong *root, *child; /* the program's */

/* Like an assertion, in another process. */
#define must(condition)                         \
	do {                                    \
		if (!(condition))               \
			_exit(__LINE__ & 0xff); \
	} while (0)

static bool page_is_locked(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	ck_assert_int_eq(fcntl(fake.fd, F_GETLK, &lock), 0);
	return lock.l_type != F_UNLCK;
}

static bool hears(const char *message)
{
	char buf[64] = "";
	struct pollfd p = { .fd = fake.socket, .events = POLLIN };

	return poll(&p, 1, 30000) == 1 && recv(fake.socket, buf, sizeof(buf) - 1, 0) >= 0 &&
	       strcmp(buf, message) == 0;
}

static int hold[2]; /* a pipe: some processes stay until its end */

static void stay(void)
{
	char byte;

	(void)close(hold[1]);
	must(read(hold[0], &byte, 1) == 0);
}

/* Runs @body in a process with the descriptors and the environment of a service. */
static void begin_program(void (*body)(void))
{
	ck_assert(fake_daemon_make(&fake, 4, FAKE_DAEMON_SEALS));
	ck_assert_int_eq(pipe(hold), 0);
	program = fork();
	ck_assert_int_ge(program, 0);
	if (program == 0) {
		(void)close(fake.socket);
		body();
		_exit(EXIT_SUCCESS);
	}
	(void)close(fake.passed_end);
}

static int exit_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void end_program(void)
{
	ck_assert_int_eq(exit_status(program), 0);
	ck_assert(!page_is_locked());
	fake_daemon_end(&fake);
}

static void go_on(void)
{
	must(raise(SIGSTOP) == 0);
}

/* Waits until the program has come to go_on(). */
static void wait_for_program(void)
{
	int status;

	ck_assert_int_eq(waitpid(program, &status, WUNTRACED), program);
	ck_assert(WIFSTOPPED(status));
}

/* ---- crash ---- */

static void crash(void)
{
	struct swansong_guard g;
	struct rlimit none = { 0 };

	must(setrlimit(RLIMIT_CORE, &none) == 0);
	must(swansong_attach(&root) == 1);
	g = swansong_guard(root);
	(void)g;
	go_on();
	abort();
}

START_TEST(the_guards_of_a_program_that_crashes_do_not_count)
{
	begin_program(crash);
	wait_for_program();
	ck_assert(page_is_locked());
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	ck_assert_int_eq(kill(program, SIGCONT), 0);
	ck_assert(WIFSIGNALED(exit_status(program)));
	ck_assert(!page_is_locked());
	ck_assert(hears("ATTACHED"));
	ck_assert(hears(""));
	fake_daemon_end(&fake);
}
END_TEST

/* ---- another process ---- */

static void attach_and_stay(void)
{
	must(swansong_attach(&root) == 1);
	go_on();
	root = swansong_unref(root);
}

START_TEST(a_second_process_is_refused_while_the_first_is_attached)
{
	struct swansong *s = NULL;
	int pair[2];

	begin_program(attach_and_stay);
	wait_for_program();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fake.passed_end = pair[0];
	fake_daemon_announce(&fake);
	ck_assert_int_eq(swansong_attach(&s), -EBUSY);
	ck_assert_ptr_null(s);
	ck_assert_ptr_null(getenv(PAGE_VARIABLE));
	ck_assert_int_lt(fcntl(fake.passed, F_GETFD), 0);
	ck_assert_int_lt(fcntl(pair[0], F_GETFD), 0);
	ck_assert(page_is_locked());
	ck_assert_int_eq(kill(program, SIGCONT), 0);
	end_program();
}
END_TEST

/* The process that is attached next begins the page anew. */
static void attach_after_another(void)
{
	struct swansong_guard g;
	pid_t first = fork();

	must(first >= 0);
	if (first == 0) {
		must(swansong_attach(&root) == 1);
		g = swansong_guard(root);
		_exit(EXIT_SUCCESS);
	}
	must(exit_status(first) == 0);
	must(fake_daemon_guards(&fake) == 1);
	must(swansong_attach(&root) == 1);
	must(fake_daemon_guards(&fake) == 0);
	g = swansong_guard(root);
	must(fake_daemon_guards(&fake) == 1);
	swansong_guard_drop(&g);
	root = swansong_unref(root);
}

START_TEST(a_process_may_be_attached_after_another)
{
	begin_program(attach_after_another);
	end_program();
}
END_TEST

/* ---- fork ---- */

static struct swansong_guard before_fork;

/* Everything that a program does with a tree, in a forked process. */
static void live_in_fork(void)
{
	struct swansong *s;
	struct swansong_completion *c;
	struct swansong_guard g = swansong_guard(root), h = swansong_guard(child);

	must(fake_daemon_guards(&fake) == 1);
	must(swansong_guard_count(root) == 3);
	must(swansong_attach(&s) == 0);
	s = swansong_unref(s);
	must(swansong_child(child, &s) == 0);
	must(swansong_percpu_enable(s) == 0);
	must(swansong_completion_new(root, &c) == 0);
	swansong_guard_drop(&g);
	swansong_guard_drop(&before_fork);
	g = swansong_guard(s);
	s = swansong_unref(s);
	swansong_shut_down(root);
	must(swansong_state(root) == SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
	must(swansong_wait(root, 0) == 0 && swansong_completion_done(c));
	c = swansong_completion_unref(c);
	child = swansong_unref(child);
	root = swansong_unref(root);
	must(fake_daemon_guards(&fake) == 1);
}

static void fork_and_go_on(void)
{
	pid_t pid;

	must(swansong_attach(&root) == 1);
	must(swansong_child(root, &child) == 0);
	before_fork = swansong_guard(child);
	pid = fork();
	if (pid == 0) {
		live_in_fork();
		_exit(EXIT_SUCCESS);
	}
	must(exit_status(pid) == 0);
	must(fake_daemon_guards(&fake) == 1 && fake.page->gathered == 0);
	go_on();
	must(swansong_stopped_wait(root, clock_now_usec() + 30 * USEC_PER_SEC) == 0);
	must(swansong_state(root) == SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&before_fork);
	child = swansong_unref(child);
	root = swansong_unref(root);
	stay();
}

START_TEST(a_process_that_is_forked_changes_nothing)
{
	begin_program(fork_and_go_on);
	ck_assert(hears("ATTACHED"));
	wait_for_program();
	ck_assert(page_is_locked());
	ck_assert_int_eq(send(fake.socket, "STOP", 4, 0), 4);
	ck_assert_int_eq(kill(program, SIGCONT), 0);
	ck_assert(hears("COMPLETE")); /* the only message, as the other process has none to send */
	ck_assert(hears(""));
	ck_assert(!page_is_locked());
	ck_assert_int_eq(close(hold[1]), 0);
	end_program();
}
END_TEST

/* The first process ends; the process it has forked goes on without the lock. */
static void leave_a_fork(void)
{
	must(swansong_attach(&root) == 1);
	before_fork = swansong_guard(root);
	if (fork() > 0)
		_exit(EXIT_SUCCESS);
	stay();
}

START_TEST(a_process_that_was_forked_keeps_neither_lock_nor_socket)
{
	begin_program(leave_a_fork);
	ck_assert(hears("ATTACHED"));
	ck_assert_int_eq(exit_status(program), 0);
	ck_assert(!page_is_locked());
	ck_assert(hears("")); /* as soon as the first process has ended */
	ck_assert_int_eq(close(hold[1]), 0);
	fake_daemon_end(&fake);
}
END_TEST

/* Guards on other threads go on meanwhile. */
static _Atomic bool over;

static void *take_and_drop(void *arg)
{
	while (!over) {
		struct swansong_guard g = swansong_guard(arg);

		swansong_guard_drop(&g);
	}
	return NULL;
}

static void fork_in_the_midst(void)
{
	pthread_t threads[2];

	must(swansong_attach(&root) == 1);
	must(swansong_child(root, &child) == 0);
	must(pthread_create(&threads[0], NULL, take_and_drop, root) == 0);
	must(pthread_create(&threads[1], NULL, take_and_drop, child) == 0);
	for (unsigned int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			struct swansong_guard g = swansong_guard(root);

			swansong_guard_drop(&g);
			swansong_shut_down(root);
			_exit(EXIT_SUCCESS);
		}
		must(exit_status(pid) == 0);
	}
	over = true;
	must(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
	must(swansong_state(root) == SWANSONG_RUNNING && fake_daemon_guards(&fake) == 0);
	child = swansong_unref(child);
	root = swansong_unref(root);
}

START_TEST(a_fork_in_the_midst_of_guards_changes_nothing)
{
	begin_program(fork_in_the_midst);
	end_program();
}
END_TEST

/* ---- programs ---- */

/* Fails if a descriptor of the page or the variable is there. */
static char *const probe[] = {
	(char *)"sh", (char *)"-c",
	(char *)"[ -z \"$SWANSONG_ATTACH\" ] && ! ls -l /proc/self/fd | grep -q memfd:page", NULL
};

static void spawn_probe(void)
{
	struct swansong_guard g;
	pid_t pid;

	(void)close(fake.fd);
	must(swansong_attach(&root) == 1);
	g = swansong_guard(root);
	must(posix_spawnp(&pid, "sh", NULL, NULL, probe, environ) == 0);
	must(exit_status(pid) == 0);
	pid = vfork();
	if (pid == 0) {
		(void)execvp("sh", probe);
		_exit(99);
	}
	must(exit_status(pid) == 0);
	must(fake_daemon_guards(&fake) == 1);
	swansong_guard_drop(&g);
	root = swansong_unref(root);
}

START_TEST(a_program_that_it_executes_knows_nothing)
{
	begin_program(spawn_probe);
	end_program();
}
END_TEST

static void become_probe(void)
{
	struct swansong_guard g;

	must(swansong_attach(&root) == 1);
	g = swansong_guard(root);
	(void)g;
	(void)execvp("sh", probe);
	_exit(99);
}

START_TEST(a_program_that_it_becomes_is_not_attached)
{
	begin_program(become_probe);
	ck_assert(hears("ATTACHED"));
	ck_assert(hears(""));
	end_program();
}
END_TEST

/* ---- exit ---- */

static void exit_attached(void)
{
	struct swansong_guard g;

	must(swansong_attach(&root) == 1);
	g = swansong_guard(root);
	(void)g;
	exit(EXIT_SUCCESS);
}

START_TEST(a_program_may_just_exit)
{
	begin_program(exit_attached);
	end_program();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-attach-process");
	TCase *tc = tcase_create("processes");

	tcase_add_test(tc, the_guards_of_a_program_that_crashes_do_not_count);
	tcase_add_test(tc, a_second_process_is_refused_while_the_first_is_attached);
	tcase_add_test(tc, a_process_may_be_attached_after_another);
	tcase_add_test(tc, a_process_that_is_forked_changes_nothing);
	tcase_add_test(tc, a_process_that_was_forked_keeps_neither_lock_nor_socket);
	tcase_add_test(tc, a_fork_in_the_midst_of_guards_changes_nothing);
	tcase_add_test(tc, a_program_that_it_executes_knows_nothing);
	tcase_add_test(tc, a_program_that_it_becomes_is_not_attached);
	tcase_add_test(tc, a_program_may_just_exit);
	suite_add_tcase(suite, tc);
	return suite;
}
