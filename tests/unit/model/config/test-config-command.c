#include "tests/unit/model/config/test-config.h"
#include "tests/unit/fixtures/nomem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"

/* A command alone, without a file. */

START_TEST(a_command_alone_may_notify)
{
	static const struct {
		enum command_notify notify;
		bool socket;
		enum probe_kind ready;
	} cases[] = {
		{ COMMAND_NOTIFY_NONE, false, PROBE_STARTED },
		{ COMMAND_NOTIFY_ANY, true, PROBE_STARTED },
		{ COMMAND_NOTIFY_READY, true, PROBE_NOTIFY },
	};
	char sh[] = "sh";
	char *const argv[] = { sh, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config *config = NULL;

		ck_assert_int_eq(
			config_new_command(&config, argv, cases[i].notify, SIGNAL_SCOPE_ALL), 0);
		ck_assert_int_eq(only(config, "main")->notify, cases[i].socket);
		ck_assert_int_eq(only(config, "main")->ready.kind, cases[i].ready);
		config_unref(config);
	}
}
END_TEST

START_TEST(a_command_alone_is_a_configuration)
{
	char sh[] = "sh", c[] = "-c", echo[] = "echo 100%";
	char *const argv[] = { sh, c, echo, NULL };
	struct config *config = NULL;

	ck_assert_int_eq(config_new_command(&config, argv, COMMAND_NOTIFY_NONE, SIGNAL_SCOPE_GROUP),
			 0);
	ck_assert_uint_eq(config->n_nodes, 2);
	ck_assert_uint_eq(config->nodes[0]->shutdown_timeout_usec, USEC_INFINITY);

	const struct node_config *main = only(config, "main");

	ck_assert_str_eq(main->argv[2], "echo 100%");
	ck_assert_ptr_null(main->argv[3]);
	ck_assert_str_eq(main->command, "sh -c echo 100%");
	ck_assert(main->essential);
	ck_assert_int_eq(main->restart, RESTART_NEVER);
	ck_assert_int_eq(main->type, TYPE_SIMPLE);
	ck_assert_uint_eq(main->start_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(main->stop_timeout_usec, USEC_INFINITY);
	ck_assert_uint_eq(main->shutdown_timeout_usec, USEC_INFINITY);
	ck_assert_int_eq(main->stop_signal, SIGTERM);
	ck_assert_int_eq(main->ready.kind, PROBE_STARTED);
	ck_assert_int_eq(node_config_outputs(main)->log.kind, OUTPUT_DEFAULT);
	ck_assert_int_eq(node_config_outputs(main)->stdio[0].kind, OUTPUT_INHERIT);
	ck_assert_ptr_eq(config_unref(config_ref(config)), NULL);
	ck_assert_str_eq(main->argv[0], "sh");
	config_unref(config);
}
END_TEST

START_TEST(without_memory_a_command_is_refused)
{
	char a[] = "a", b[] = "b";
	char *const argv[] = { a, b, NULL };
	int r = -ENOMEM;

	for (long n = 0; r == -ENOMEM; n++) {
		struct config *config = NULL;

		ck_assert_int_lt(n, 100);
		allocations_left = n;
		r = config_new_command(&config, argv, COMMAND_NOTIFY_READY, SIGNAL_SCOPE_GROUP);
		allocations_left = -1;
		ck_assert_int_eq(r == 0, config != NULL);
		config_unref(config);
	}
	ck_assert_int_eq(r, 0);
}
END_TEST

TCase *config_command_tests(void)
{
	TCase *tc = config_case("command");

	tcase_add_test(tc, a_command_alone_is_a_configuration);
	tcase_add_test(tc, a_command_alone_may_notify);
	tcase_add_test(tc, without_memory_a_command_is_refused);
	return tc;
}
