#include "tests/unit/fixtures/main.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/logger/rules.h"
#include "tests/unit/fixtures/config-of.h"

static const struct config_names no_names;

enum sinks { APART, ONE, JOURNAL };

static const struct log_sinks sinks[] = {
	[APART] = { .one = false },
	[ONE] = { .one = true },
	[JOURNAL] = { .journal = true, .one = true },
};

/* "TO FORMAT PATH" of a stream, or "-" if there is none. */
static const char *rules_text(char *text, size_t size, const struct node_config *node,
			      enum logger_kind kind, enum sinks s)
{
	static const char *const tos[] = {
		"memory", "file", "output", "error", "journal", "syslog"
	};
	static const char *const formats[] = { "plain", "prefix", "json" };
	struct logger_rules rules;
	const char *file;

	if (!log_rules(&rules, &file, node, kind, &sinks[s]))
		return "-";
	ck_assert_uint_eq(rules.kind, kind);
	(void)snprintf(text, size, "%s %s%s%s", tos[rules.to], formats[rules.format],
		       *file ? " " : "", file);
	return text;
}

static const struct {
	const char *keys;
	enum sinks sinks;
	const char *out, *err; /* "-" for err: not captured, or by the stream of out */
} table[] = {
	/* Without a key. */
	{ "", APART, "output prefix", "error prefix" },
	{ "", ONE, "error prefix", "-" },
	{ "", JOURNAL, "journal plain", "-" },
	{ "terminal = yes\n", ONE, "-", "-" },
	{ "terminal = yes\nstderr = file:/e\n", ONE, "-", "file plain /e" },
	/* Forms: an object names the stream, so that each output has its own. */
	{ "log-format = plain\n", ONE, "error plain", "-" },
	{ "log-format = prefix\n", APART, "output prefix", "error prefix" },
	{ "log-format = json\n", ONE, "error json", "error json" },
	{ "log-format = json\n", APART, "output json", "error json" },
	{ "log-format = json\n", JOURNAL, "journal plain", "-" },
	/* Not captured. */
	{ "log = inherit\n", APART, "-", "-" },
	{ "log = inherit\n", JOURNAL, "-", "-" },
	{ "log = null\n", ONE, "-", "-" },
	{ "stdout = null\n", ONE, "-", "error prefix" },
	{ "stderr = inherit\n", ONE, "error prefix", "-" },
	/* Files. */
	{ "log = file:/l\n", APART, "file plain /l", "-" },
	{ "log = file:/l\n", JOURNAL, "file plain /l", "-" },
	{ "log = file:/l\nlog-format = prefix\n", ONE, "file prefix /l", "-" },
	{ "log = file:/l\nlog-format = json\n", ONE, "file json /l", "file json /l" },
	{ "stdout = file:/o\n", ONE, "file plain /o", "error prefix" },
	{ "stdout = file:/o\nstderr = file:/e\n", ONE, "file plain /o", "file plain /e" },
	{ "stdout = file:/l\nstderr = file:/l\n", ONE, "file plain /l", "-" },
	/* The journal and syslog by name. */
	{ "log = syslog\n", JOURNAL, "syslog prefix", "-" },
	{ "stderr = syslog\nlog-format = json\n", ONE, "error json", "syslog prefix" },
	{ "log = journal\n", APART, "journal plain", "-" },
	{ "stderr = journal\n", ONE, "error prefix", "journal plain" },
	{ "stdout = journal\n", JOURNAL, "journal plain", "-" },
	/* ready = log:REGEX needs all output; what is not captured otherwise is written as it is. */
	{ "ready = log:a\n", ONE, "error prefix", "-" },
	{ "ready = log:a\nlog = inherit\n", APART, "output plain", "error plain" },
	{ "ready = log:a\nlog = inherit\n", JOURNAL, "output plain", "error plain" },
	{ "ready = log:a\nlog = inherit\nlog-format = prefix\n", ONE, "output prefix",
	  "error prefix" },
	{ "ready = log:a\nstderr = inherit\n", ONE, "error prefix", "error plain" },
	{ "ready = log:a\nterminal = yes\n", ONE, "output plain", "error plain" },
	{ "ready = log:a\nlog = file:/dev/stdout\n", APART, "output plain", "-" },
	{ "ready = log:a\nlog = file:/dev/stderr\n", APART, "error plain", "-" },
	{ "ready = log:a\nlog = null\n", APART, "memory plain", "-" },
	{ "ready = log:a\nstdout = null\nlog = file:/l\n", APART, "memory plain", "file plain /l" },
};

START_TEST(settings_and_streams_of_the_daemon_give_the_rules)
{
	char text[128], section[128];

	(void)snprintf(section, sizeof(section), "[a]\ncommand = x\n%s", table[_i].keys);
	struct config *config = config_of(section, &no_names);
	const struct node_config *node = config->nodes[1];

	ck_assert_msg(strcmp(rules_text(text, sizeof(text), node, LOGGER_OUTPUT, table[_i].sinks),
			     table[_i].out) == 0,
		      "%s%d: output: %s", table[_i].keys, table[_i].sinks, text);
	ck_assert_msg(strcmp(rules_text(text, sizeof(text), node, LOGGER_ERROR, table[_i].sinks),
			     table[_i].err) == 0,
		      "%s%d: error: %s", table[_i].keys, table[_i].sinks, text);
	config_unref(config);
}
END_TEST

START_TEST(limits_are_those_of_the_keys)
{
	struct config *config = config_of(
		"[a]\ncommand = x\nlog-size = infinity\nlog-keep = 3\nlog-compress = yes\n"
		"log-full = block\nlog-timestamp = iso-local\n",
		&no_names);
	struct logger_rules rules;
	const char *file;

	ck_assert(log_rules(&rules, &file, config->nodes[1], LOGGER_OUTPUT, &sinks[JOURNAL]));
	ck_assert_uint_eq(rules.size, 0);
	ck_assert_uint_eq(rules.keep, 3);
	ck_assert_uint_eq(rules.flags, LOGGER_COMPRESS | LOGGER_BLOCK | LOGGER_LOCAL_TIME);
	ck_assert_uint_eq(rules.stamp, LOGGER_STAMP_ISO);
	ck_assert_uint_eq(rules.priority, LOG_INFO);
	config_unref(config);
}
END_TEST

START_TEST(each_flag_is_that_of_its_key)
{
	static const struct {
		const char *keys;
		uint32_t flags;
	} flags[] = {
		{ "", 0 },
		{ "log-full = drop\n", 0 },
		{ "log-full = block\n", LOGGER_BLOCK },
		{ "log-compress = yes\n", LOGGER_COMPRESS },
		{ "log-timestamp = iso\n", 0 },
		{ "log-timestamp = iso-usec-local\n", LOGGER_LOCAL_TIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		char section[128];
		struct logger_rules rules;
		struct config *config;
		const char *file;

		(void)snprintf(section, sizeof(section), "[a]\ncommand = x\n%s", flags[i].keys);
		config = config_of(section, &no_names);
		ck_assert(log_rules(&rules, &file, config->nodes[1], LOGGER_OUTPUT, &sinks[ONE]));
		ck_assert_msg(rules.flags == flags[i].flags, "%s: %#x", flags[i].keys, rules.flags);
		config_unref(config);
	}
}
END_TEST

START_TEST(a_reload_changes_the_form_and_not_the_destination)
{
	struct config *before = config_of("[a]\ncommand = x\n", &no_names);
	struct config *after = config_of(
		"[a]\ncommand = x\nlog = file:/l\nlog-format = plain\nlog-keep = 2\n", &no_names);
	struct logger_rules rules;
	const char *file;

	ck_assert(log_rules(&rules, &file, before->nodes[1], LOGGER_ERROR, &sinks[APART]));
	log_rules_reload(&rules, after->nodes[1]);
	ck_assert_uint_eq(rules.to, LOGGER_TO_ERROR);
	ck_assert_uint_eq(rules.kind, LOGGER_ERROR);
	ck_assert_uint_eq(rules.format, LOGGER_PLAIN);
	ck_assert_uint_eq(rules.keep, 2);
	config_unref(before);
	config_unref(after);
}
END_TEST

START_TEST(the_streams_of_the_daemon_are_one_if_their_file_is)
{
	const struct log log = { .journal = _i != 0 };
	struct log_sinks found;
	int out = dup(1), err = dup(2), pipes[2], other[2];

	ck_assert(pipe(pipes) == 0 && pipe(other) == 0);
	ck_assert(dup2(pipes[1], 1) == 1 && dup2(pipes[1], 2) == 2);
	log_sinks_init(&found, &log);
	(void)dup2(other[1], 2);
	ck_assert(found.one && found.journal == (_i != 0));
	log_sinks_init(&found, &log);
	(void)dup2(out, 1);
	(void)dup2(err, 2);
	ck_assert(!found.one);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("rules");
	TCase *tc = tcase_create("rules");

	tcase_add_loop_test(tc, settings_and_streams_of_the_daemon_give_the_rules, 0,
			    ARRAY_SIZE(table));
	tcase_add_test(tc, limits_are_those_of_the_keys);
	tcase_add_test(tc, each_flag_is_that_of_its_key);
	tcase_add_test(tc, a_reload_changes_the_form_and_not_the_destination);
	tcase_add_loop_test(tc, the_streams_of_the_daemon_are_one_if_their_file_is, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
