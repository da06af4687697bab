#include "tests/unit/fixtures/config-of.h"
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/config/config.h"
#include "tests/unit/fixtures/node-equal.h"

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

static const struct config_names names = { .user = find_user, .group = find_group };

static struct config *load(const char *text)
{
	return config_of(text, &names);
}

/* Further lines for keys that are not valid alone. */
static const struct {
	enum key_id key;
	const char *line;
} companions[] = {
	{ KEY_TYPE, "restart = never" },
	{ KEY_AUTOSTART, "listen = unix:/x" },
	{ KEY_SCHEDULE, "type = oneshot\nautostart = no" },
	{ KEY_HANDOVER, "listen = unix:/x" },
	{ KEY_FD_STORE_MAX, "notify = yes" },
	{ KEY_WATCHDOG, "notify = yes" },
};

static const char *companion(enum key_id key)
{
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++) {
		if (companions[i].key == key)
			return companions[i].line;
	}
	return "";
}

static char text[2048];

/*
 * A service a, and targets for its edges, with @key in a section of its scope; a has the lines of
 * @beside, too.
 */
static struct config *load_with(enum key_id key, const char *value, const char *beside)
{
	bool root = keys[key].scope == SCOPE_ROOT;
	char line[256] = "";

	if (value)
		(void)snprintf(line, sizeof(line), "%s = %s\n", keys[key].name, value);
	(void)snprintf(text, sizeof(text), "[swansong]\n%s[b]\n[c]\n[d]\n[a]\n%s%s%s\n%s",
		       root ? line : "", beside, companion(key),
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

/* The path of the node stands in place of %n at the end of a command. */
static void shows(const struct config *config, enum key_id key, const char *value)
{
	cleanup(freep) char *is = shown(config, key);

	if (key == KEY_COMMAND && value && strstr(value, " %n")) {
		ck_assert_str_eq(is + strlen(value) - 2, "a");
		ck_assert_int_eq(strncmp(is, value, strlen(value) - 2), 0);
		return;
	}
	ck_assert_msg(strcmp(is, value ? value : "") == 0, "%s = %s is shown as '%s'",
		      keys[key].name, value, is);
}

/* Two different values of each type, as they are shown. */
static const struct {
	const struct type *type;
	const char *values[2];
} examples_of_types[] = {
	{ &type_socket, { "/run/a", "none" } },
	{ &type_gid, { "4", "5" } },
	{ &type_mode, { "0640", "0022" } },
	{ &type_exit_when, { "any", "all" } },
	{ &type_exit_on_signal, { "0", "128+n" } },
	{ &type_report, { "/var/a", "none" } },
	{ &type_user, { "redis", "web" } },
	{ &type_duration, { "30s", "250ms" } },
	{ &type_nodes, { "b", "b c" } },
	{ &type_strategy, { "one-for-one", "one-for-all" } },
	{ &type_pids, { "12", "infinity" } },
	{ &type_pressure_limit, { "20% over 30s", "none" } },
	{ &type_inhibit, { "none", "shutdown:sleep" } },
	{ &type_agent, { "tcp:127.0.0.1:8081", "unix:/run/agent,mode=0600" } },
	{ &type_commands, { "b c", "b" } },
	{ &type_command, { "x \"a b\" %n", "y" } },
	{ &type_type, { "simple", "oneshot" } },
	{ &type_pid_file, { "/run/a.pid", "/run/b.pid" } },
	{ &type_listen,
	  { "tcp:127.0.0.1:80,name=a unix:/run/a,mode=0600,owner=100,group=4",
	    "tcp:127.0.0.1:80 unix:/run/a" } },
	{ &type_autostart, { "no", "on-demand" } },
	{ &type_idle, { "10min", "90s" } },
	{ &type_schedule, { "5min", "Mon..Fri 08:30" } },
	{ &type_timezone, { "Europe/Berlin", "America/New_York" } },
	{ &type_restart, { "always", "on-failure" } },
	{ &type_percent, { "20%", "0%" } },
	{ &type_restart_limit, { "3/2min", "none" } },
	{ &type_bool, { "yes", "no" } },
	{ &type_retries, { "1", "1000" } },
	{ &type_success_status, { "1 255 SIGHUP", "3" } },
	{ &type_on_failed, { "nothing", "shutdown-parent" } },
	{ &type_chain, { "b", "b c" } },
	{ &type_ready, { "log:^a( b)?$", "log:^a$" } },
	{ &type_uid, { "100", "101" } },
	{ &type_notify_access, { "user", "main" } },
	{ &type_fd_store_max, { "0", "250" } },
	{ &type_watchdog, { "5s", "infinity" } },
	{ &type_signal, { "SIGQUIT", "SIGRTMIN+3" } },
	{ &type_health, { "exec:a \"b c\"", "exec:a b c" } },
	{ &type_interval, { "10ms", "90s" } },
	{ &type_on_unhealthy, { "restart", "shutdown" } },
	{ &type_memory, { "65536", "infinity" } },
	{ &type_conditions, { "!path:/a", "exec:b c" } },
	{ &type_folders, { "a b/c:0750", "a" } },
	{ &type_credential, { "a:/b", "a:/c" } },
	{ &type_signal_scope, { "group", "main" } },
	{ &type_weight, { "50", "200" } },
	{ &type_group, { "4", "5" } },
	{ &type_groups, { "4 7", "none" } },
	{ &type_directory, { "/srv", "/tmp" } },
	{ &type_environment, { "A=1 B=", "A=1" } },
	{ &type_files, { "-/nonexistent/1 -/nonexistent/2", "-/nonexistent/2" } },
	{ &type_names, { "A B_2", "A" } },
	{ &type_limit_size, { "1:infinity", "8" } },
	{ &type_limit, { "1:infinity", "7" } },
	{ &type_nice, { "-20", "19" } },
	{ &type_oom_score, { "-1000", "1000" } },
	{ &type_io_class, { "best-effort:0", "idle" } },
	{ &type_cpus, { "0-3,7,1022-1023", "5" } },
	{ &type_capabilities, { "cap_chown cap_checkpoint_restore", "none" } },
	{ &type_paths, { "/var/lib -/srv", "/srv" } },
	{ &type_read_only, { "full", "yes" } },
	{ &type_hide_home, { "no", "read-only" } },
	{ &type_protections, { "all ~clock", "tunables" } },
	{ &type_families, { "unix inet", "~packet" } },
	{ &type_ports, { "80 443", "none" } },
	{ &type_calls, { "@system-service ~@privileged", "~ptrace" } },
	{ &type_sandbox, { "strict", "best-effort" } },
	{ &type_stop_priority, { "-1000", "1000" } },
	{ &type_on_sleep, { "nothing", "stop" } },
	{ &type_input, { "inherit", "file:/l" } },
	{ &type_output, { "syslog", "file:/l" } },
	{ &type_log_format, { "plain", "prefix" } },
	{ &type_log_keep, { "0", "9999" } },
	{ &type_log_timestamp, { "iso", "unix" } },
	{ &type_log_full, { "drop", "block" } },
};

static const char *const *examples_of(enum key_id key)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples_of_types); i++)
		if (examples_of_types[i].type == keys[key].type)
			return examples_of_types[i].values;
	ck_abort_msg("%s has a type without examples", keys[key].name);
}

/* Loop test: one key each. */
START_TEST(a_changed_key_is_noticed_and_shown)
{
	enum key_id key = (enum key_id)_i;
	const char *const *examples;
	struct key_set set, daemon;

	if (keys[key].scope == SCOPE_TEMPLATE)
		return; /* the nodes that it makes are compared */
	ck_assert_msg(keys[key].apply, "%s does not say what a change asks for", keys[key].name);
	ck_assert_msg((keys[key].apply == APPLY_DAEMON) ==
			      (keys[key].scope == SCOPE_ROOT && key != KEY_REPORT &&
			       key != KEY_HISTORY && key != KEY_STATE),
		      "%s", keys[key].name);
	examples = examples_of(key);

	cleanup(config_unrefp) struct config *one = load_with(key, examples[0], "");
	cleanup(config_unrefp) struct config *again = load_with(key, examples[0], "");
	cleanup(config_unrefp) struct config *other = load_with(key, examples[1], "");
	const struct node_config *a = config_find(one, "a");
	bool root = keys[key].scope == SCOPE_ROOT;

	ck_assert_uint_eq(node_config_diff(a, config_find(again, "a"), &set), 0);
	ck_assert_uint_eq(config_diff(one, again, &daemon), 0);
	ck_assert_uint_eq(node_config_diff(a, config_find(other, "a"), &set), !root);
	ck_assert_uint_eq(config_diff(one, other, &daemon), root);
	ck_assert(key_set_has(root ? &daemon : &set, key));
	ck_assert_int_eq(key_set_apply(root ? &daemon : &set), keys[key].apply);
	if (key != KEY_ENVIRONMENT) {
		shows(one, key, examples[0]);
		shows(other, key, examples[1]);
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
START_TEST(a_changed_key_is_noticed_beside_other_keys)
{
	enum key_id key = (enum key_id)_i;
	/* Other keys have no effect without a command. */
	const char *values[3] = { key == KEY_COMMAND ? "z" : NULL };
	struct config *configs[2 * ARRAY_SIZE(values)];
	char lines[128];
	unsigned n_beside = lines_beside(key, lines);
	struct key_set set;

	if (keys[key].scope == SCOPE_TEMPLATE || keys[key].scope == SCOPE_ROOT)
		return;
	memcpy(values + 1, examples_of(key), 2 * sizeof(values[0]));
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

/* Values that are shown as they are written, beside the examples of their types; NULL: none. */
static const struct {
	enum key_id key;
	const char *value;
} shown_values[] = {
	{ KEY_CONTROL_GROUP, NULL },
	{ KEY_FINAL, NULL },
	{ KEY_FINAL_TIMEOUT, "10s" },
	{ KEY_EXIT_WHEN, "never" },
	{ KEY_SHUTDOWN_TIMEOUT, "infinity" },
	{ KEY_WANTS, NULL },
	{ KEY_STRATEGY, "rest-for-one" },
	{ KEY_SIGNAL_SCOPE, "all" },
	{ KEY_KILL_SIGNAL, "SIGKILL" },
	{ KEY_CGROUP_PIDS_MAX, NULL },
	{ KEY_CGROUP_CPU_WEIGHT, NULL },
	{ KEY_RESTART_DELAY, "1250ms" },
	{ KEY_RESTART_DELAY_MAX, "5min" },
	{ KEY_RESTART_DELAY_MAX, "1h" },
	{ KEY_RESTART_RESET, "0" },
	{ KEY_SUCCESS_STATUS, NULL },
	{ KEY_ON_FAILED, "shutdown" },
	{ KEY_READY, "started" },
	{ KEY_READY, "fd:42" },
	{ KEY_READY, "tcp:127.0.0.1:80" },
	{ KEY_READY, "tcp:[::1]:80" },
	{ KEY_READY, "unix:/run/a" },
	{ KEY_READY, "http://127.0.0.1:80/a?b" },
	{ KEY_HEALTH, "none" },
	{ KEY_FD_STORE_MAX, "5" },
	{ KEY_START_TIMEOUT, "2d" },
	{ KEY_START_TIMEOUT, "36h" },
	{ KEY_HEALTH_RETRIES, "2" },
	{ KEY_ON_UNHEALTHY, "log" },
	{ KEY_START_COMMAND, NULL },
	{ KEY_STOP_SIGNAL, "SIGINT" },
	{ KEY_NICE, "0" },
	{ KEY_CPU_AFFINITY, NULL },
	{ KEY_CAPABILITIES, "all" },
	{ KEY_LIMIT_NICE, "infinity" },
	{ KEY_STOP_TIMEOUT, "0" },
	{ KEY_DRAIN_TIMEOUT, "infinity" },
	{ KEY_STDIN, "null" },
	{ KEY_STDOUT, NULL },
	{ KEY_STDERR, "journal" },
	{ KEY_STDERR, "null" },
	{ KEY_LOG, "inherit" },
};

/* Loop test: one value each. */
START_TEST(a_value_is_shown_as_it_is_written)
{
	enum key_id key = shown_values[_i].key;
	cleanup(config_unrefp) struct config *config = load_with(key, shown_values[_i].value, "");

	shows(config, key, shown_values[_i].value);
}
END_TEST

START_TEST(only_the_names_of_variables_are_shown)
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

START_TEST(inherited_keys_of_a_group_apply_to_its_final)
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

START_TEST(an_inherited_key_differs_where_it_applies)
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

START_TEST(the_strongest_effect_applies)
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

	tcase_add_loop_test(tc, a_changed_key_is_noticed_and_shown, 0, N_KEYS);
	tcase_add_loop_test(tc, a_changed_key_is_noticed_beside_other_keys, 0, N_KEYS);
	tcase_add_loop_test(tc, a_value_is_shown_as_it_is_written, 0, ARRAY_SIZE(shown_values));
	tcase_add_test(tc, only_the_names_of_variables_are_shown);
	tcase_add_test(tc, inherited_keys_of_a_group_apply_to_its_final);
	tcase_add_test(tc, a_group_and_a_service_differ_by_their_command);
	tcase_add_test(tc, an_inherited_key_differs_where_it_applies);
	tcase_add_test(tc, the_strongest_effect_applies);
	suite_add_tcase(suite, tc);
	return suite;
}
