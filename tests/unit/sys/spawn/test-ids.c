#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/spawn/ids.h"
#include "sys/process/signals.h"

/* --- ids --- */

START_TEST(users_are_found_by_name_and_by_number)
{
	char *home = NULL, *shell = NULL;
	gid_t gid = 7;
	uid_t uid = 7;

	for (int by_number = 0; by_number < 2; by_number++) {
		ck_assert_int_eq(ids_user(by_number ? "0" : "root", &uid, &gid, &home, &shell), 0);
		ck_assert_uint_eq(uid, 0);
		ck_assert_uint_eq(gid, 0);
		ck_assert_str_eq(home, getpwuid(0)->pw_dir);
		ck_assert_int_eq(shell[0], '/');
		free(home);
		free(shell);
	}
}
END_TEST

START_TEST(an_unknown_user_is_not_found)
{
	static const char *const names[] = { "no-such-user", "",   "4000000000", "99999999999",
					     "0x0",	     "-1", "+0" };
	char *home = NULL, *shell = NULL;
	gid_t gid = 7;
	uid_t uid = 7;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_msg(ids_user(names[i], &uid, &gid, &home, &shell) == -ENOENT, "'%s'",
			      names[i]);
		ck_assert_int_eq(ids_group(names[i], &gid), -ENOENT);
	}
	ck_assert_uint_eq(uid, 7);
	ck_assert_uint_eq(gid, 7);
	ck_assert_ptr_null(home);
	ck_assert_ptr_null(shell);
}
END_TEST

START_TEST(groups_are_found_by_name)
{
	gid_t gid = 7;

	ck_assert_int_eq(ids_group("root", &gid), 0);
	ck_assert_uint_eq(gid, 0);
}
END_TEST

/* Of every user that has some by the system's databases, if any: by name and by number. */
START_TEST(all_groups_of_a_user_are_found)
{
	const struct group *group;
	char number[16], user_name[IDS_NAME_MAX];

	setgrent();
	while ((group = getgrent())) {
		const struct passwd *user = *group->gr_mem ? getpwnam(*group->gr_mem) : NULL;

		if (!user)
			continue;
		(void)snprintf(number, sizeof(number), "%u", user->pw_uid);
		(void)snprintf(user_name, sizeof(user_name), "%s", user->pw_name);
		for (int by_number = 0; by_number < 2; by_number++) {
			bool own = false, this = false;
			gid_t *groups;
			char *login;
			size_t n;

			ck_assert_int_eq(ids_groups_of(by_number ? number : *group->gr_mem, 77777,
						       &login, &groups, &n),
					 0);
			ck_assert_str_eq(login, user_name);
			free(login);
			for (size_t i = 0; i < n; i++) {
				own |= groups[i] == 77777;
				this |= groups[i] == group->gr_gid;
				ck_assert(i == 0 || groups[i - 1] < groups[i]);
			}
			ck_assert(own && this);
			free(groups);
		}
	}
	endgrent();
}
END_TEST

START_TEST(a_user_without_an_entry_has_one_group)
{
	static const char *const names[] = { "no-such-user", "4000000000" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		gid_t *groups;
		char *login;
		size_t n;

		ck_assert_int_eq(ids_groups_of(names[i], 77777, &login, &groups, &n), 0);
		ck_assert_str_eq(login, names[i]);
		free(login);
		ck_assert_uint_eq(n, 1);
		ck_assert_uint_eq(groups[0], 77777);
		free(groups);
	}
}
END_TEST

START_TEST(users_are_shown_by_name_or_number)
{
	char text[IDS_NAME_MAX];

	ck_assert_str_eq(ids_user_text(text, 0), "root");
	ck_assert_str_eq(ids_user_text(text, 4000000000u), "4000000000");
}
END_TEST

/* --- signals --- */

static void on_signal(int signo)
{
	(void)signo;
}

START_TEST(the_signal_state_is_saved_and_reset)
{
	struct sigaction handled = { .sa_handler = on_signal }, now;
	struct signals was;
	sigset_t blocked;

	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGRTMAX, SIG_IGN);
	ck_assert_int_eq(sigaction(SIGUSR1, &handled, NULL), 0);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR2);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &blocked, NULL), 0);

	signals_take_over(&was);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		if (sigaction(signo, NULL, &now) < 0) /* the C library's own */
			continue;
		ck_assert_msg(now.sa_handler == SIG_DFL, "%d", signo);
		ck_assert_int_eq(sigismember(&was.mask, signo), signo == SIGUSR2);
		if (signo == SIGHUP || signo == SIGRTMAX || signo == SIGUSR1)
			ck_assert_int_eq(sigismember(&was.ignored, signo), signo != SIGUSR1);
		if (signo != SIGKILL && signo != SIGSTOP)
			ck_assert_msg(sigismember(&blocked, signo) == 1, "%d", signo);
	}
}
END_TEST

/* The handler of a reserved signal after a start with @handler. */
static unsigned long taken_over(unsigned long handler)
{
	unsigned long action[8] = { handler }; /* the kernel's, which has no name here */
	struct signals was;
	int reserved = SIGRTMIN - 1;

	ck_assert_int_eq(syscall(SYS_rt_sigaction, reserved, action, NULL, (size_t)8), 0);
	signals_take_over(&was);
	ck_assert_int_eq(syscall(SYS_rt_sigaction, reserved, NULL, action, (size_t)8), 0);
	return action[0];
}

START_TEST(reserved_signals_are_not_ignored_and_keep_their_handlers)
{
	unsigned long handler = (unsigned long)on_signal;

	ck_assert_uint_eq(taken_over((unsigned long)SIG_IGN), (unsigned long)SIG_DFL);
	ck_assert_uint_eq(taken_over(handler), handler);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("ids");
	TCase *tc = tcase_create("ids");

	tcase_add_test(tc, users_are_found_by_name_and_by_number);
	tcase_add_test(tc, an_unknown_user_is_not_found);
	tcase_add_test(tc, groups_are_found_by_name);
	tcase_add_test(tc, all_groups_of_a_user_are_found);
	tcase_add_test(tc, a_user_without_an_entry_has_one_group);
	tcase_add_test(tc, users_are_shown_by_name_or_number);
	tcase_add_test(tc, the_signal_state_is_saved_and_reset);
	tcase_add_test(tc, reserved_signals_are_not_ignored_and_keep_their_handlers);
	suite_add_tcase(s, tc);
	return s;
}
