#include "tests/unit/model/config/test-config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fixtures/node-equal.h"

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* Loads tree.ini and zoo.ini, both as they are in the directory of the test. */
static struct config *load_trees(struct texts *texts)
{
	static const char *const paths[] = { "tree.ini", "zoo.ini" };
	struct config *config = NULL;

	(void)load(&config, paths, 2, texts);
	return config;
}

static struct config *good_trees(void)
{
	struct texts texts;
	struct config *config = load_trees(&texts);

	ck_assert_str_eq(texts.all, "");
	ck_assert_ptr_nonnull(config);
	return config;
}

static void bad_trees(const char *expected)
{
	struct texts texts;

	ck_assert_ptr_null(load_trees(&texts));
	ck_assert_str_eq(texts.all, expected);
}

static void make_trees(const char *tree, const char *zoo)
{
	write_text("tree.ini", tree);
	write_text("zoo.ini", zoo);
	ck_assert_int_eq(mkdir("tree.d", 0755), 0);
}

START_TEST(drop_ins_override_and_add_keys_in_the_order_of_names)
{
	cleanup(config_unrefp) struct config *config = NULL;

	make_trees("[a]\ncommand = old\numask = 022\npost-stop = one\npost-stop = two\n[b]\n", "");
	write_text("tree.d/20.ini", "[a]\numask = 077\npost-stop = four\n[c]\ncommand = c\n");
	write_text("tree.d/10.ini", "[a]\ncommand = new\numask = 027\nstop-timeout = 3s\n"
				    "post-stop = three\n");
	config = good_trees();
	ck_assert_uint_eq(config->n_nodes, 4);
	ck_assert_str_eq(only(config, "a")->command, "new");
	ck_assert_int_eq(only(config, "a")->umask, 077);
	ck_assert_uint_eq(only(config, "a")->stop_timeout_usec, 3 * USEC_PER_SEC);
	ck_assert_uint_eq(node_config_hook(only(config, "a"), HOOK_POST_STOP)->n, 1);
	ck_assert_str_eq(node_config_hook(only(config, "a"), HOOK_POST_STOP)->argv[0][0], "four");
	ck_assert_str_eq(only(config, "a")->place.file, "tree.ini");
	ck_assert_str_eq(only(config, "c")->place.file, "tree.d/20.ini");
	ck_assert_uint_eq(only(config, "b")->index, 2);
	ck_assert_uint_eq(only(config, "c")->index, 3);
}
END_TEST

START_TEST(drop_ins_count_for_their_file_and_for_later_ones)
{
	cleanup(config_unrefp) struct config *config = NULL;

	make_trees("[a]\ncommand = a\n", "[z]\ncommand = z\n");
	write_text("tree.d/z.ini", "[z]\ncommand = tree\n[swansong]\nexit-when = never\n");
	config = good_trees();
	ck_assert_str_eq(only(config, "z")->command, "tree");
	ck_assert_int_eq(config->exit_when, EXIT_WHEN_NEVER);
	config_unref(take(config));

	ck_assert_int_eq(mkdir("zoo.d", 0755), 0);
	write_text("zoo.d/z.ini", "[z]\ncommand = zoo\n");
	config = good_trees();
	ck_assert_str_eq(only(config, "z")->command, "zoo");
	config_unref(take(config));

	write_text("zoo.d/a.ini", "[a]\numask = 077\n");
	bad_trees("zoo.d/a.ini:1: [a] duplicate section (first in tree.ini:1)\n");
}
END_TEST

START_TEST(files_of_a_directory_have_drop_ins)
{
	static const char *const path = "conf.d";
	cleanup(config_unrefp) struct config *config = NULL;
	struct texts texts;

	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	ck_assert_int_eq(mkdir("conf.d/nginx.d", 0755), 0);
	write_text("conf.d/nginx.ini", "[web/nginx]\ncommand = nginx\n");
	write_text("conf.d/nginx.d/override.ini", "[web/nginx]\ncommand = angie\n");
	ck_assert_int_eq(load(&config, &path, 1, &texts), 0);
	ck_assert_str_eq(only(config, "web/nginx")->command, "angie");
}
END_TEST

START_TEST(drop_ins_of_templates_change_and_add_instances)
{
	cleanup(config_unrefp) struct config *config = NULL;

	make_trees("[w@]\ncommand = w\ninstances = 3\numask = 022\n[w@1]\numask = 027\n", "");
	write_text("tree.d/w.ini", "[w@]\ninstances = 2\numask = 077\nnice = 3\n"
				   "[w@2]\ncommand = other\n");
	config = good_trees();
	ck_assert_ptr_null(config_find(config, "w@3"));
	ck_assert_int_eq(only(config, "w@1")->umask, 027);
	ck_assert_int_eq(only(config, "w@2")->umask, 077);
	ck_assert_str_eq(only(config, "w@1")->command, "w");
	ck_assert_str_eq(only(config, "w@2")->command, "other");
	ck_assert_int_eq(only(config, "w@1")->parts.attributes->nice, 3);
}
END_TEST

START_TEST(mistakes_have_the_place_of_the_drop_in)
{
	make_trees("[a]\ncommand = a\nrequires = b\numask = 9\n[b]\ncommand = b\n"
		   "[w@]\ncommand = w\ninstances = 1\n",
		   "");
	write_text("tree.d/x.ini", "\n[a]\numask = 8\ncomand = x\n[b]\n\nrequires = a\n[w@]\n"
				   "umask = x\n");
	bad_trees("tree.ini:3: [a] requires: dependency cycle: a → b → a: a requires b; "
		  "b requires a\n"
		  "tree.d/x.ini:3: [a] umask: invalid value '8': expected octal permissions from 0 "
		  "to 0777, for example 0640\n"
		  "tree.d/x.ini:4: [a] comand: unknown key: did you mean 'command'?\n"
		  "tree.d/x.ini:9: [w@] umask: invalid value 'x': expected octal permissions "
		  "from 0 to 0777, for example 0640\n");
}
END_TEST

START_TEST(errors_in_edges_name_the_line_of_the_dropin)
{
	make_trees("[a]\ncommand = a\n[w@]\ncommand = w\ninstances = 1\n", "");
	write_text("tree.d/x.ini", "[a]\nrequires = nowhere\n[w@]\n\nafter = never\n");
	bad_trees("tree.d/x.ini:2: [a] requires: no node 'nowhere': expected a node of this "
		  "configuration\n"
		  "tree.d/x.ini:5: [w@] after: no node 'never': expected a node of this "
		  "configuration\n");
}
END_TEST

START_TEST(within_one_drop_in_nothing_stands_twice)
{
	make_trees("[a]\ncommand = a\n", "");
	write_text("tree.d/x.ini", "[a]\numask = 022\numask = 027\n[a]\nnice = 1\n[\n[b\n");
	bad_trees("tree.d/x.ini:3: [a] umask: duplicate key (first set on line 2)\n"
		  "tree.d/x.ini:4: [a] duplicate section (first in tree.d/x.ini:1)\n"
		  "tree.d/x.ini:6: section without closing bracket: expected [NAME]\n"
		  "tree.d/x.ini:7: section without closing bracket: expected [NAME]\n");
}
END_TEST

START_TEST(a_drop_in_directory_must_be_trusted)
{
	cleanup(config_unrefp) struct config *config = NULL;

	make_trees("[a]\ncommand = a\n", "");
	write_text("zoo.d", "[a]\ncommand = b\n");
	config = good_trees(); /* a file of that name is none */
	ck_assert_str_eq(only(config, "a")->command, "a");
	ck_assert_int_eq(chmod("tree.d", 0777), 0);
	bad_trees("tree.d: writable by every user: remove the permission to write (chmod o-w)\n");
}
END_TEST

static int load_by(struct config **ret, int tape, const struct config_names *by)
{
	static const char *const paths[] = { "tree.ini", "zoo.ini" };
	struct config_names taped = *by;
	cleanup(diag_freep) struct diag *diag = NULL;

	taped.tape = tape;
	ck_assert_int_eq(diag_new(&diag), 0);
	return config_load(ret, paths, 2, &taped, diag);
}

static int load_with(struct config **ret, int tape)
{
	return load_by(ret, tape, &names);
}

static const char *tree_with_files(void)
{
	static char text[256];

	(void)snprintf(text, sizeof(text),
		       "[a]\ncommand = a\nenvironment-file = -%s/none %s/here\n", directory,
		       directory);
	return text;
}

START_TEST(a_tape_has_the_files_that_have_changed_since)
{
	cleanup(config_unrefp) struct config *before = NULL, *after = NULL;
	int tape = memfd_create("tape", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	make_trees(tree_with_files(), "[t@]\ninstances = 2\ncommand = t\n");
	write_text("here", "KIND=old\n");
	write_text("tree.d/1.ini", "[a]\ncommand = new\n");
	ck_assert_int_eq(load_with(&before, tape), 0);
	ck_assert_int_eq(fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE), 0);
	write_text("tree.ini", "[broken");
	write_text("here", "KIND=new\n");
	write_text("none", "MORE=1\n");
	ck_assert_int_eq(unlink("tree.d/1.ini") + unlink("zoo.ini"), 0);
	ck_assert_int_eq((int)lseek(tape, 0, SEEK_SET), 0);
	ck_assert_int_eq(load_with(&after, tape), 0);
	(void)close(tape);
	ck_assert_uint_eq(after->n_nodes, before->n_nodes);
	for (size_t i = 0; i < before->n_nodes; i++)
		ck_assert(node_config_equal(before->nodes[i], after->nodes[i]));
	ck_assert_str_eq(only(after, "a")->command, "new");
	ck_assert_str_eq(only(after, "a")->environment[0], "KIND=old");
	ck_assert_ptr_null(only(after, "a")->environment[1]);
}
END_TEST

static int no_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	return -EIO;
}

static int no_group(const char *name, gid_t *gid)
{
	return -EIO;
}

static int no_groups(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n)
{
	return -EIO;
}

static void check_groups_of_redis(const struct node_config *node)
{
	static const gid_t expected[] = { 55, 7, 5, 4 };
	const struct credentials *credentials = &node_config_extras(node)->credentials;
	gid_t *groups;
	size_t n;

	ck_assert_str_eq(credentials->login, "redis");
	ck_assert_str_eq(credentials->home, "/var/lib/redis");
	ck_assert_str_eq(credentials->shell, "/bin/sh");
	/* The group of the process is in place of the user's own. */
	ck_assert_int_eq(credentials_groups(credentials, 55, &groups, &n), 0);
	ck_assert_uint_eq(n, ARRAY_SIZE(expected));
	ck_assert_mem_eq(groups, expected, sizeof(expected));
	free(groups);
}

START_TEST(a_tape_has_users_that_cannot_be_found_any_more)
{
	cleanup(config_unrefp) struct config *before = NULL, *after = NULL;
	const struct config_names none = { .user = no_user,
					   .group = no_group,
					   .groups = no_groups };
	int tape = memfd_create("tape", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	make_trees("[a]\ncommand = a\nuser = redis\ngroup = adm\ngroups = 5 adm\nnotify-user = 77\n"
		   "notify = yes\n",
		   "[t@]\ninstances = 2\ncommand = t\nuser = redis\n");
	ck_assert_int_eq(load_with(&before, tape), 0);
	ck_assert_int_eq(fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE), 0);
	ck_assert_int_eq((int)lseek(tape, 0, SEEK_SET), 0);
	ck_assert_int_eq(load_by(&after, tape, &none), 0);
	(void)close(tape);
	ck_assert_uint_eq(after->n_nodes, before->n_nodes);
	for (size_t i = 0; i < before->n_nodes; i++)
		ck_assert(node_config_equal(before->nodes[i], after->nodes[i]));
	check_groups_of_redis(only(after, "a"));
}
END_TEST

START_TEST(tape_of_a_version_that_noted_no_groups_is_played)
{
	cleanup(config_unrefp) struct config *before = NULL, *after = NULL;
	struct config_names older = names, newer = names;
	int tape = memfd_create("tape", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	older.groups = NULL;
	newer.user = no_user;
	make_trees("[a]\ncommand = a\nuser = redis\ngroups = 5 adm\n", "");
	ck_assert_int_eq(load_by(&before, tape, &older), 0);
	ck_assert_ptr_null(node_config_extras(only(before, "a"))->credentials.login);
	ck_assert_int_eq(fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE), 0);
	ck_assert_int_eq((int)lseek(tape, 0, SEEK_SET), 0);
	ck_assert_int_eq(load_by(&after, tape, &newer), 0);
	(void)close(tape);
	check_groups_of_redis(only(after, "a"));
}
END_TEST

START_TEST(a_cut_tape_is_refused)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct config *none = NULL;
	int tape = memfd_create("tape", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	off_t size;

	write_text("here", "KIND=old\n");
	make_trees(tree_with_files(), "");
	ck_assert_int_eq(load_with(&config, tape), 0);
	ck_assert_int_eq(fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE), 0);
	size = lseek(tape, 0, SEEK_CUR);
	while (size-- > 0) {
		ck_assert_int_eq(ftruncate(tape, size), 0);
		ck_assert_int_eq((int)lseek(tape, 0, SEEK_SET), 0);
		ck_assert_int_lt(load_with(&none, tape), 0);
	}
	(void)close(tape);
}
END_TEST

START_TEST(tape_with_values_out_of_range_is_refused)
{
	/* As struct record of model/file/source.c, with a text behind it that is shorter. */
	static const struct {
		uint32_t path_size;
		int32_t result;
		uint64_t size;
		char text[16];
	} tapes[] = {
		{ 2, 0, UINT64_MAX - 2, "" },
		{ 2, 0, UINT64_MAX / 2, "" },
		{ UINT32_MAX, 0, 0, "" },
		{ 0, 23, 0, "" },
	};
	struct config *none = NULL;
	int tape = memfd_create("tape", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(write(tape, &tapes[_i], sizeof(tapes[0])), sizeof(tapes[0]));
	ck_assert_int_eq(fcntl(tape, F_ADD_SEALS, F_SEAL_WRITE), 0);
	ck_assert_int_eq((int)lseek(tape, 0, SEEK_SET), 0);
	ck_assert_int_eq(load_with(&none, tape), -EBADMSG);
	ck_assert_ptr_null(none);
	(void)close(tape);
}
END_TEST

TCase *config_dropin_tests(void)
{
	TCase *tc = config_case("dropin");

	tcase_add_test(tc, drop_ins_override_and_add_keys_in_the_order_of_names);
	tcase_add_test(tc, drop_ins_count_for_their_file_and_for_later_ones);
	tcase_add_test(tc, files_of_a_directory_have_drop_ins);
	tcase_add_test(tc, drop_ins_of_templates_change_and_add_instances);
	tcase_add_test(tc, mistakes_have_the_place_of_the_drop_in);
	tcase_add_test(tc, errors_in_edges_name_the_line_of_the_dropin);
	tcase_add_test(tc, within_one_drop_in_nothing_stands_twice);
	tcase_add_test(tc, a_drop_in_directory_must_be_trusted);
	tcase_add_test(tc, a_tape_has_the_files_that_have_changed_since);
	tcase_add_test(tc, a_tape_has_users_that_cannot_be_found_any_more);
	tcase_add_test(tc, tape_of_a_version_that_noted_no_groups_is_played);
	tcase_add_test(tc, a_cut_tape_is_refused);
	tcase_add_loop_test(tc, tape_with_values_out_of_range_is_refused, 0, 4);
	return tc;
}
