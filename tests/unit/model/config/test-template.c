#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/config/config.h"
#include "model/keys/section.h"

static int find_none(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	(void)name;
	(void)uid;
	(void)gid;
	(void)home;
	(void)shell;
	return -ENOENT;
}

static int find_no_group(const char *name, gid_t *gid)
{
	(void)name;
	(void)gid;
	return -ENOENT;
}

static char said[8192];

static void collect(enum diag_level level, struct place place, const char *text, void *arg)
{
	size_t used = strlen(said);

	(void)arg;
	(void)snprintf(said + used, sizeof(said) - used, "%s%s\n",
		       level == DIAG_WARNING ? "warning: " : "", text);
}

static char *scaled[] = { (char *)"w@ 4", (char *)"x", (char *)"gone@ 2", (char *)"x/w@ 0" };
static size_t n_scaled;

/* Loads files with these texts, which are called "a.ini" and "b.ini". */
static struct config *load(const char *a, const char *b)
{
	const struct config_names names = { .user = find_none,
					    .group = find_no_group,
					    .scaled = scaled,
					    .n_scaled = n_scaled };
	static const char *const files[] = { "a.ini", "b.ini" };
	cleanup(diag_freep) struct diag *diag = NULL;
	char directory[] = "/tmp/test-template-XXXXXX";
	struct config *config = NULL;
	const char *texts[] = { a, b };

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	for (size_t i = 0; i < 2; i++) {
		FILE *f = fopen(files[i], "we");

		ck_assert_ptr_nonnull(f);
		(void)fputs(texts[i] ? texts[i] : "", f);
		ck_assert_int_eq(fclose(f), 0);
	}
	said[0] = '\0';
	ck_assert_int_eq(diag_new(&diag), 0);
	(void)config_load(&config, files, 2, &names, diag);
	diag_each(diag, collect, NULL);
	(void)unlink("a.ini");
	(void)unlink("b.ini");
	(void)rmdir(directory);
	return config;
}

static const struct node_config *node(const struct config *config, const char *path)
{
	const struct node_config *found = config_find(config, path);

	ck_assert_msg(found != NULL, "no %s", path);
	return found;
}

static void refused(const char *a, const char *b, const char *expected)
{
	ck_assert_ptr_null(load(a, b));
	ck_assert_str_eq(said, expected);
}

START_TEST(a_number_makes_instances_from_one)
{
	cleanup(config_unrefp) struct config *config =
		load("[web/w@]\ncommand = run --shard %i\ninstances = 3\numask = 027\n[z]\n", NULL);

	ck_assert_msg(config != NULL, "%s", said);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(node(config, "web/w@1")->argv[2], "1");
	ck_assert_str_eq(node(config, "web/w@3")->argv[2], "3");
	ck_assert_str_eq(node(config, "web/w@3")->command, "run --shard 3");
	ck_assert_int_eq(node(config, "web/w@2")->umask, 027);
	ck_assert_ptr_null(config_find(config, "web/w@4"));
	ck_assert_ptr_null(config_find(config, "web/w@"));
	/* Instances have the position of the template: before nodes of later sections. */
	ck_assert_uint_lt(node(config, "web/w@3")->index, node(config, "z")->index);
	ck_assert_uint_eq(node(config, "web/w@3")->place.line, 1);
}
END_TEST

START_TEST(template_may_be_scaled)
{
	cleanup(config_unrefp) struct config *config = NULL;

	n_scaled = 4;
	config = load("[w@]\ncommand = run\ninstances = 2\n[x/w@]\ncommand = run\ninstances = 2\n"
		      "[z]\ncommand = z\nrequires = w@\n", NULL);
	n_scaled = 0;
	ck_assert_msg(config != NULL, "%s", said);
	ck_assert_uint_eq(config->n_nodes, 6);
	ck_assert_uint_lt(node(config, "w@4")->index, node(config, "z")->index);
	ck_assert_ptr_eq(node_config_edges(node(config, "z"), EDGE_REQUIRES)[3], node(config, "w@4"));
}
END_TEST

START_TEST(instances_may_have_names)
{
	cleanup(config_unrefp) struct config *config =
		load("[q@]\ncommand = run %i\ninstances = mail \"print\"\n  7\n", NULL);

	ck_assert_msg(config != NULL, "%s", said);
	ck_assert_uint_eq(config->n_nodes, 4);
	ck_assert_str_eq(node(config, "q@mail")->argv[1], "mail");
	ck_assert_str_eq(node(config, "q@print")->argv[1], "print");
	ck_assert_str_eq(node(config, "q@7")->argv[1], "7");
}
END_TEST

START_TEST(an_instance_may_be_set_apart)
{
	cleanup(config_unrefp) struct config *config =
		load("[w@2]\numask = 07\n[w@]\ncommand = run %i\ninstances = 2\numask = 027\n",
		     "[w@more]\ncommand = other %i\n");

	ck_assert_msg(config != NULL, "%s", said);
	ck_assert_int_eq(node(config, "w@1")->umask, 027);
	ck_assert_int_eq(node(config, "w@2")->umask, 07);
	ck_assert_str_eq(node(config, "w@2")->argv[0], "run");
	/* An instance beyond those that the template counts. */
	ck_assert_str_eq(node(config, "w@more")->argv[0], "other");
	ck_assert_int_eq(node(config, "w@more")->umask, 027);
}
END_TEST

START_TEST(an_instance_has_all_commands_of_its_template_or_its_own)
{
	cleanup(config_unrefp) struct config *config =
		load("[w@]\ninstances = 2\ncommand = x\nstart-command = a %i\nstart-command = b\n"
		     "[w@2]\nstart-command = c\n",
		     NULL);
	const struct commands *one =
		node_config_hook(config_find(config, "w@1"), HOOK_START_COMMAND);
	const struct commands *two =
		node_config_hook(config_find(config, "w@2"), HOOK_START_COMMAND);

	ck_assert_uint_eq(one->n, 2);
	ck_assert_str_eq(one->argv[0][1], "1");
	ck_assert_str_eq(one->argv[1][0], "b");
	ck_assert_uint_eq(two->n, 1);
	ck_assert_str_eq(two->argv[0][0], "c");
}
END_TEST

START_TEST(a_template_is_a_name_for_all_its_instances)
{
	cleanup(config_unrefp) struct config *config =
		load("[front]\nrequires = w@ db\n[w@]\ncommand = run\ninstances = 2\n"
		     "requires = q@%i\n[q@1]\n[q@2]\n[db]\n",
		     NULL);
	struct node_config **edges;

	ck_assert_msg(config != NULL, "%s", said);
	edges = node_config_edges(node(config, "front"), EDGE_REQUIRES);
	ck_assert_ptr_eq(edges[0], node(config, "w@1"));
	ck_assert_ptr_eq(edges[1], node(config, "w@2"));
	ck_assert_ptr_eq(edges[2], node(config, "db"));
	ck_assert_ptr_null(edges[3]);
	edges = node_config_edges(node(config, "w@2"), EDGE_REQUIRES);
	ck_assert_ptr_eq(edges[0], node(config, "q@2"));
	ck_assert_ptr_null(edges[1]);
}
END_TEST

START_TEST(errors_of_a_template_are_reported_once)
{
	refused("[w@]\ncommand = run %x\ninstances = 5\numask = 9\nno-such-key = 1\n", NULL,
		"a.ini:2: [w@] command: invalid value 'run %x': unknown %: only %n, %i and %% are replaced; "
		"expected a program and its arguments, quoted as in a shell, "
		"for example /usr/bin/app -m \"a b\"\n"
		"a.ini:4: [w@] umask: invalid value '9': expected octal permissions from 0 to 0777, for example 0640\n"
		"a.ini:5: [w@] no-such-key: unknown key: see swansong.ini(5)\n");
}
END_TEST

START_TEST(errors_have_the_line_of_the_template)
{
	refused("[w@]\ncommand = run\nrequires = nobody\n", "\n\n\n[w@1]\n",
		"a.ini:3: [w@] requires: no node 'nobody': "
		"expected a node of this configuration\n");
	refused("[w@]\ncommand = x\n[w@]\n", NULL,
		"warning: a.ini:1: [w@] template without instances: set instances\n"
		"a.ini:3: [w@] duplicate section (first in a.ini:1)\n");
	refused("[w@]\ninstances = 2\n[a]\nrequires = v@\n", NULL,
		"a.ini:4: [a] requires: no node 'v@': expected a node of this configuration\n");
	refused("[a]\ninstances = 2\n", NULL,
		"a.ini:2: [a] instances: wrong section: expected in a template, as in [NAME@]\n");
	refused("[w@/x]\n", NULL,
		"a.ini:1: [w@/x] invalid name: @ ends a part that is not the last: "
		"expected a template's name at the end\n");
}
END_TEST

START_TEST(bad_instances_are_refused)
{
	static const char *const values[] = { "",    "10001", "a a",   "a/b",
					      "a@b", "\"\"",  "a b$c", "\"a",  "-1" };
	char text[64];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		(void)snprintf(text, sizeof(text), "[w@]\ncommand = x\ninstances = %s\n",
			       values[i]);
		ck_assert_msg(!load(text, NULL), "taken: %s", values[i]);
		ck_assert_msg(strncmp(said, "a.ini:3: [w@] instances: invalid value '", 40) == 0,
			      "%s", said);
	}
}
END_TEST

START_TEST(a_template_without_instances_is_a_warning)
{
	cleanup(config_unrefp) struct config *config =
		load("[w@]\ncommand = x\ninstances = 0\n", NULL);

	ck_assert_ptr_nonnull(config);
	ck_assert_uint_eq(config->n_nodes, 1);
	ck_assert_ptr_nonnull(strstr(said, "[w@] template without instances: set instances\n"));
}
END_TEST

static void from(const struct config *config, const char *path, enum key_id key,
		 enum key_origin origin, const char *of, const char *file, unsigned line)
{
	struct key_source source = key_source_of(node(config, path), key);

	ck_assert_int_eq(source.origin, origin);
	if (origin == ORIGIN_DEFAULT) {
		ck_assert_ptr_null(source.node);
		return;
	}
	ck_assert_str_eq(source.node->path, of);
	ck_assert_str_eq(source.place.file, file);
	ck_assert_uint_eq(source.place.line, line);
}

START_TEST(each_setting_has_an_origin)
{
	cleanup(config_unrefp) struct config *config =
		load("[g]\numask = 027\nstop-timeout = 3s\n[g/w@]\ncommand = x\ninstances = 2\n"
		     "nice = 3\n",
		     "[g/w@2]\nnice = 4\nstop-timeout = 5s\n[g/deep/s]\ncommand = y\n");

	ck_assert_msg(config != NULL, "%s", said);
	from(config, "g/w@1", KEY_COMMAND, ORIGIN_TEMPLATE, "g/w@1", "a.ini", 5);
	from(config, "g/w@1", KEY_NICE, ORIGIN_TEMPLATE, "g/w@1", "a.ini", 7);
	from(config, "g/w@1", KEY_UMASK, ORIGIN_INHERITED, "g", "a.ini", 2);
	from(config, "g/w@1", KEY_READY, ORIGIN_DEFAULT, NULL, NULL, 0);
	from(config, "g/w@2", KEY_COMMAND, ORIGIN_TEMPLATE, "g/w@2", "a.ini", 5);
	from(config, "g/w@2", KEY_NICE, ORIGIN_SECTION, "g/w@2", "b.ini", 2);
	from(config, "g/w@2", KEY_STOP_TIMEOUT, ORIGIN_SECTION, "g/w@2", "b.ini", 3);
	from(config, "g/deep/s", KEY_STOP_TIMEOUT, ORIGIN_INHERITED, "g", "a.ini", 3);
	from(config, "g/deep", KEY_REQUIRES, ORIGIN_DEFAULT, NULL, NULL, 0);
	from(config, "", KEY_REPORT, ORIGIN_DEFAULT, NULL, NULL, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("template");
	TCase *tc = tcase_create("template");

	tcase_add_test(tc, a_number_makes_instances_from_one);
	tcase_add_test(tc, template_may_be_scaled);
	tcase_add_test(tc, instances_may_have_names);
	tcase_add_test(tc, an_instance_may_be_set_apart);
	tcase_add_test(tc, an_instance_has_all_commands_of_its_template_or_its_own);
	tcase_add_test(tc, a_template_is_a_name_for_all_its_instances);
	tcase_add_test(tc, errors_of_a_template_are_reported_once);
	tcase_add_test(tc, errors_have_the_line_of_the_template);
	tcase_add_test(tc, bad_instances_are_refused);
	tcase_add_test(tc, a_template_without_instances_is_a_warning);
	tcase_add_test(tc, each_setting_has_an_origin);
	suite_add_tcase(s, tc);
	return s;
}
