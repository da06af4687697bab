#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/calls.h"
#include "sandbox/options.h"

static struct options o;

/* The words of @line are arguments; | stands for a blank in one. */
static const char *parse(const char *line)
{
	static char text[1024], *argv[64];
	size_t n = 0;

	ck_assert_uint_lt(strlen(line), sizeof(text));
	for (char *word = strtok(strcpy(text, line), " "); word; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	for (size_t i = 0; i < n; i++)
		for (char *c = argv[i]; *c; c++)
			*c = *c == '|' ? ' ' : *c;
	return options_parse(&o, argv);
}

START_TEST(each_word_of_a_key_is_an_option)
{
	ck_assert_ptr_null(
		parse("--write-paths=/a|b --write-paths=-/b --read-paths=/c --tcp-bind=80 "
		      "--tcp-bind=443 --tcp-connect=none --system-calls=@system-service "
		      "--system-calls=~@mount --private-tmp=yes --private-network=yes "
		      "--hide-home=read-only --read-only-system=full --sandbox=best-effort "
		      "--directory=any --capabilities=1024 --report=7 A=b C= -- x -y"));
	ck_assert_str_eq(o.words[WRITE_PATHS][0], "/a b");
	ck_assert_str_eq(o.words[WRITE_PATHS][1], "-/b");
	ck_assert_ptr_null(o.words[WRITE_PATHS][2]);
	ck_assert_str_eq(o.words[TCP_BIND][1], "443");
	ck_assert_str_eq(o.words[SYSTEM_CALLS][1], "~@mount");
	ck_assert(option_is(&o, READ_PATHS, "/c") && option_is(&o, TCP_CONNECT, "none"));
	ck_assert(option_is(&o, PRIVATE_TMP, "yes") && option_is(&o, PRIVATE_NETWORK, "yes"));
	ck_assert(option_is(&o, HIDE_HOME, "read-only") && !option_is(&o, HIDE_HOME, "yes"));
	ck_assert(option_is(&o, READ_ONLY_SYSTEM, "full") && option_is(&o, DIRECTORY, "any"));
	ck_assert(option_is(&o, SANDBOX, "best-effort"));
	ck_assert_uint_eq(option_number(&o, CAPABILITIES, 5), 1024);
	ck_assert_uint_eq(option_number(&o, REPORT, 5), 7);
	ck_assert_str_eq(o.variables[0], "A=b");
	ck_assert_str_eq(o.variables[1], "C=");
	ck_assert_str_eq(o.argv[0], "x");
	ck_assert_str_eq(o.argv[1], "-y");
}
END_TEST

START_TEST(without_options_nothing_is_limited)
{
	ck_assert_ptr_null(parse("-- x"));
	for (enum option i = 0; i < N_OPTIONS; i++)
		ck_assert(!option_is_set(&o, i) && !option_is(&o, i, ""));
	ck_assert_uint_eq(option_number(&o, CAPABILITIES, 5), 5);
}
END_TEST

START_TEST(an_option_that_cannot_be_used_is_named)
{
	static const char *const wrong[] = {
		"--private-tmp=maybe", "--private-tmp",	     "--hide-home=usr",
		"--write-paths=",      "--report=",	     "--capabilities=",
		"--no-such-key=yes",   "--read-only-system", "--sandbox=lenient",
		"--directory=other",   "--tcp-bind=",
	};
	char line[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)snprintf(line, sizeof(line), "--private-network=yes %s -- x", wrong[i]);
		ck_assert_str_eq(parse(line), wrong[i]);
	}
	ck_assert_str_eq(parse("A=b word -- x"), "word");
	ck_assert_str_eq(parse("--private-tmp=yes"), "--");
	ck_assert_str_eq(parse("--private-tmp=yes --"), "--");
	ck_assert_str_eq(parse("x"), "x");
	ck_assert_str_eq(parse(""), "--");
}
END_TEST

START_TEST(a_later_word_of_protect_wins)
{
	ck_assert_ptr_null(
		parse("--protect=all --protect=~clock --protect=~suid --protect=suid -- x"));
	ck_assert(option_protects(&o, "tunables") && option_protects(&o, "suid"));
	ck_assert(!option_protects(&o, "clock"));
	ck_assert_ptr_null(parse("--protect=~clock --protect=logs -- x"));
	ck_assert(option_protects(&o, "logs"));
	ck_assert(!option_protects(&o, "clock") && !option_protects(&o, "suid"));
	ck_assert_str_eq(parse("--protect=clocks -- x"), "--protect=clocks");
}
END_TEST

START_TEST(no_list_is_longer_than_its_room)
{
	static char *argv[OPTION_WORDS_MAX + 4];
	static char option[] = "--tcp-bind=1", end[] = "--", x[] = "x";

	for (int n = OPTION_WORDS_MAX; n <= OPTION_WORDS_MAX + 1; n++) {
		for (int i = 0; i < n; i++)
			argv[i] = option;
		argv[n] = end;
		argv[n + 1] = x;
		ck_assert(!options_parse(&o, argv) == (n <= OPTION_WORDS_MAX));
	}
}
END_TEST

START_TEST(directories_of_the_environment_are_among_those_that_may_be_written)
{
	(void)setenv("STATE_DIRECTORY", "/var/lib/a:/var/lib/b", 1);
	(void)setenv("LOGS_DIRECTORY", "none", 1);
	ck_assert_ptr_null(parse("--private-tmp=yes -- x"));
	ck_assert_int_eq(options_add_directories(&o), 0);
	ck_assert(!option_is_set(&o, WRITE_PATHS));
	ck_assert_ptr_null(parse("--read-only-system=yes -- x"));
	ck_assert_int_eq(options_add_directories(&o), 0);
	ck_assert_str_eq(o.words[WRITE_PATHS][0], "-/var/lib/a");
	ck_assert_str_eq(o.words[WRITE_PATHS][1], "-/var/lib/b");
	ck_assert_ptr_null(o.words[WRITE_PATHS][2]);
	free(o.words[WRITE_PATHS][0]);
	free(o.words[WRITE_PATHS][1]);
	ck_assert_ptr_null(parse("--write-paths=/srv -- x"));
	ck_assert_int_eq(options_add_directories(&o), 0);
	ck_assert_str_eq(o.words[WRITE_PATHS][2], "-/var/lib/b");
	free(o.words[WRITE_PATHS][1]);
	free(o.words[WRITE_PATHS][2]);
}
END_TEST

/* A sanitizer makes calls of its own at the end of a process. */
#if defined(HAVE_SECCOMP) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TEST_CALLS
/* Whether a child under @words may call @number, and 0; or the error of calls_limit(). */
static int may_call(const char *words, int number)
{
	char line[256];
	const char *subject = NULL;
	int status, r;
	pid_t pid;
	size_t n = 0;

	for (const char *word = words; *word; word += strcspn(word, "|"), word += *word == '|')
		n += (size_t)snprintf(line + n, sizeof(line) - n, "--system-calls=%.*s ",
				      (int)strcspn(word, "|"), word);
	(void)snprintf(line + n, sizeof(line) - n, "-- x");
	ck_assert_ptr_null(parse(line));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct utsname name;

		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		r = calls_limit(&o, &subject);
		if (r < 0)
			_exit(-r);
		r = (int)syscall(number, number == SYS_uname ? (long)&name : 0);
		_exit(r < 0 && errno == EPERM ? 0 : 255);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define ALLOWED 255
#define REFUSED 0

START_TEST(calls_are_those_of_the_words)
{
	ck_assert_int_eq(may_call("@system-service", SYS_uname), ALLOWED);
	ck_assert_int_eq(may_call("@basic-io", SYS_uname), REFUSED);
	ck_assert_int_eq(may_call("@basic-io", SYS_getpid), ALLOWED);
	ck_assert_int_eq(may_call("@basic-io|uname", SYS_uname), ALLOWED);
	ck_assert_int_eq(may_call("@system-service|~uname", SYS_uname), REFUSED);
	ck_assert_int_eq(may_call("@system-service|~uname|uname", SYS_uname), ALLOWED);
	ck_assert_int_eq(may_call("~uname", SYS_uname), REFUSED);
	ck_assert_int_eq(may_call("~uname", SYS_getpid), ALLOWED);
	ck_assert_int_eq(may_call("~@system-service|uname|@default|exit_group|close", SYS_uname),
			 ALLOWED);
	ck_assert_int_eq(may_call("~@privileged", SYS_setuid), REFUSED);
}
END_TEST

/* The errno of a call with these arguments in a child under @option; 0: none. */
static int error_of(const char *option, int number, long a, long b, long c)
{
	char line[256];
	const char *subject = NULL;
	int status;
	pid_t pid;

	(void)snprintf(line, sizeof(line), "%s -- x", option);
	ck_assert_ptr_null(parse(line));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (calls_limit(&o, &subject) < 0)
			_exit(255);
		_exit(syscall(number, a, b, c, 0, 0) < 0 ? errno : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define FAMILIES "--address-families="

START_TEST(arguments_are_those_of_the_words)
{
	const int fifo_on_reset = SCHED_FIFO | SCHED_RESET_ON_FORK, none = 0;

	ck_assert_int_eq(error_of("--protect=namespaces", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0),
			 EPERM);
	ck_assert_int_eq(error_of("--protect=namespaces", SYS_clone, SIGCHLD, 0, 0), none);
	ck_assert_int_eq(error_of("--protect=namespaces", SYS_clone3, 0, 0, 0), ENOSYS);
	ck_assert_int_eq(error_of("--protect=namespaces", SYS_unshare, CLONE_FS, 0, 0), none);
	ck_assert_int_eq(error_of("--protect=suid", SYS_fchmod, -1, 04755, 0), EPERM);
	ck_assert_int_eq(error_of("--protect=suid", SYS_fchmod, -1, 02755, 0), EPERM);
	ck_assert_int_eq(error_of("--protect=suid", SYS_fchmod, -1, 0755, 0), EBADF);
	ck_assert_int_eq(error_of("--protect=suid", 452 /* fchmodat2 */, -1, (long)"", 04755),
			 EPERM);
	ck_assert_int_eq(error_of("--protect=suid", SYS_openat2, 0, 0, 0), ENOSYS);
	ck_assert_int_eq(
		error_of("--protect=realtime", SYS_sched_setscheduler, -1, fifo_on_reset, 0),
		EPERM);
	ck_assert_int_eq(error_of("--protect=realtime", SYS_sched_setscheduler, -1, SCHED_BATCH, 0),
			 EINVAL);
	ck_assert_int_eq(error_of("--protect=hostname", SYS_sethostname, 0, -1, 0), EPERM);
	ck_assert_int_eq(error_of("--protect=all --protect=~suid", SYS_fchmod, -1, 04755, 0),
			 EBADF);
	ck_assert_int_eq(error_of(FAMILIES "unix", SYS_socket, AF_UNIX, SOCK_STREAM, 0), none);
	ck_assert_int_eq(error_of(FAMILIES "unix", SYS_socket, AF_INET, -1, 0), EAFNOSUPPORT);
	ck_assert_int_eq(error_of(FAMILIES "none", SYS_socket, AF_UNIX, SOCK_STREAM, 0),
			 EAFNOSUPPORT);
	ck_assert_int_eq(error_of(FAMILIES "~inet", SYS_socket, AF_UNIX, SOCK_STREAM, 0), none);
	ck_assert_int_eq(error_of(FAMILIES "~inet", SYS_socket, AF_INET, SOCK_STREAM, 0),
			 EAFNOSUPPORT);
	ck_assert_int_eq(error_of(FAMILIES "unix --system-calls=~uname", SYS_uname, 0, 0, 0),
			 EPERM);
}
END_TEST

START_TEST(an_unknown_call_or_group_is_refused)
{
	ck_assert_int_eq(may_call("no_such_call", SYS_uname), EINVAL);
	ck_assert_int_eq(may_call("~no_such_call", SYS_uname), EINVAL);
	ck_assert_int_eq(may_call("@no-such-group", SYS_uname), EINVAL);
	ck_assert_int_eq(may_call("@system-service|~@no-such-group", SYS_uname), EINVAL);
}
END_TEST
#endif

Suite *test_suite(void)
{
	Suite *suite = suite_create("sandbox");
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, each_word_of_a_key_is_an_option);
	tcase_add_test(tc, without_options_nothing_is_limited);
	tcase_add_test(tc, an_option_that_cannot_be_used_is_named);
	tcase_add_test(tc, a_later_word_of_protect_wins);
	tcase_add_test(tc, no_list_is_longer_than_its_room);
	tcase_add_test(tc, directories_of_the_environment_are_among_those_that_may_be_written);
	suite_add_tcase(suite, tc);
#ifdef TEST_CALLS
	tc = tcase_create("calls");
	tcase_add_test(tc, calls_are_those_of_the_words);
	tcase_add_test(tc, arguments_are_those_of_the_words);
	tcase_add_test(tc, an_unknown_call_or_group_is_refused);
	suite_add_tcase(suite, tc);
#endif
	return suite;
}
