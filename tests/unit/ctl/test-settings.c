#include "tests/unit/ctl/test-ctl.h"

#include <stdio.h>

#include "ctl/session/session.h"

#define SETTING(key, value, origin, more) \
	"{\"key\":\"" key "\",\"value\":\"" value "\",\"origin\":\"" origin "\"" more "}"
#define AT(line) ",\"section\":\"web\",\"file\":\"/a.ini\",\"line\":" line
#define SETTINGS                                                                                                    \
	SETTING("requires", "db", "section", AT("7"))                                                               \
	"," SETTING("restart", "on-failure", "default", "") "," SETTING(                                            \
		"command", "sh -c 'a\\nb'", "template",                                                             \
		AT("3")) "," SETTING("directory", "/srv", "inherited",                                              \
				     AT("2")) ","                                                                   \
					      "{\"key\":\"environment\",\"origin\":\"section\",\"hidden\":true" AT( \
						      "9") "},"                                                     \
							   "{\"key\":\"umask\",\"origin\":\"default\"}"
static const char show[] = "{\"parameters\":{\"node\":\"web/nginx\",\"service\":true,\"file\":"
			   "\"/a.ini\",\"line\":1,\"settings\":[" SETTINGS "]}}";

START_TEST(settings_are_shown_as_a_section)
{
	ck_assert_int_eq(RUN("show web/nginx", SAY(show)), 0);
	assert_has(asked, "io.swansong.Show\",\"parameters\":{\"node\":\"web/nginx\"}}");
	ck_assert_str_eq(out, "[web/nginx]\n"
			      "requires = db                            ; /a.ini:7\n"
			      "# template, /a.ini:3\n"
			      "command = sh -c 'a\n\tb'\n"
			      "directory = /srv                         ; inherited from [web], "
			      "/a.ini:2\n"
			      "# hidden: /a.ini:9\n"
			      "# environment =\n");
	ck_assert_int_eq(RUN("show web/nginx --all", SAY(show)), 0);
	assert_has(out, "\n# restart = on-failure\n");
	assert_lacks(out, "umask");
	ck_assert_int_eq(RUN("show web/nginx -q", SAY(show)), 0);
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(RUN("show --json a b", SAY(show), SAY(show)), 0);
	assert_has(out, "{\"nodes\":[{\"node\":\"web/nginx\",");
	ck_assert_int_eq(RUN("show"), 2);
}
END_TEST

START_TEST(no_text_drives_the_terminal)
{
	static const char wild[] =
		"{\"parameters\":{\"node\":\"\",\"service\":false,\"settings\":[" SETTING(
			"report", "/a\\u001b[2J\\u009b1m\\u00e4", "section", "") "]}}";

	ck_assert_int_eq(RUN("show /", SAY(wild)), 0);
	ck_assert_str_eq(out, "[swansong]\nreport = /a?[2J?1m\303\244                    ; "
			      "of the client that has run it\n");
}
END_TEST

START_TEST(malformed_replies_do_no_harm)
{
	ck_assert_int_eq(RUN("show a", SAY("{\"parameters\":{\"settings\":[1,{},null]}}")), 0);
	ck_assert_int_eq(RUN("show a", SAY("{\"parameters\":{}}")), 0);
	ck_assert_int_eq(RUN("cat a", SAY("{\"parameters\":{\"settings\":7}}")), 1);
	ck_assert_int_eq(
		RUN("deps a", SAY("{\"parameters\":{\"dependencies\":[1,{},null]}}"), SAY(tree)),
		0);
}
END_TEST

START_TEST(sections_are_shown_as_they_are)
{
	char path[100], reply[400], text[400];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs("[a]\nx = 1\n\n[b@] ; t\ny = 2\n\n\n; c\n\n[b@1]\nz = 3\n", file);
	ck_assert_int_eq(fclose(file), 0);
	(void)snprintf(
		reply, sizeof(reply),
		"{\"parameters\":{\"node\":\"b@1\",\"service\":true,\"file\":\"%s\",\"line\":10,"
		"\"settings\":[{\"key\":\"y\",\"origin\":\"template\",\"file\":\"%s\"}]}}",
		path, path);
	ck_assert_int_eq(RUN("cat b@1", SAY(reply)), 0);
	(void)snprintf(text, sizeof(text), "# %s\n[b@] ; t\ny = 2\n\n\n; c\n# %s\n[b@1]\nz = 3\n",
		       path, path);
	ck_assert_str_eq(out, text);
	(void)remove(path);
	ck_assert_int_eq(RUN("cat b@1", SAY(reply)), 1);
	assert_has(err, "b@1: cannot read ");
}
END_TEST

/* Without a daemon, the settings have their places likewise. */
START_TEST(settings_of_files_have_their_places)
{
	char path[100], line[200], text[600];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/a.ini", directory);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs("[a]\ncommand = x\n[b]\ncommand = y\n", file);
	ck_assert_int_eq(fclose(file), 0);
	(void)snprintf(line, sizeof(line), "show b a --config %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	(void)snprintf(text, sizeof(text),
		       "[b]\ncommand = y                              ; %s:4\n\n"
		       "[a]\ncommand = x                              ; %s:2\n",
		       path, path);
	ck_assert_str_eq(out, text);
	(void)snprintf(line, sizeof(line), "cat b --config %s", path);
	ck_assert_int_eq(run(line, NULL, 0), 0);
	(void)snprintf(text, sizeof(text), "# %s\n[b]\ncommand = y\n", path);
	ck_assert_str_eq(out, text);
	(void)snprintf(line, sizeof(line), "show c --config %s", path);
	ck_assert_int_eq(run(line, NULL, 0), CTL_NO_NODE);
	(void)remove(path);
}
END_TEST

#define NEEDS(from, to, kind) "{\"from\":\"" from "\",\"to\":\"" to "\",\"kind\":\"" kind "\"}"
#define DEPS(node)                                                        \
	"{\"parameters\":{\"node\":\"" node                               \
	"\",\"dependencies\":[" NEEDS("web", "db", "requires") "," NEEDS( \
		"web/nginx", "web/app", "after") "," NEEDS("db", "web/nginx", "wants") "]}}"
#define NODES                                                                 \
	"{\"parameters\":{\"nodes\":[" NODE("", "running", "0", "") "," NODE( \
		"db", "running", "0", "") "," NODE("web/nginx", "complete", "0", "") "]}}"

START_TEST(dependencies_are_a_tree)
{
	ck_assert_int_eq(RUN("deps web/nginx", SAY(DEPS("web/nginx")), SAY(NODES)), 0);
	assert_has(asked, "io.swansong.Dependencies");
	assert_has(out, "web/nginx");
	assert_has(out, "requires  running   of web");
	/* A cycle ends. */
	assert_has(out, "wants");
	ck_assert_int_eq(RUN("deps --json web/app", SAY(DEPS("web/app")), SAY(NODES)), 0);
	ck_assert_str_eq(
		out,
		"{\"nodes\":[{\"node\":\"web/app\",\"dependencies\":[" NEEDS(
			"web", "db",
			"requires") "," NEEDS("db", "web/nginx",
					      "wants") "," NEEDS("web", "db",
								 "requires") "," NEEDS("web/nginx",
										       "web/app",
										       "after") "]}]}\n");
	ck_assert_int_eq(RUN("deps --reverse --json web", SAY(DEPS("web")), SAY(NODES)), 0);
	ck_assert_str_eq(out, "{\"nodes\":[{\"node\":\"web\",\"dependencies\":[]}]}\n");
	ck_assert_int_eq(RUN("deps --reverse web/app", SAY(DEPS("web/app")), SAY(NODES)), 0);
	assert_has(out, "after");
}
END_TEST

/* The processes of the status do not descend from the fake daemon, so their usage is unknown. */
START_TEST(unknown_usage_is_not_shown)
{
	static const char nodes[] =
		"{\"parameters\":{\"nodes\":[" NODE("", "running", "0", "") "," NODE(
			"web", "running", "0", ",\"service\":" SERVICE("up", ",\"pid\":1")) "]}}";

	ck_assert_int_eq(RUN("top", SAY(nodes)), 0);
	ck_assert_str_eq(out, "NODE  STATE    CPU TIME  MEMORY  PROCESSES  DESCRIPTORS  RESTARTS\n"
			      "root  running  -         -       -          -            0\n"
			      "web   up       -         -       -          -            0\n");
	ck_assert_int_eq(RUN("top --json web", SAY(nodes)), 0);
	assert_has(asked, "{\"node\":\"web\"}");
	ck_assert_str_eq(out, "{\"nodes\":[{\"path\":\"\",\"restarts\":0},"
			      "{\"path\":\"web\",\"restarts\":0}]}\n");
	ck_assert_int_eq(RUN("top --once -q", SAY(nodes)), 0);
	ck_assert_str_eq(out, "");
	ck_assert_int_eq(RUN("top a b"), 2);
}
END_TEST

TCase *ctl_settings_tests(void)
{
	TCase *tc = tcase_create("settings");

	ctl_fixture(tc);
	tcase_add_test(tc, settings_are_shown_as_a_section);
	tcase_add_test(tc, no_text_drives_the_terminal);
	tcase_add_test(tc, malformed_replies_do_no_harm);
	tcase_add_test(tc, sections_are_shown_as_they_are);
	tcase_add_test(tc, settings_of_files_have_their_places);
	tcase_add_test(tc, dependencies_are_a_tree);
	tcase_add_test(tc, unknown_usage_is_not_shown);
	return tc;
}
