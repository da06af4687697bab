#include "tests/unit/sys/spawn/test-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"

/* a/tool cannot be executed, b/tool can, b/empty is no program, file is no directory. */
static char scratch[64];

static void make_file(const char *name, mode_t mode, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static void enter_scratch(void)
{
	(void)snprintf(scratch, sizeof(scratch), "/tmp/test-spawn.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("b", 0755), 0);
	make_file("a/tool", 0644, "#!/bin/sh\nexit 1\n");
	make_file("b/tool", 0755, "#!/bin/sh\nexit 42\n");
	make_file("b/empty", 0755, "");
	make_file("file", 0644, "");
}

static void leave_scratch(void)
{
	static const char *const made[] = { "a/tool", "b/tool", "b/empty", "file", "a", "b" };

	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		(void)remove(made[i]);
	ck_assert_int_eq(rmdir(scratch), 0);
}

/* @spec fails at @step; only a dead child remains, for the parent to reap. */
static void check_failure(const struct spawn_spec *spec, enum spawn_step step, int error)
{
	unsigned before = spawned_count_descriptors(getpid());
	struct spawn_failure failure = { 0 };
	pid_t pid = -7;
	int status;

	ck_assert_int_eq(spawn(spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_msg(failure.step == step && failure.error == error, "%s: cannot %s: %s",
		      spec->argv[0], spawn_step_text(failure.step), strerror(failure.error));
	ck_assert_int_eq(pid, -7);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_int_gt(waitpid(-1, &status, 0), 0);
	ck_assert_int_eq(WEXITSTATUS(status), error == ENOENT ? 127 : 126);
}

START_TEST(a_failed_exec_reports_its_errno)
{
	const struct {
		const char *file, *path; /* PATH, or NULL */
		int error;
	} cases[] = {
		{ "/nonexistent/program", NULL, ENOENT },
		{ "", NULL, ENOENT },
		{ "./a", NULL, EACCES },
		{ "./a/tool", NULL, EACCES },
		{ "./b/empty", NULL, ENOEXEC },
		{ "./file/tool", NULL, ENOTDIR },
		{ "empty", "PATH=b", ENOEXEC },
		{ "tool", "PATH=/nonexistent", ENOENT },
		{ "tool", "PATH=", ENOENT },
		{ "no-such-tool", "PATH=a:b:file", ENOENT },
		{ "no-such-tool", NULL, ENOENT },
		{ "tool", "PATH=a:/nonexistent", EACCES }, /* it was there, and not allowed */
		{ "tool", "PATH=a:file", EACCES },
	};
	struct spawned s;

	enter_scratch();
	spawned_init(&s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *const envp[] = { (char *)cases[i].path, NULL };

		s.spec.envp = envp;
		s.spec.argv = spawned_words(cases[i].file, NULL, NULL);
		check_failure(&s.spec, SPAWN_STEP_EXEC, cases[i].error);
	}
	spawned_done(&s);
	leave_scratch();
}
END_TEST

START_TEST(the_path_is_searched_in_its_order)
{
	static const char *const paths[] = { "PATH=b", "PATH=a:b", "PATH=file:b",
					     "PATH=/nonexistent:b:a" };
	char *const here[] = { (char[]){ "PATH=/nonexistent:" }, NULL };
	char *const none[] = { (char[]){ "OTHER=x:PATH=a" }, NULL };
	struct spawned s;

	enter_scratch();
	spawned_init(&s);
	s.spec.argv = spawned_words("tool", NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char *const envp[] = { (char *)paths[i], NULL };

		s.spec.envp = envp;
		ck_assert_int_eq(spawned_run(&s.spec), 42);
	}

	/* An empty part is the directory it begins in. */
	s.spec.envp = here;
	s.spec.directory = "b";
	ck_assert_int_eq(spawned_run(&s.spec), 42);

	/* Without a PATH it is the system's. */
	s.spec.envp = none;
	s.spec.argv = spawned_words("true", NULL, NULL);
	ck_assert_int_eq(spawned_run(&s.spec), 0);
	spawned_done(&s);
	leave_scratch();
}
END_TEST

/* A place without room for the name behind it is passed over. */
START_TEST(place_of_any_length_is_searched)
{
	static char path[PATH_MAX + 64];
	char *const envp[] = { path, NULL };
	struct spawned s;

	enter_scratch();
	spawned_init(&s);
	s.spec.envp = envp;
	s.spec.argv = spawned_words("tool", NULL, NULL);
	for (size_t length = PATH_MAX - 10; length <= PATH_MAX + 4; length++) {
		char *at = stpcpy(path, "PATH=");

		for (size_t i = 0; i < length; i++)
			*at++ = i % 2 == 0 ? '/' : 'x';
		(void)strcpy(at, ":b");
		ck_assert_int_eq(spawned_run(&s.spec), 42);
	}
	spawned_done(&s);
	leave_scratch();
}
END_TEST

START_TEST(failure_is_reported_from_a_memory_of_its_own)
{
	struct spawned s;

	spawned_init(&s);
	s.spec.own_memory = true;
	s.spec.argv = spawned_words("/nonexistent/program", NULL, NULL);
	check_failure(&s.spec, SPAWN_STEP_EXEC, ENOENT);
	s.spec.directory = "/nonexistent";
	check_failure(&s.spec, SPAWN_STEP_DIRECTORY, ENOENT);
	spawned_done(&s);
}
END_TEST

#define WORDS_MAX 40

/* Without #!, it is the shell that gets the words; @n of them. */
static void run_script(struct spawned *s, size_t n)
{
	static char digits[WORDS_MAX + 1][4];
	char *argv[WORDS_MAX + 2] = { (char[]){ "script" } };

	for (size_t i = 1; i <= n; i++) {
		(void)snprintf(digits[i], sizeof(digits[i]), "%zu", i);
		argv[i] = digits[i];
	}
	s->spec.argv = argv;
	ck_assert_int_eq(spawned_run(&s->spec), (int)(n % 7 + 10));
}

START_TEST(script_without_an_interpreter_is_run_by_the_shell)
{
	struct spawned s;

	enter_scratch();
	make_file("b/script", 0755,
		  "i=0\n"
		  "for word; do i=$((i + 1)); [ \"$word\" = $i ] || exit 1; done\n"
		  "case $0 in *script) exit $((i % 7 + 10)) ;; esac\n");
	spawned_init(&s);
	s.spec.envp = (char *[]){ (char[]){ "PATH=a:b" }, NULL };
	s.spec.argv = spawned_words("script", NULL, NULL);
	check_failure(&s.spec, SPAWN_STEP_EXEC, ENOEXEC);
	s.spec.script = true;
	for (size_t n = 0; n <= WORDS_MAX; n++)
		run_script(&s, n);
	s.spec.argv = spawned_words("tool", NULL, NULL);
	ck_assert_int_eq(spawned_run(&s.spec), 42);
	s.spec.argv = spawned_words("missing", NULL, NULL);
	check_failure(&s.spec, SPAWN_STEP_EXEC, ENOENT);
	spawned_done(&s);
	ck_assert_int_eq(unlink("b/script"), 0);
	leave_scratch();
}
END_TEST

START_TEST(a_bad_directory_is_named)
{
	struct spawned s;

	enter_scratch();
	spawned_init(&s);
	s.spec.directory = "/nonexistent";
	check_failure(&s.spec, SPAWN_STEP_DIRECTORY, ENOENT);
	s.spec.directory = "file";
	check_failure(&s.spec, SPAWN_STEP_DIRECTORY, ENOTDIR);
	spawned_done(&s);
	leave_scratch();
}
END_TEST

START_TEST(a_bad_descriptor_is_named)
{
	struct spawned s;

	spawned_init(&s);
	s.spec.stdio[2] = 999;
	check_failure(&s.spec, SPAWN_STEP_STDIO, EBADF);
	s.spec.stdio[2] = 2;
	spawned_file(&s, 999, 3);
	check_failure(&s.spec, SPAWN_STEP_STDIO, EBADF);
	spawned_done(&s);
}
END_TEST

START_TEST(only_a_terminal_becomes_the_terminal)
{
	struct spawned s;

	spawned_init(&s);
	ck_assert_int_eq(dup2(s.spec.stdio[0], STDIN_FILENO), STDIN_FILENO);
	s.spec.take_terminal = true;
	check_failure(&s.spec, SPAWN_STEP_TERMINAL, ENOTTY);
	spawned_done(&s);
}
END_TEST

START_TEST(words_in_front_are_executed_with_the_report)
{
	/* Writes a failure as a child does: the step is the first number. */
	static const char script[] = "{ printf '\\5\\0\\0\\0\\15\\0\\0\\0'; head -c $0 /dev/zero; } | "
				     "dd bs=64 iflag=fullblock >&9 2>/dev/null; exec \"$@\"";
	char rest[16];
	char *before[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, rest, NULL };
	struct spawned s;

	(void)snprintf(rest, sizeof(rest), "%zu", sizeof(struct spawn_failure) - 8);
	spawned_init(&s);
	s.spec.argv = spawned_words("/bin/sh", "-c", "exit 42");
	s.spec.before = before + 3;
	check_failure(&s.spec, SPAWN_STEP_SANDBOX, ENOENT);
	before[2] = (char *)"exec \"$@\"";
	s.spec.before = before;
	s.spec.report = 9;
	ck_assert_int_eq(spawned_run(&s.spec), 42);
	before[2] = (char *)script;
	s.spec.argv = spawned_words("/bin/sh", "-c", "exit 126");
	check_failure(&s.spec, (enum spawn_step)5, 13);
	spawned_done(&s);
}
END_TEST

START_TEST(every_step_has_a_text)
{
	for (int step = SPAWN_STEP_NONE; step < N_SPAWN_STEPS; step++)
		ck_assert_ptr_nonnull(spawn_step_text(step));
}
END_TEST

void test_spawn_add_failures(TCase *tc)
{
	tcase_add_test(tc, a_failed_exec_reports_its_errno);
	tcase_add_test(tc, the_path_is_searched_in_its_order);
	tcase_add_test(tc, place_of_any_length_is_searched);
	tcase_add_test(tc, failure_is_reported_from_a_memory_of_its_own);
	tcase_add_test(tc, script_without_an_interpreter_is_run_by_the_shell);
	tcase_add_test(tc, a_bad_directory_is_named);
	tcase_add_test(tc, a_bad_descriptor_is_named);
	tcase_add_test(tc, only_a_terminal_becomes_the_terminal);
	tcase_add_test(tc, words_in_front_are_executed_with_the_report);
	tcase_add_test(tc, every_step_has_a_text);
}
