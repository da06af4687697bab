/* The session of a child, and the terminal of that. */
#include "tests/unit/sys/spawn/test-spawn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/unit/fixtures/spawned.h"

START_TEST(the_child_leads_a_new_session)
{
	struct spawned s;

	spawned_init(&s);
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), s.pid);
	ck_assert_int_eq(getpgid(s.pid), s.pid);
	spawned_done(&s);
}
END_TEST

/*
 * Only a session leader can take a terminal.  The test leads a process group, so a child runs
 * @check, and succeeds if @check does.
 */
static void try_in_child(void (*check)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		check();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/*
 * Begins a session, and opens a terminal as standard input; without O_NOCTTY it becomes the
 * terminal of the session.  Returns the other end.
 */
static int open_terminal(int flags)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int terminal;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	ck_assert_int_gt(setsid(), 0);
	terminal = open(ptsname(master), O_RDWR | O_CLOEXEC | flags);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
	return master;
}

static void check_foreground(void)
{
	struct spawned s;

	spawned_init(&s);
	(void)close(s.in);
	s.in = open_terminal(0);
	ck_assert_int_eq(tcgetpgrp(STDIN_FILENO), getpgrp());
	s.spec.stdio[0] = STDIN_FILENO;
	s.spec.keep_session = true;
	s.spec.terminal = STDIN_FILENO;
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), getpid());
	ck_assert_int_eq(getpgid(s.pid), s.pid);
	ck_assert_int_eq(tcgetpgrp(STDIN_FILENO), s.pid);
	spawned_done(&s);
}

START_TEST(a_child_in_the_foreground_has_the_terminal)
{
	try_in_child(check_foreground);
}
END_TEST

/* A terminal of the session, without a foreground process. */
static void check_terminal(void)
{
	struct spawned s;
	int master = open_terminal(O_NOCTTY);

	spawned_init(&s);
	s.spec.take_terminal = true;
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), s.pid);
	ck_assert_int_eq(tcgetsid(master), s.pid);
	ck_assert_int_eq(tcgetpgrp(master), s.pid);
	spawned_done(&s);
}

START_TEST(a_terminal_becomes_that_of_its_session)
{
	try_in_child(check_terminal);
}
END_TEST

void test_spawn_add_terminals(TCase *tc)
{
	tcase_add_test(tc, the_child_leads_a_new_session);
	tcase_add_test(tc, a_child_in_the_foreground_has_the_terminal);
	tcase_add_test(tc, a_terminal_becomes_that_of_its_session);
}
