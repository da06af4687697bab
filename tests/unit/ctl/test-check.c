#include "tests/unit/ctl/test-ctl.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "ctl/session/session.h"

/* swansongctl check. */

START_TEST(a_configuration_is_checked_without_a_daemon)
{
	char path[128], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "w");
	fputs("[web]\ncommand = true\n[web/x]\ncommand = true\n", file);
	fclose(file);
	snprintf(line, sizeof(line), "check %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	assert_has(out, "a.ini: ok, 3 nodes, 2 services\n");
	snprintf(line, sizeof(line), "check --json %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	ck_assert_str_eq(out, "{\"errors\":[],\"warnings\":[]}\n");

	file = fopen(path, "w");
	fputs("[web]\ncomand = true\nnope = 1\n", file);
	fclose(file);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(out, "{\"errors\":[\"");
	snprintf(line, sizeof(line), "check %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(err, "a.ini:2: ");
	assert_has(err, "a.ini:3: ");
	unlink(path);
}
END_TEST

START_TEST(check_without_a_path_is_of_the_default_one)
{
	static const char path[] = SYSCONFDIR "/swansong/swansong.ini";

	ck_assert_int_ne(run("check", NULL, 0), CTL_USAGE);
	assert_has(*out ? out : err, path);
}
END_TEST

/* A command, and a part of the warning about it; "": there is none. */
static const char *const commands[][2] = {
	{ "true", "" },
	{ "sh -c 'true | true && echo $HOME # x'", "" },
	{ "/bin/true $", "" },
	{ "true --price=5$", "" },
	{ "no-such-program-here", "[web] command: there is no program 'no-such-program-here' in " },
	{ "/no/such/program", "a.ini:2: [web] command: there is no program '/no/such/program'\n" },
	{ "/etc/passwd x", "[web] command: '/etc/passwd' is not an executable file" },
	{ "true | cat", "'|' is an argument of true, as no shell runs the command: write sh -c" },
	{ "true >/dev/null", "'>/dev/null' is an argument of true" },
	{ "true && false", "'&&' is an argument of true" },
	{ "true --home $HOME/x", "'$HOME/x' is an argument of true" },
	{ "true # it works", "'#' begins no comment here" },
	{ "true\npost-stop = nowhere", "a.ini:3: [web] post-stop: there is no program 'nowhere' in " },
	{ "true\ndirectory = /etc/passwd", "[web] directory: there is no directory '/etc/passwd'" },
	{ "true\ndirectory = /etc", "" },
	{ "true\ndirectory = /no/where", "a.ini:3: [web] directory: there is no directory '/no/where'" },
	{ "nowhere\nenvironment = PATH=/tmp", "there is no program 'nowhere' in /tmp\n" },
	{ "true\nstop-timeout = 90s", "" },
	{ "true\nstop-timeout = 95s",
	  "a.ini:3: [web] stop-timeout: 95s is cut by the shutdown-timeout of root, 90s" },
	{ "true\nstop-timeout = 9s\nshutdown-timeout = 5s",
	  "[web] stop-timeout: 9s is cut by the shutdown-timeout of web, 5s" },
	{ "true\nstop-timeout = infinity", "" },
};

/* A key, a file in the directory of the test, and a part of the error; "": there is none. */
static const char *const logs[][3] = {
	{ "log", "", "' cannot be a log file: it is a directory" },
	{ "stderr", "/fifo", "a.ini:3: [web] stderr: '" },
	{ "stderr", "/fifo", "/fifo' cannot be a log file: it is a FIFO, a socket or a device" },
	{ "stdout", "/new", "" },
	{ "log", "/new/er/log", "" },
};

START_TEST(a_log_file_that_would_be_refused_is_an_error)
{
	const char *error = logs[_i][2];
	char path[128], line[256], fifo[128];
	FILE *file;

	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "w");
	fprintf(file, "[web]\ncommand = true\n%s = file:%s%s\n", logs[_i][0], directory,
		logs[_i][1]);
	fclose(file);
	snprintf(line, sizeof(line), "check %s", path);
	ck_assert_int_eq(run(line, NULL, 0), *error ? CTL_CONFIG : 0);
	if (*error)
		assert_has(err, error);
	else
		ck_assert_str_eq(err, "");
	unlink(path);
	unlink(fifo);
}
END_TEST

/* The keys of files that the daemon writes. */
static const char *const root_keys[] = { "control-socket", "report", "state", "history" };

START_TEST(a_file_of_the_daemon_that_would_be_refused_is_an_error)
{
	char path[128], line[256], error[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	/* No directory is below a file. */
	fprintf(file, "[swansong]\n%s = %s/b\n", root_keys[_i], path);
	ck_assert_int_eq(fclose(file), 0);
	(void)snprintf(line, sizeof(line), "check %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	(void)snprintf(error, sizeof(error), "a.ini:2: [swansong] %s: '%s/b' cannot be ",
		       root_keys[_i], path);
	assert_has(err, error);
	(void)unlink(path);
}
END_TEST

START_TEST(a_command_that_the_machine_cannot_run_is_a_warning)
{
	const char *command = commands[_i][0], *warning = commands[_i][1];
	char path[128], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "w");
	fprintf(file, "[web]\ncommand = %s\n", command);
	fclose(file);
	snprintf(line, sizeof(line), "check %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	if (*warning)
		assert_has(err, warning);
	else
		ck_assert_str_eq(err, "");
	snprintf(line, sizeof(line), "check --strict %s", path);
	ck_assert_int_eq(run(line, NULL, 0), *warning ? CTL_CONFIG : 0);
	unlink(path);
}
END_TEST

START_TEST(mistakes_have_formats_for_programs)
{
	char path[128], line[256], wanted[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/a,%%:\xc3\xa4.ini", directory);
	file = fopen(path, "w");
	fputs("[web]\nunknown%\x1b = 1\n", file);
	fclose(file);
	snprintf(line, sizeof(line), "check --format github %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	snprintf(wanted, sizeof(wanted),
		 "::error file=%s/a%%2C%%25%%3A\xc3\xa4.ini,line=2::invalid key 'unknown%%25%%1B'",
		 directory);
	ck_assert_msg(strncmp(out, wanted, strlen(wanted)) == 0, "%s", out);
	ck_assert_str_eq(err, "");
	snprintf(line, sizeof(line), "check --format sarif %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(out, "\"version\":\"2.1.0\"");
	snprintf(wanted, sizeof(wanted),
		 "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"%s/a%%2C%%25%%3A%%C3%%A4.ini\"},"
		 "\"region\":{\"startLine\":2}}}]",
		 directory);
	assert_has(out, wanted);
	snprintf(line, sizeof(line), "check --format json %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(out, "{\"errors\":[\"");
	ck_assert_int_eq(run("check --format xml", NULL, 0), CTL_USAGE);

	file = fopen(path, "w");
	fputs("[web]\ncommand = true\ndirectory = /no/such\n", file);
	fclose(file);
	snprintf(line, sizeof(line), "check --format github %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	assert_has(out, "::warning file=");
	assert_has(out, ": ok, 2 nodes, 1 service\n");
	snprintf(line, sizeof(line), "check --strict --format sarif %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_CONFIG);
	assert_has(out, "\"level\":\"warning\"");
	/* A file that is missing has no line. */
	ck_assert_int_eq(run("check --format sarif /no/such.ini", NULL, 0), CTL_CONFIG);
	assert_has(out, "{\"artifactLocation\":{\"uri\":\"/no/such.ini\"}}");
	unlink(path);
}
END_TEST

TCase *ctl_check_tests(void)
{
	TCase *tc = tcase_create("check");

	ctl_fixture(tc);
	tcase_add_test(tc, a_configuration_is_checked_without_a_daemon);
	tcase_add_test(tc, check_without_a_path_is_of_the_default_one);
	tcase_add_test(tc, mistakes_have_formats_for_programs);
	tcase_add_loop_test(tc, a_log_file_that_would_be_refused_is_an_error, 0, ARRAY_SIZE(logs));
	tcase_add_loop_test(tc, a_file_of_the_daemon_that_would_be_refused_is_an_error, 0,
			    ARRAY_SIZE(root_keys));
	tcase_add_loop_test(tc, a_command_that_the_machine_cannot_run_is_a_warning, 0,
			    ARRAY_SIZE(commands));
	return tc;
}
