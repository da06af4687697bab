#include "tests/unit/model/config/test-config.h"

#include <linux/capability.h>
#include <linux/ioprio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/keys/keys.h"

/* Attributes and streams of a process: from its section, or from sections above. */

START_TEST(values_are_inherited_downward)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nstop-timeout = 3s\ndrain-timeout = 4s\numask = 077\n"
		"environment = A=1 B=%n C=3\nlog = file:/log/%n\n"
		"[g]\nuser = redis\nenvironment = B=g\ndirectory = /d/%n\n"
		"[g/h/s]\ncommand = x\nenvironment = C=s D=%i%%\n[g/t@7@x]\ncommand = y\nlog = null\nuser = 7\ngroup = adm\n"
		"environment = I=%i\n[u]\ncommand = z\nstop-timeout = 0\ndrain-timeout = infinity\n");
	const struct node_config *s = only(config, "g/h/s"), *t = only(config, "g/t@7@x"),
				 *u = only(config, "u");
	static const char *const of_s[] = { "A=1", "B=g", "C=s", "D=%" },
				 *const of_t[] = { "A=1", "B=g", "C=3", "I=7@x" },
				 *const of_u[] = { "A=1", "B=u", "C=3" };

	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(s->environment[i], of_s[i]);
		ck_assert_str_eq(t->environment[i], of_t[i]);
	}
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(u->environment[i], of_u[i]);
	ck_assert(!s->environment[4] && !t->environment[4] && !u->environment[3]);
	ck_assert_str_eq(node_config_outputs(s)->log.path, "/log/g/h/s");
	ck_assert_str_eq(node_config_outputs(u)->log.path, "/log/u");
	ck_assert(node_config_outputs(t)->log.kind == OUTPUT_NULL &&
		  !node_config_outputs(t)->log.path);
	ck_assert_str_eq(s->directory, "/d/g/h/s");
	ck_assert_ptr_null(u->directory);
	ck_assert(node_config_extras(s)->credentials.uid == 100 &&
		  node_config_extras(s)->credentials.gid == 101 &&
		  !node_config_extras(s)->credentials.set_group);
	ck_assert(node_config_extras(t)->credentials.uid == 7 &&
		  node_config_extras(t)->credentials.gid == 4 &&
		  !node_config_extras(t)->credentials.home);
	ck_assert_str_eq(node_config_extras(t)->credentials.user, "7");
	ck_assert(!node_config_extras(u)->credentials.set);
	ck_assert_int_eq(u->umask, 077);
	ck_assert_uint_eq(s->stop_timeout_usec, 3 * USEC_PER_SEC);
	ck_assert_uint_eq(u->stop_timeout_usec, 0);
	ck_assert_uint_eq(s->drain_timeout_usec, 4 * USEC_PER_SEC);
	ck_assert_uint_eq(u->drain_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(only(config, "g")->stop_timeout_usec, 3 * USEC_PER_SEC);
}
END_TEST

static void limit_is(const struct node_config *node, int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit *limit = &node->parts.attributes->limits[resource];

	ck_assert_uint_eq(limit->rlim_cur, soft);
	ck_assert_uint_eq(limit->rlim_max, hard);
}

START_TEST(attributes_are_inherited_one_by_one)
{
	cleanup(config_unrefp) struct config *config = good(
		"[g]\nlimit-nofile = 100:200\nlimit-core = infinity\nnice = -20\noom-score-adjust = 1000\n"
		"[g/s]\ncommand = x\nlimit-nofile = 7\nlimit-stack = 64K:1G\nnice = 19\n[a]\ncommand = y\n");
	const struct node_config *s = only(config, "g/s");

	limit_is(s, RLIMIT_NOFILE, 7, 7);
	limit_is(s, RLIMIT_CORE, RLIM_INFINITY, RLIM_INFINITY);
	limit_is(s, RLIMIT_STACK, 65536, 1 << 30);
	ck_assert(!attribute_limit_is_set(&s->parts.attributes->limits[RLIMIT_CPU]));
	ck_assert_int_eq(s->parts.attributes->nice, 19);
	ck_assert_int_eq(s->parts.attributes->oom_score_adjust, 1000);
	ck_assert_int_eq(s->parts.attributes->io_priority, ATTRIBUTE_KEEP);
	ck_assert_int_eq(CPU_COUNT(&s->parts.attributes->cpus), 0);
	ck_assert_ptr_null(only(config, "a")->parts.attributes);
}
END_TEST

/* Different notations of a list of processors are equal. */
START_TEST(processors_are_a_list)
{
	static const char *const same[] = { "0-3,7", "7,0-3", "0,1,2,3,7", "2-3,0-2,7-7" };

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\ncpu-affinity = %s\n",
			       same[i]);

		cleanup(config_unrefp) struct config *config = good(text);
		const cpu_set_t *cpus = &only(config, "a")->parts.attributes->cpus;

		ck_assert_int_eq(CPU_COUNT(cpus), 5);
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			ck_assert(!!CPU_ISSET(cpu, cpus) == (cpu < 4 || cpu == 7));
	}
}
END_TEST

START_TEST(an_io_class_has_a_level)
{
	const struct {
		const char *text;
		int priority;
	} classes[] = {
		{ "none", 0 },
		{ "idle", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0) },
		{ "best-effort", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4) },
		{ "best-effort:0", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0) },
		{ "realtime:7", IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 7) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\nio-class = %s\n",
			       classes[i].text);

		cleanup(config_unrefp) struct config *config = good(text);

		ck_assert_int_eq(only(config, "a")->parts.attributes->io_priority,
				 classes[i].priority);
	}
}
END_TEST

static uint64_t capabilities_of(const char *value)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "[g]\ncapabilities = none\n[g/a]\ncommand = x\n%s%s\n",
		       *value ? "capabilities = " : "", value);

	cleanup(config_unrefp) struct config *config = good(text);

	return only(config, "g/a")->parts.attributes->capabilities;
}

START_TEST(capabilities_have_their_names)
{
	ck_assert_uint_eq(capabilities_of(""), 0);
	ck_assert_uint_eq(capabilities_of("none"), 0);
	ck_assert_uint_eq(capabilities_of("all"), CAPABILITIES_KEEP);
	ck_assert_uint_eq(capabilities_of("cap_chown"), 1);
	ck_assert_uint_eq(capabilities_of("CAP_KILL cap_net_bind_service"),
			  1 << CAP_KILL | 1 << CAP_NET_BIND_SERVICE);
	ck_assert_uint_eq(capabilities_of("cap_checkpoint_restore"),
			  UINT64_C(1) << CAP_CHECKPOINT_RESTORE);
}
END_TEST

/* Each key of a limit sets its resource. */
START_TEST(every_limit_has_its_key)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		char text[128];

		(void)snprintf(text, sizeof(text), "[a]\ncommand = x\n%s = 1:infinity\n",
			       keys_limit_name(i));

		cleanup(config_unrefp) struct config *config = good(text);

		for (int j = 0; j < RLIM_NLIMITS; j++)
			ck_assert(attribute_limit_is_set(
					  &only(config, "a")->parts.attributes->limits[j]) ==
				  (i == j));
		limit_is(only(config, "a"), i, 1, RLIM_INFINITY);
	}
}
END_TEST

static void output_is(const struct config *config, const char *path, int fd, enum output_kind kind,
		      const char *file)
{
	const struct output *output = node_config_output(only(config, path), fd);

	ck_assert_msg(output->kind == kind, "%s: %d goes to %u", path, fd, output->kind);
	ck_assert_str_eq(output->path ? output->path : "", file);
}

START_TEST(the_nearest_section_decides_where_output_goes)
{
	cleanup(config_unrefp) struct config *config = good(
		"[swansong]\nlog = file:/a/%n\n[g]\nstderr = file:/e/%n\nstdin = file:/i\n"
		"[g/s]\ncommand = x\n[g/t]\ncommand = x\nlog = null\n"
		"[g/u]\ncommand = x\nlog = null\nstdout = journal\nstdin = inherit\n[v]\ncommand = x\n");

	output_is(config, "g/s", 1, OUTPUT_FILE, "/a/g/s");
	output_is(config, "g/s", 2, OUTPUT_FILE, "/e/g/s");
	ck_assert_str_eq(node_config_outputs(only(config, "g/s"))->stdio[0].path, "/i");
	output_is(config, "g/t", 1, OUTPUT_NULL, "");
	output_is(config, "g/t", 2, OUTPUT_NULL, "");
	output_is(config, "g/u", 1, OUTPUT_JOURNAL, "");
	output_is(config, "g/u", 2, OUTPUT_NULL, "");
	ck_assert_int_eq(node_config_outputs(only(config, "g/u"))->stdio[0].kind, OUTPUT_INHERIT);
	output_is(config, "v", 2, OUTPUT_FILE, "/a/v");
	ck_assert_int_eq(node_config_outputs(only(config, "v"))->stdio[0].kind, OUTPUT_DEFAULT);
}
END_TEST

START_TEST(a_group_needs_no_user)
{
	cleanup(config_unrefp) struct config *config =
		good("[a]\ncommand = x\ngroup = 7\n[b]\ncommand = x\nuser = 100\n");
	const struct credentials *a = &node_config_extras(only(config, "a"))->credentials,
				 *b = &node_config_extras(only(config, "b"))->credentials;

	ck_assert(!a->set && a->set_group && a->gid == 7 && !a->user);
	ck_assert(b->set && !b->set_group && b->uid == 100 && b->gid == 101);
}
END_TEST

START_TEST(groups_are_numbers_in_their_order)
{
	cleanup(config_unrefp) struct config *config =
		good("[g]\ngroups = 7 adm\n[g/a]\ncommand = x\nuser = redis\n"
		     "[g/b]\ncommand = x\ngroups = none\n[c]\ncommand = x\n");
	const struct credentials *a = &node_config_extras(only(config, "g/a"))->credentials;

	ck_assert(a->set_groups && a->n_groups == 2 && a->groups[0] == 7 && a->groups[1] == 4);
	ck_assert(node_config_extras(only(config, "g/b"))->credentials.set_groups);
	ck_assert_uint_eq(node_config_extras(only(config, "g/b"))->credentials.n_groups, 0);
	ck_assert(!node_config_extras(only(config, "c"))->credentials.set_groups);
}
END_TEST

START_TEST(there_is_one_terminal)
{
	cleanup(config_unrefp) struct config *config = good(
		"[a]\ncommand = x\nterminal = yes\nlog = null\nstderr = file:/e\n[b]\ncommand = x\nterminal = no\n");

	output_is(config, "a", 1, OUTPUT_INHERIT, "");
	output_is(config, "a", 2, OUTPUT_FILE, "/e");
	bad("[a]\ncommand = x\nterminal = yes\n[b/c]\ncommand = x\nterminal = on\n",
	    "f:6: [b/c] terminal: only one service has the terminal: [a] has this key, too");
}
END_TEST

TCase *config_attributes_tests(void)
{
	TCase *tc = config_case("attributes");

	tcase_add_test(tc, values_are_inherited_downward);
	tcase_add_test(tc, attributes_are_inherited_one_by_one);
	tcase_add_test(tc, every_limit_has_its_key);
	tcase_add_test(tc, processors_are_a_list);
	tcase_add_test(tc, an_io_class_has_a_level);
	tcase_add_test(tc, capabilities_have_their_names);
	tcase_add_test(tc, the_nearest_section_decides_where_output_goes);
	tcase_add_test(tc, a_group_needs_no_user);
	tcase_add_test(tc, groups_are_numbers_in_their_order);
	tcase_add_test(tc, there_is_one_terminal);
	return tc;
}
