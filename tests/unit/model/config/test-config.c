#include "tests/unit/model/config/test-config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"

START_TEST(missing_parents_are_created_before_their_children)
{
	cleanup(config_unrefp) struct config *config =
		good("[b/c/d]\ncommand = x\n[a]\n[b]\nshutdown-timeout = 1s\n");
	static const char *const order[] = { "", "b", "b/c", "b/c/d", "a" };

	ck_assert_uint_eq(config->n_nodes, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ck_assert_str_eq(config->nodes[i]->path, order[i]);
		ck_assert_uint_eq(config->nodes[i]->index, i);
	}
	ck_assert(!only(config, "b/c")->stated && only(config, "b/c")->place.line == 1);
	ck_assert(only(config, "b")->stated && only(config, "b")->place.line == 4);
	ck_assert_ptr_eq(only(config, "b/c/d")->parent->parent, only(config, "b"));
	ck_assert(node_config_is_within(only(config, "b/c/d"), only(config, "b")));
	ck_assert(!node_config_is_within(only(config, "b"), only(config, "b/c/d")));
	ck_assert_ptr_null(config_find(config, "c"));
	ck_assert_ptr_null(config_find(config, "b/"));
}
END_TEST

START_TEST(keys_are_refused_in_the_wrong_section)
{
	bad("[a]\nrestart = always\n",
	    "f:2: [a] restart: only services have this key: set command");
	bad("[a]\ncontrol-mode = 0600\n",
	    "f:2: [a] control-mode: wrong section: expected in [swansong]");
	bad("[a]\ncommand = x\n\ncommand = y\n",
	    "f:4: [a] command: duplicate key (first set on line 2)");
	bad("[a]\ncommand = x\ntype = oneshot\nrestart = always\n",
	    "f:4: [a] restart: 'always' repeats a oneshot without end: expected on-failure or never");
	bad("[a]\ncommand = x\nready = started\ntype = oneshot\n",
	    "f:3: [a] ready: a oneshot is ready when it has succeeded");
	bad("[a]\ncommand = x\nready = log:(\n",
	    "f:3: [a] ready: invalid value 'log:(': invalid expression: Unmatched ( or \\(; expected started");
	bad("[a]\ncommand = x\nready = http://127.0.0.1/\n",
	    "f:3: [a] ready: invalid value 'http://127.0.0.1/': no port; expected started");
	bad("[a]\ncommand = x\nready = tcp:[::1]\n",
	    "f:3: [a] ready: invalid value 'tcp:[::1]': no port; expected started");
	bad("[a]\ncommand = x\nhealth = tcp:127.0.0.1:80\ntype = oneshot\n",
	    "f:3: [a] health: a oneshot does not keep running");
	bad("[a]\ncommand = x\nrestart-delay = 31s\n", "f:3: [a] restart-delay: restart-delay 31");
	bad("[a]\ncommand = x\nrestart-delay-max = 1ms\n",
	    "f:3: [a] restart-delay-max: restart-delay 100ms");
	bad("[a]\ncommand = x\nuser = 4000\n",
	    "f:3: [a] user: no user has the number 4000, so [a] has no group");
	bad("[g]\nuser = 4000\n[g/a]\ncommand = x\n",
	    "f:2: [g] user: no user has the number 4000, so [g/a] has no group");
}
END_TEST

START_TEST(a_misspelling_is_recognised)
{
	bad("[a]\ncommand = x\nrequries = a\n",
	    "f:3: [a] requries: unknown key: did you mean 'requires'?");
	bad("[a]\ncommand = x\ncolour = red\n",
	    "f:3: [a] colour: unknown key: see swansong.ini(5)");
	bad("[data/redis]\ncommand = x\n[a]\nrequires = data/reids\n",
	    "f:4: [a] requires: no node 'data/reids': did you mean 'data/redis'?");
	bad("[data/redis]\ncommand = x\n[a]\nrequires = redis\n",
	    "f:4: [a] requires: no node 'redis': did you mean 'data/redis'?");
	bad("[data/redis]\ncommand = x\n[queue/redis]\ncommand = x\n[a]\nrequires = redis\n",
	    "f:6: [a] requires: no node 'redis': expected a node of this configuration");
	bad("[a]\nafter = nothing/like/it\n",
	    "f:2: [a] after: no node 'nothing/like/it': expected a node of this configuration");
	bad("[a]\nafter = ''\n", "f:2: [a] after: no node ''");
	bad("[a]\nafter = swansong\n", "f:2: [a] after: 'swansong' is the root");
	bad("[a]\n[b]\nafter = a a\n", "f:3: [b] after: duplicate node 'a'");
	bad("[a]\n[b]\nafter = a \"\n", "f:3: [b] after: invalid value 'a \"': open quote");
	/* Keys of later versions are errors, not ignored. */
	bad("[a]\ncommand = x\nreplicas = 3\n", "f:3: [a] replicas: unknown key");
}
END_TEST

START_TEST(names_are_checked)
{
	static const char *const names_refused[] = {
		"a b", " a",  "a ",  "/a",	   "a/",  "a//b", "a/./b", "..",
		"ä",   "a%n", "a:b", "swansong/a", "a[b", "root", "root/a"
	};
	char text[600], expected[300];

	for (size_t i = 0; i < ARRAY_SIZE(names_refused); i++) {
		(void)snprintf(text, sizeof(text), "\n[%s]\ncommand = x\n", names_refused[i]);
		(void)snprintf(expected, sizeof(expected), "f:2: [%s] ", names_refused[i]);
		bad(text, expected);
	}

	cleanup(config_unrefp) struct config *config =
		good("[A-z_0.9@x/swansong/...]\ncommand = x\n");
	ck_assert_ptr_nonnull(config_find(config, "A-z_0.9@x/swansong"));

	(void)snprintf(text, sizeof(text), "[%0*d]\ncommand = x\n", CONFIG_NAME_MAX, 0);
	config_unref(good(text));
	(void)snprintf(text, sizeof(text), "[%0*d]\ncommand = x\n", CONFIG_NAME_MAX + 1, 0);
	bad(text,
	    "f:1: [0000000000000000000000000000000000000000000000000000000000000000000000000000000");

	char *end = stpcpy(text, "[a");
	for (int i = 1; i < CONFIG_DEPTH_MAX; i++)
		end = stpcpy(end, "/a");
	(void)strcpy(end, "]\ncommand = x\n");
	config_unref(good(text));
	(void)strcpy(end, "/a]\ncommand = x\n");
	bad(text, "f:1: [a/a/a/");
}
END_TEST

START_TEST(all_errors_are_found_in_one_run)
{
	static const char *const paths[] = { "two", "missing", "one" };
	struct config *config = NULL;
	struct texts texts;
	static const char one[] =
		"[a]\ncommand = x\nafter = c b\n[c d]\nrestart = sometimes\n[b]\nafter = a\n",
			  two[] = "k = v\n[a]\nrestart = always\n\n[x]\nuser = 0day\nlog = x\n";

	write_file("one", one, strlen(one));
	write_file("two", two, strlen(two));
	ck_assert_int_eq(load(&config, paths, 3, &texts), -EINVAL);
	ck_assert_ptr_null(config);

	static const char *const expected[] = {
		"two:1: k: key before",
		"two:3: [a] restart: only services have this key",
		"two:6: [x] user: invalid value '0day'",
		"two:7: [x] log: invalid value 'x'",
		"missing: cannot be opened: No such file or directory",
		"one:1: [a] duplicate section (first in two:2)",
		"one:4: [c d] invalid name: expected letters",
		"one:5: [c d] restart: invalid value 'sometimes'",
	};
	char *line = texts.all;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		ck_assert_msg(strncmp(line, expected[i], strlen(expected[i])) == 0, "%s is not %s",
			      line, expected[i]);
		line = strchr(line, '\n') + 1;
	}
	ck_assert_str_eq(line, "");
}
END_TEST

START_TEST(a_cycle_is_an_error)
{
	bad("[a]\nrequires = b/x\n[b]\nafter = a\n[b/x]\ncommand = x\n",
	    "f:2: [a] requires: dependency cycle: a → b/x → b → a: a requires b/x, which is in b; "
	    "b after a\n");
}
END_TEST

START_TEST(only_files_are_read)
{
	static const struct {
		const char *path, *expected;
	} refused[] = {
		{ "fifo", "fifo: a FIFO: expected a regular file\n" },
		{ "missing", "missing: cannot be opened: No such file or directory\n" },
		{ "/dev/null", "/dev/null: a device: expected a regular file\n" },
		{ "open", "open: writable by every user" },
		{ "dir", "dir/x.ini: a directory: expected a regular file\n" },
	};
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(mkdir("dir", 0755), 0);
	ck_assert_int_eq(mkdir("dir/x.ini", 0755), 0);
	write_file("open", "", 0);
	ck_assert_int_eq(chmod("open", 0666), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		ck_assert_int_eq(load(&config, &refused[i].path, 1, &texts), -EINVAL);
		ck_assert_msg(
			strncmp(texts.all, refused[i].expected, strlen(refused[i].expected)) == 0,
			"%s", texts.all);
	}
	ck_assert_ptr_null(config);
}
END_TEST

START_TEST(a_directory_is_read_in_the_order_of_names)
{
	static const char *const path = "conf.d";
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	write_file("conf.d/20.ini", "[b]\ncommand=x\n", 14);
	write_file("conf.d/10.ini", "[c]\n", 4);
	write_file("conf.d/B.ini", "[d]\n", 4);
	write_file("conf.d/.30.ini", "[hidden]\n", 9);
	write_file("conf.d/40.ini~", "[backup]\n", 9);
	write_file("conf.d/ini", "[other]\n", 8);
	ck_assert_msg(load(&config, &path, 1, &texts) == 0, "%s", texts.all);
	ck_assert_uint_eq(config->n_nodes, 4);
	ck_assert_str_eq(config->nodes[1]->path, "c");
	ck_assert_str_eq(config->nodes[1]->place.file, "conf.d/10.ini");
	ck_assert_str_eq(config->nodes[2]->path, "b");
	ck_assert_str_eq(config->nodes[3]->path, "d");
	config_unref(config);
}
END_TEST

START_TEST(a_directory_is_read_with_its_conf_d)
{
	static const char *const path = "etc";
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkdir("etc", 0755), 0);
	ck_assert_int_eq(mkdir("etc/conf.d", 0755), 0);
	ck_assert_int_eq(mkdir("etc/conf.d/conf.d", 0755), 0);
	write_file("etc/swansong.ini", "[z]\ncommand=x\n", 14);
	write_file("etc/conf.d/a.ini", "[a]\n", 4);
	write_file("etc/conf.d/conf.d/b.ini", "[b]\n", 4);
	ck_assert_msg(load(&config, &path, 1, &texts) == 0, "%s", texts.all);
	ck_assert_uint_eq(config->n_nodes, 3);
	ck_assert_str_eq(config->nodes[2]->place.file, "etc/conf.d/a.ini");
	config_unref(config);
}
END_TEST

START_TEST(nothing_to_run_is_a_warning)
{
	static const char *const path = ".";
	struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(load(&config, &path, 1, &texts), 0);
	ck_assert_str_eq(texts.all, "warning: .: no service configured: no file *.ini\n");
	config = config_unref(config);
	ck_assert_int_eq(load_text(&config, "[a]\n", &texts), 0);
	ck_assert_str_eq(texts.all,
			 "warning: f: no service configured: no section has a command\n");
	config_unref(config);
}
END_TEST

/* Its section is kept for the nodes below it. */
START_TEST(a_service_that_holds_nodes_counts_as_a_service)
{
	config_unref(good("[a]\ncommand = x\nlog = null\n[a/b]\n"));
}
END_TEST

START_TEST(a_long_command_arrives_whole)
{
	char *text = malloc(40000), *end = stpcpy(text, "[a]\ncommand = x \\; \"");

	for (int i = 0; i < 10000; i++)
		*end++ = (char)(i % 11 == 0 ? ' ' : i % 13 == 0 ? ';' : 'a' + i % 26);
	(void)stpcpy(end, "\"\n\tlast\n");

	cleanup(config_unrefp) struct config *config = good(text);
	const struct node_config *a = only(config, "a");

	ck_assert_str_eq(a->argv[1], ";");
	ck_assert_uint_eq(strlen(a->argv[2]), 10000);
	ck_assert_int_eq(memcmp(a->argv[2], end - 10000, 10000), 0);
	ck_assert_str_eq(a->argv[3], "last");
	free(text);
}
END_TEST

START_TEST(too_many_nodes_are_refused)
{
	FILE *f = fopen("f", "we");
	static const char *const path = "f";
	struct config *config = NULL;
	struct texts texts;

	for (int i = 0; i < CONFIG_NODES_MAX; i++)
		(void)fprintf(f, "[n%d]\n", i);
	(void)fprintf(f, "[x/y/z]\nlog = x\n");
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(load(&config, &path, 1, &texts), -EINVAL);
	ck_assert_str_eq(
		texts.all,
		"f:100000: [n99999] too many nodes: at most 100000\n"
		"f:100001: [x/y/z] too many nodes: at most 100000\n"
		"f:100002: [x/y/z] log: invalid value 'x': expected inherit, null, journal, syslog, or "
		"file:PATH with an absolute path\n");
}
END_TEST

static TCase *config_files_tests(void)
{
	TCase *tc = config_case("files");

	tcase_add_test(tc, missing_parents_are_created_before_their_children);
	tcase_add_test(tc, keys_are_refused_in_the_wrong_section);
	tcase_add_test(tc, a_misspelling_is_recognised);
	tcase_add_test(tc, names_are_checked);
	tcase_add_test(tc, all_errors_are_found_in_one_run);
	tcase_add_test(tc, a_cycle_is_an_error);
	tcase_add_test(tc, only_files_are_read);
	tcase_add_test(tc, a_directory_is_read_in_the_order_of_names);
	tcase_add_test(tc, a_directory_is_read_with_its_conf_d);
	tcase_add_test(tc, nothing_to_run_is_a_warning);
	tcase_add_test(tc, a_service_that_holds_nodes_counts_as_a_service);
	tcase_add_test(tc, a_long_command_arrives_whole);
	tcase_add_test(tc, too_many_nodes_are_refused);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("config");

	suite_add_tcase(s, config_values_tests());
	suite_add_tcase(s, config_attributes_tests());
	suite_add_tcase(s, config_bad_tests());
	suite_add_tcase(s, config_files_tests());
	suite_add_tcase(s, config_command_tests());
	suite_add_tcase(s, config_equal_tests());
	suite_add_tcase(s, config_dropin_tests());
	suite_add_tcase(s, config_trouble_tests());
	return s;
}
