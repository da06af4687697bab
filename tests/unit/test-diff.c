#include "config-of.h"
#include "main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/config.h"
#include "model/diff.h"

static int find_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	if (strcmp(name, "redis") != 0 && strcmp(name, "web") != 0)
		return -ENOENT;
	*home = strdup("/");
	*shell = strdup("/bin/sh");
	*uid = *gid = *name == 'r' ? 100 : 101;
	return *home && *shell ? 0 : -ENOMEM;
}

static int find_group(const char *name, gid_t *gid)
{
	(void)name;
	(void)gid;
	return -ENOENT;
}

static const struct config_names names = { find_user, find_group };

static struct config *load(const char *text)
{
	return config_of(text, &names);
}

/*
 * Two values of every key, as a person would write them; @with stands in the section beside both.
 * NULL: the key is left out.
 */
static const struct {
	const char *one, *other, *with;
} samples[N_KEYS] = {
	[KEY_CONTROL_SOCKET] = { "/run/a", "none", NULL },
	[KEY_CONTROL_GROUP] = { NULL, "4", NULL },
	[KEY_CONTROL_MODE] = { "0600", "0660", NULL },
	[KEY_FINAL] = { NULL, "b c", NULL },
	[KEY_FINAL_TIMEOUT] = { "10s", "1s", NULL },
	[KEY_EXIT_WHEN] = { "any", "all", NULL },
	[KEY_EXIT_ON_SIGNAL] = { "0", "128+n", NULL },
	[KEY_REPORT] = { "/var/a", "none", NULL },
	[KEY_SHUTDOWN_TIMEOUT] = { "90s", "infinity", NULL },
	[KEY_REQUIRES] = { "b", "b c", NULL },
	[KEY_WANTS] = { NULL, "b c", NULL },
	[KEY_AFTER] = { NULL, "c", NULL },
	[KEY_TERM_AFTER] = { "b", "c", NULL },
	[KEY_STRATEGY] = { "one-for-all", "rest-for-one", NULL },
	[KEY_COMMAND] = { "x \"a b\" %n", "y", NULL },
	[KEY_TYPE] = { "simple", "oneshot", "restart = never" },
	[KEY_LISTEN] = { "tcp:127.0.0.1:80,name=a unix:/run/a,mode=0600,owner=100,group=4",
			 "tcp:127.0.0.1:80 unix:/run/a", NULL },
	[KEY_SIGNAL_SCOPE] = { "group", "all", NULL },
	[KEY_KILL_SIGNAL] = { "SIGKILL", "SIGABRT", NULL },
	[KEY_KILL_LEFTOVERS] = { "yes", "no", NULL },
	[KEY_CGROUP_MEMORY_MAX] = { "65536", "infinity", NULL },
	[KEY_CGROUP_PIDS_MAX] = { NULL, "12", NULL },
	[KEY_CGROUP_CPU_WEIGHT] = { NULL, "50", NULL },
	[KEY_RESTART] = { "always", "on-failure", NULL },
	[KEY_RESTART_DELAY] = { "1250ms", "1s", NULL },
	[KEY_RESTART_DELAY_MAX] = { "5min", "1h", NULL },
	[KEY_RESTART_RESET] = { "1s", "0", NULL },
	[KEY_RESTART_LIMIT] = { "none", "3/2min", NULL },
	[KEY_SUCCESS_STATUS] = { "1 255 SIGHUP", NULL, NULL },
	[KEY_ON_FAILED] = { "nothing", "shutdown-parent", NULL },
	[KEY_READY] = { "log:^a( b)?$", "log:^a$", NULL },
	[KEY_NOTIFY] = { "yes", "no", NULL },
	[KEY_CONTROL] = { "yes", "no", NULL },
	[KEY_FD_STORE_MAX] = { "5", "6", "notify = yes" },
	[KEY_START_TIMEOUT] = { "2d", "36h", NULL },
	[KEY_WATCHDOG] = { "5s", "infinity", "notify = yes" },
	[KEY_WATCHDOG_SIGNAL] = { "SIGQUIT", "SIGTERM", NULL },
	[KEY_HEALTH] = { "exec:a \"b c\"", "exec:a b c", NULL },
	[KEY_HEALTH_INTERVAL] = { "1s", "90s", NULL },
	[KEY_HEALTH_TIMEOUT] = { "10ms", "5s", NULL },
	[KEY_HEALTH_RETRIES] = { "1", "2", NULL },
	[KEY_ON_UNHEALTHY] = { "restart", "log", NULL },
	[KEY_AUTOSTART] = { "yes", "no", NULL },
	[KEY_START_COMMAND] = { NULL, "b c", NULL },
	[KEY_POST_START] = { "b", "b c", NULL },
	[KEY_RELOAD_SIGNAL] = { "SIGHUP", "SIGUSR1", NULL },
	[KEY_RELOAD_COMMAND] = { "b", "c", NULL },
	[KEY_DRAIN_DELAY] = { "0", "5s", NULL },
	[KEY_STOP_COMMAND] = { "b", "c", NULL },
	[KEY_STOP_SIGNAL] = { "SIGINT", "SIGRTMIN+3", NULL },
	[KEY_POST_STOP] = { "a", "b", NULL },
	[KEY_ESSENTIAL] = { "yes", "no", NULL },
	[KEY_TERMINAL] = { "yes", "no", NULL },
	[KEY_ATTACH] = { "yes", "no", NULL },
	[KEY_USER] = { "redis", "web", NULL },
	[KEY_GROUP] = { "4", "5", NULL },
	[KEY_GROUPS] = { "4 7", "none", NULL },
	[KEY_DIRECTORY] = { "/srv", "/tmp", NULL },
	[KEY_ENVIRONMENT] = { "A=1 B=", "A=1", NULL },
	[KEY_ENVIRONMENT_FILE] = { "-/nonexistent/1 -/nonexistent/2", "-/nonexistent/2", NULL },
	[KEY_UMASK] = { "0022", "0077", NULL },
	[KEY_LIMIT_AS] = { "1:infinity", "2", NULL },
	[KEY_LIMIT_CORE] = { "1:infinity", "3", NULL },
	[KEY_LIMIT_CPU] = { "1:infinity", "4", NULL },
	[KEY_LIMIT_DATA] = { "1:infinity", "5", NULL },
	[KEY_LIMIT_FSIZE] = { "1:infinity", "6", NULL },
	[KEY_LIMIT_LOCKS] = { "1:infinity", "7", NULL },
	[KEY_LIMIT_MEMLOCK] = { "1:infinity", "8", NULL },
	[KEY_LIMIT_MSGQUEUE] = { "1:infinity", "9", NULL },
	[KEY_LIMIT_NICE] = { "1:infinity", "10", NULL },
	[KEY_LIMIT_NOFILE] = { "1:infinity", "11", NULL },
	[KEY_LIMIT_NPROC] = { "1:infinity", "12", NULL },
	[KEY_LIMIT_RSS] = { "1:infinity", "13", NULL },
	[KEY_LIMIT_RTPRIO] = { "1:infinity", "14", NULL },
	[KEY_LIMIT_RTTIME] = { "1:infinity", "15", NULL },
	[KEY_LIMIT_SIGPENDING] = { "1:infinity", "16", NULL },
	[KEY_LIMIT_STACK] = { "1:infinity", "17", NULL },
	[KEY_NICE] = { "-20", "0", NULL },
	[KEY_OOM_SCORE_ADJUST] = { "-1000", "1000", NULL },
	[KEY_IO_CLASS] = { "best-effort:0", "idle", NULL },
	[KEY_CPU_AFFINITY] = { "0-3,7,1022-1023", NULL, NULL },
	[KEY_NO_NEW_PRIVILEGES] = { "yes", "no", NULL },
	[KEY_CAPABILITIES] = { "cap_chown cap_checkpoint_restore", "none", NULL },
	[KEY_STOP_TIMEOUT] = { "0", "1s", NULL },
	[KEY_DRAIN_TIMEOUT] = { "5min", "infinity", NULL },
	[KEY_STDIN] = { "inherit", "file:/l", NULL },
	[KEY_STDOUT] = { "syslog", NULL, NULL },
	[KEY_STDERR] = { "journal", "null", NULL },
	[KEY_LOG] = { "file:/l", "null", NULL },
};

static char text[2048];

/*
 * A service a, and what its edges may name, with @key in the section where it may stand; a has the lines
 * of @beside, too.
 */
static struct config *load_with(enum key_id key, const char *value, const char *beside)
{
	const char *with = samples[key].with;
	bool root = keys[key].scope == SCOPE_ROOT;
	char line[256] = "";

	if (value)
		(void)snprintf(line, sizeof(line), "%s = %s\n", keys[key].name, value);
	(void)snprintf(text, sizeof(text), "[swansong]\n%s[b]\n[c]\n[d]\n[a]\n%s%s%s\n%s",
		       root ? line : "", beside, with ? with : "",
		       key == KEY_COMMAND ? "" : "\ncommand = x", root ? "" : line);
	return load(text);
}

static char *shown(const struct config *config, enum key_id key)
{
	char *shown = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&shown, &size);

	key_print(file, config, config_find(config, "a"), key);
	(void)fclose(file);
	return shown;
}

static void shows(const struct config *config, enum key_id key, const char *value)
{
	cleanup(freep) char *is = shown(config, key);

	ck_assert_msg(strcmp(is, value ? value : "") == 0, "%s = %s is shown as '%s'",
		      keys[key].name, value, is);
}

/* Loop test: one key each. */
START_TEST(a_key_is_noticed_and_shown)
{
	enum key_id key = (enum key_id)_i;
	struct key_set set, daemon;

	if (keys[key].scope == SCOPE_TEMPLATE)
		return; /* the nodes that it makes are compared */
	ck_assert_msg(key_is_compared(key), "%s has no row in model/diff.c", keys[key].name);
	ck_assert_msg(keys[key].apply, "%s does not say what a change asks for", keys[key].name);
	ck_assert_msg((keys[key].apply == APPLY_DAEMON) ==
			      (keys[key].scope == SCOPE_ROOT && key != KEY_REPORT),
		      "%s", keys[key].name);
	ck_assert_msg(samples[key].one || samples[key].other, "%s has no sample in this test",
		      keys[key].name);

	cleanup(config_unrefp) struct config *one = load_with(key, samples[key].one, "");
	cleanup(config_unrefp) struct config *again = load_with(key, samples[key].one, "");
	cleanup(config_unrefp) struct config *other = load_with(key, samples[key].other, "");
	const struct node_config *a = config_find(one, "a");
	bool root = keys[key].scope == SCOPE_ROOT;

	ck_assert_uint_eq(node_config_diff(a, config_find(again, "a"), &set), 0);
	ck_assert_uint_eq(config_diff(one, again, &daemon), 0);
	ck_assert_uint_eq(node_config_diff(a, config_find(other, "a"), &set), !root);
	ck_assert_uint_eq(config_diff(one, other, &daemon), root);
	ck_assert(key_set_has(root ? &daemon : &set, key));
	ck_assert_int_eq(key_set_apply(root ? &daemon : &set), keys[key].apply);
	if (key != KEY_ENVIRONMENT) {
		shows(one, key, samples[key].one);
		shows(other, key, samples[key].other);
	}
}
END_TEST

/* A key of each part of a node that is only there if something in it is stated. */
static const struct {
	enum key_id key;
	const char *line;
} others[] = {
	{ KEY_DRAIN_DELAY, "drain-delay = 7s\n" },
	{ KEY_TERM_AFTER, "term-after = d\n" },
	{ KEY_LOG, "log = null\n" },
	{ KEY_LIMIT_CORE, "limit-core = 7\n" },
};

/* All of those, but for @key. */
static unsigned lines_beside(enum key_id key, char lines[static 128])
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i].key == key)
			continue;
		lines = stpcpy(lines, others[i].line);
		n++;
	}
	return n;
}

/* Loop test: one key each, not stated, or one of two values, with and without the others. */
START_TEST(a_key_is_noticed_whatever_stands_beside_it)
{
	enum key_id key = (enum key_id)_i;
	/* What stands beside means nothing without a command. */
	const char *const values[] = { key == KEY_COMMAND ? "z" : NULL, samples[key].one,
				       samples[key].other };
	struct config *configs[2 * ARRAY_SIZE(values)];
	char lines[128];
	unsigned n_beside = lines_beside(key, lines);
	struct key_set set;

	if (!key_is_compared(key) || keys[key].scope == SCOPE_ROOT)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++)
		configs[i] = load_with(key, values[i / 2], i % 2 ? lines : "");
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(configs); j++) {
			cleanup(freep) char *from = shown(configs[i], key);
			cleanup(freep) char *to = shown(configs[j], key);
			/* Of variables only the names are shown. */
			bool differs =
				key == KEY_ENVIRONMENT ? i / 2 != j / 2 : strcmp(from, to) != 0;
			unsigned n = node_config_diff(config_find(configs[i], "a"),
						      config_find(configs[j], "a"), &set);

			ck_assert_msg(key_set_has(&set, key) == differs, "%s: from '%s' to '%s'",
				      keys[key].name, from, to);
			ck_assert_uint_eq(n, differs + (i % 2 != j % 2 ? n_beside : 0));
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++)
		config_unref(configs[i]);
}
END_TEST

START_TEST(of_variables_only_the_names_are_shown)
{
	cleanup(config_unrefp) struct config *config =
		load_with(KEY_ENVIRONMENT, "A=secret B= C=\\=", "");
	struct key_set set;

	shows(config, KEY_ENVIRONMENT, "A B C");
	cleanup(config_unrefp) struct config *other =
		load_with(KEY_ENVIRONMENT, "A=other B= C=\\=", "");
	shows(other, KEY_ENVIRONMENT, "A B C");
	ck_assert_uint_eq(node_config_diff(config_find(config, "a"), config_find(other, "a"), &set),
			  1);
}
END_TEST

START_TEST(what_a_group_passes_on_matters_to_its_final_action)
{
	cleanup(config_unrefp) struct config *one =
		load("[a]\nfinal = x\numask = 022\n[b]\numask = 022\n");
	cleanup(config_unrefp) struct config *other =
		load("[a]\nfinal = x\numask = 077\n[b]\numask = 077\n");
	struct key_set set;

	ck_assert_uint_eq(node_config_diff(config_find(one, "a"), config_find(other, "a"), &set),
			  1);
	ck_assert(key_set_has(&set, KEY_UMASK));
	ck_assert_uint_eq(node_config_diff(config_find(one, "b"), config_find(other, "b"), &set),
			  0);
}
END_TEST

START_TEST(a_group_and_a_service_differ_by_their_command)
{
	cleanup(config_unrefp) struct config *group = load("[a]\n[b]\ncommand = x\n");
	cleanup(config_unrefp) struct config *service =
		load("[a]\ncommand = x\numask = 0\nuser = redis\nrestart = never\n[b]\n");
	struct key_set set;

	ck_assert_uint_eq(
		node_config_diff(config_find(group, "a"), config_find(service, "a"), &set), 1);
	ck_assert(key_set_has(&set, KEY_COMMAND));
	ck_assert_uint_eq(
		node_config_diff(config_find(group, "b"), config_find(service, "b"), &set), 1);
	ck_assert(key_set_has(&set, KEY_COMMAND));
}
END_TEST

START_TEST(what_is_inherited_counts_where_it_arrives)
{
	cleanup(config_unrefp) struct config *one =
		load("[g]\numask = 022\n[g/a]\ncommand = x\n[g/b]\ncommand = x\numask = 0\n");
	cleanup(config_unrefp) struct config *other =
		load("[g]\numask = 077\n[g/a]\ncommand = x\n[g/b]\ncommand = x\numask = 0\n");
	struct key_set set;

	ck_assert(node_config_equal(config_find(one, "g"), config_find(other, "g")));
	ck_assert(node_config_equal(config_find(one, "g/b"), config_find(other, "g/b")));
	ck_assert_uint_eq(
		node_config_diff(config_find(one, "g/a"), config_find(other, "g/a"), &set), 1);
	ck_assert(key_set_has(&set, KEY_UMASK));
}
END_TEST

START_TEST(the_most_is_what_counts)
{
	struct key_set set = { 0 };

	key_set_add(&set, KEY_STOP_TIMEOUT);
	ck_assert_int_eq(key_set_apply(&set), APPLY_LIVE);
	key_set_add(&set, KEY_READY);
	ck_assert_int_eq(key_set_apply(&set), APPLY_NEXT_START);
	key_set_add(&set, KEY_COMMAND);
	ck_assert_int_eq(key_set_apply(&set), APPLY_RESTART);
	key_set_add(&set, KEY_AFTER);
	ck_assert_int_eq(key_set_apply(&set), APPLY_RESTART);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("diff");
	TCase *tc = tcase_create("diff");

	tcase_add_loop_test(tc, a_key_is_noticed_and_shown, 0, N_KEYS);
	tcase_add_loop_test(tc, a_key_is_noticed_whatever_stands_beside_it, 0, N_KEYS);
	tcase_add_test(tc, of_variables_only_the_names_are_shown);
	tcase_add_test(tc, what_a_group_passes_on_matters_to_its_final_action);
	tcase_add_test(tc, a_group_and_a_service_differ_by_their_command);
	tcase_add_test(tc, what_is_inherited_counts_where_it_arrives);
	tcase_add_test(tc, the_most_is_what_counts);
	suite_add_tcase(suite, tc);
	return suite;
}
