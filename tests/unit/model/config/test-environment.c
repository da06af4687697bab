#include "tests/unit/fixtures/main.h"
#include "tests/unit/fixtures/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "model/config/config.h"

/* The files of variables that a configuration names: here in a directory of their own. */

static char shown[4096];

static void show(enum diag_level level, struct place place, const char *text, void *arg)
{
	size_t used = strlen(shown);

	(void)level;
	(void)arg;
	(void)snprintf(shown + used, sizeof(shown) - used, "%s\n", text);
}

/* Loads @text, with the directory for each $; errors are in @shown. */
static int load(struct config **ret, const char *text)
{
	static const char *const path = "f";
	static const struct config_names names = { .user = NULL, .group = NULL };
	cleanup(diag_freep) struct diag *diag = NULL;
	FILE *f = fopen(path, "we");
	int r;

	for (; *text; text++) {
		if (*text == '$')
			(void)fputs(directory, f);
		else
			(void)fputc(*text, f);
	}
	(void)fclose(f);
	*shown = '\0';
	ck_assert_int_eq(diag_new(&diag), 0);
	r = config_load(ret, &path, 1, &names, diag);
	diag_each(diag, show, NULL);
	return r;
}

/* The variables of the service @path are @wanted, with a | after each. */
static void has(const struct config *config, const char *path, const char *wanted)
{
	char **word = config_find(config, path)->environment;
	char got[1024] = "";

	for (size_t n = 0; word && *word; word++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s|", *word);
	ck_assert_str_eq(got, wanted);
}

static void reads(const char *text, const char *wanted)
{
	struct config *config = NULL;

	write_file("e", text, strlen(text));
	ck_assert_msg(load(&config, "[a]\ncommand = x\nenvironment-file = $/e\n") == 0, "%s",
		      shown);
	has(config, "a", wanted);
	config_unref(config);
}

START_TEST(lines_are_variables_comments_or_nothing)
{
	reads("", "");
	reads("\n \t\n# A=1\n  ; B=2\n", "");
	reads("A=1", "A=1|");
	reads("A=1\r\n  B=x y \t\nC=\n", "A=1|B=x y|C=|");
	reads("A=\" x \"\nB='a\"b'\\ c\nC=\"\\\"\\$\\x\"\nD=a#b ;c\nE==\n",
	      "A= x |B=a\"b c|C=\"$\\x|D=a#b ;c|E==|");
	reads("A=$HOME %n 100% %%\n", "A=$HOME %n 100% %%|");
	reads("A=1\nB=2\nA=3\n", "A=3|B=2|");
	reads("A=\xff\xfe\n", "A=\xff\xfe|");
}
END_TEST

/* @wanted: the text shown, after the directory's name. */
static void refuses(const char *text, size_t size, const char *wanted)
{
	struct config *config = NULL;
	size_t length = strlen(directory);

	write_file("e", text, size);
	ck_assert_int_eq(
		load(&config,
		     "[a]\ncommand = x\nenvironment-file = $/e\n[b]\ncommand = x\nenvironment-file = $/e\n"),
		-EINVAL);
	ck_assert_msg(strncmp(shown, directory, length) == 0 && strcmp(shown + length, wanted) == 0,
		      "%s", shown);
}

/* Variables are @wanted; @warning: the text shown, after the directory's name. */
static void warns(const char *text, const char *wanted, const char *warning)
{
	reads(text, wanted);
	ck_assert_msg(strcmp(shown + strlen(directory), warning) == 0, "%s", shown);
}

START_TEST(files_for_other_readers_are_read_alike)
{
	reads("export A=1\nexport\tB='2 3'\nexport=4\n", "A=1|B=2 3|export=4|");
	reads("A=it's\nB=5\" disk\nC=1\\\n", "A=it's|B=5\" disk|C=1\\|");
	ck_assert_str_eq(shown, "");
}
END_TEST

START_TEST(errors_have_their_line_and_are_reported_once)
{
	warns("A=1\n\nexportB 2\nC=3\n", "A=1|C=3|",
	      "/e:3: line ignored: expected NAME=VALUE, not 'exportB 2'\n");
	warns("1A=1\n", "", "/e:1: line ignored: expected NAME=VALUE, not '1A=1'\n");
	warns("A = 1\n", "", "/e:1: line ignored: expected NAME=VALUE, not 'A = 1'\n");
	warns("A='1\nB=2\n", "B=2|", "/e:1: A ignored: open quote in its value\n");
	refuses("A=1\0B=2\n", 8, "/e: NUL byte: expected text\n");
}
END_TEST

START_TEST(a_file_has_its_limits)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (int i = 0; i < 1500; i++)
		(void)fprintf(f, "A%d=\n", i);
	(void)fclose(f);
	refuses(text, size, "/e:1001: too many variables: at most 1000\n");
	free(text);

	ck_assert_int_eq(chmod("e", 0666), 0);
	refuses("", 0, "/e: writable by every user: remove the permission to write (chmod o-w)\n");
	ck_assert_int_eq(unlink("e"), 0);
	ck_assert_int_eq(mkfifo("e", 0600), 0);
	ck_assert_int_eq(rename("e", "fifo"), 0);
	ck_assert_int_eq(symlink("fifo", "e"), 0);

	struct config *config = NULL;

	ck_assert_int_eq(load(&config, "[a]\ncommand = x\nenvironment-file = $/e\n"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(shown, "/e: a FIFO: expected a regular file"));
}
END_TEST

START_TEST(a_missing_file_is_an_error_unless_optional)
{
	struct config *config = NULL;
	char wanted[512];

	ck_assert_int_eq(load(&config, "[g]\nenvironment-file = $/none\n[g/a]\ncommand = x\n"
				       "[g/b]\ncommand = x\n"),
			 -EINVAL);
	(void)snprintf(
		wanted, sizeof(wanted),
		"f:2: [g] environment-file: no file %s/none: write -%s/none if it may be missing\n",
		directory, directory);
	ck_assert_str_eq(shown, wanted);
	ck_assert_int_eq(load(&config, "[a]\ncommand = x\nenvironment-file = -$/none\n"), 0);
	has(config, "a", "");
	config_unref(config);
}
END_TEST

START_TEST(the_nearest_section_counts_and_in_it_the_last_file)
{
	cleanup(config_unrefp) struct config *config = NULL;

	write_file("1", "A=1\nB=1\nC=1\n", 12);
	write_file("2", "B=2\nC=2\n", 8);
	write_file("of s", "D=s\n", 4);
	ck_assert_msg(load(&config,
			   "[g]\nenvironment = A=0 Z=%n\nenvironment-file = $/1 $/2 \"-$/of %i\"\n"
			   "[g/x@s]\ncommand = x\nenvironment = C=3\n[g/b]\ncommand = x\n"
			   "environment-file = $/1\n") == 0,
		      "%s", shown);
	has(config, "g/x@s", "A=1|Z=g/x@s|B=2|C=3|D=s|");
	has(config, "g/b", "A=1|Z=g/b|B=1|C=1|");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("environment");
	TCase *tc = tcase_create("environment");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_test(tc, lines_are_variables_comments_or_nothing);
	tcase_add_test(tc, files_for_other_readers_are_read_alike);
	tcase_add_test(tc, errors_have_their_line_and_are_reported_once);
	tcase_add_test(tc, a_file_has_its_limits);
	tcase_add_test(tc, a_missing_file_is_an_error_unless_optional);
	tcase_add_test(tc, the_nearest_section_counts_and_in_it_the_last_file);
	suite_add_tcase(s, tc);
	return s;
}
