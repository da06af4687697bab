#include "tests/unit/ctl/test-ctl.h"

/* Replies of a hostile or broken daemon, which the client must survive. */

#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "ctl/session/session.h"

START_TEST(control_characters_of_a_server_are_escaped)
{
	static const char page[] = "{\"parameters\":{\"nodes\":[" NODE(
		"x\\u001b]0;x\\u0007", "running", "0",
		",\"service\":" SERVICE(
			"up", ",\"result\":\"\\r\\n\\u009b2J\",\"status\":\"\\u001b[2J\"")) "]}}";
	static const char *const lines[] = { "status", "tree", "status x*" };
	static const char *const locales[] = { "C.UTF-8", "C", "nowhere" };

	for (size_t i = 0; i < ARRAY_SIZE(lines) * ARRAY_SIZE(locales); i++) {
		const char *line = lines[i / ARRAY_SIZE(locales)];

		setenv("LC_ALL", locales[i % ARRAY_SIZE(locales)], 1);
		ck_assert_int_eq(RUN(line, SAY(page), SAY(page), SAY(guards),
				     ERROR("io.swansong.NotPermitted", "{}")),
				 0);
		for (const char *p = out; *p; p++)
			ck_assert_msg(*p == '\n' || (unsigned char)*p >= ' ', "%s: %s", line, out);
		assert_lacks(out, "\xc2\x9b");
		assert_has(out, "x1b]0;x\\x07");
		assert_has(out, "\\x0d\\x0a\\xc2\\x9b2J");
		assert_has(out, "\\x1b[2J");
	}
	ck_assert_int_eq(RUN("start x", ERROR("io.swansong.Failed",
					      "{\"node\":\"\\u001b[1m\",\"reason\":\"\\u0007\"}")),
			 1);
	assert_lacks(err, "\033");
	assert_lacks(err, "\007");
}
END_TEST

/* Each of these ends the program soon, with exit status 1 and a message. */
START_TEST(hostile_replies_are_refused)
{
	static const char *const verbs[] = { "status",	   "tree",   "guards",	  "start x",
					     "shutdown x", "wait x", "status x*", "guard x -- true",
					     "reload" };
	enum { BIG = 10 * 1024 * 1024, DEPTH = 100000 };
	char *big = malloc(BIG), *deep = malloc(DEPTH + 32);

	memset(big, 'x', BIG);
	sprintf(deep, "{\"parameters\":{\"nodes\":");
	memset(deep + strlen(deep), '[', DEPTH);
	deep[DEPTH + 22] = '\0';

	const struct answer hostile[] = {
		{ "garbage", 0, THEN_NEXT },
		{ "", 0, THEN_NEXT },
		{ "[]", 0, THEN_NEXT },
		{ "{\"parameters\":7}", 0, THEN_NEXT },
		{ "{\"error\":7}", 0, THEN_NEXT },
		{ "{\"error\":\"x\"}", 0, THEN_NEXT },
		{ "{\"parameters\":{", 15, THEN_CLOSE },
		{ NULL, 0, THEN_CLOSE },
		{ "\xff\xfe", 0, THEN_NEXT },
		{ big, BIG, THEN_CLOSE },
		{ deep, 0, THEN_NEXT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
			int status = run(verbs[v], &hostile[i], 1);

			ck_assert_msg(status == 1, "%s: case %zu: %d", verbs[v], i, status);
			ck_assert_str_eq(out, "");
			ck_assert(err[0]);
		}
	}
	free(big);
	free(deep);
}
END_TEST

START_TEST(replies_that_are_not_of_the_interface_are_refused)
{
	static const struct {
		const char *line, *reply;
	} cases[] = {
		{ "status", "{\"parameters\":{}}" },
		{ "status", "{\"parameters\":{\"nodes\":{}}}" },
		{ "tree", "{\"parameters\":{\"nodes\":[7]}}" },
		{ "tree", "{\"parameters\":{\"nodes\":{\"path\":[\"x\"]}}}" },
		/* As daemons had it once: each value as it is, and no times. */
		{ "list", "{\"parameters\":{\"nodes\":{\"path\":[\"\",\"x\"],\"generation\":[1,1],"
			  "\"state\":[\"running\"],\"since_usec\":[1],\"guards\":[0],"
			  "\"ready\":[true],\"forced\":[false],\"restarts\":[0],"
			  "\"waiting\":[[]],\"ending\":[false]}}}" },
		{ "status x", "{\"parameters\":{\"nodes\":{}}}" },
		{ "status x", "{\"parameters\":{\"nodes\":[7]}}" },
		{ "status x", "{\"parameters\":{\"nodes\":[{\"path\":\"x\"}]}}" },
		{ "--json status", "{\"parameters\":{\"nodes\":[{\"path\":\"x\"}]}}" },
		{ "status x*", "{\"parameters\":{\"nodes\":null}}" },
		{ "guards", "{\"parameters\":{}}" },
		{ "guards", "{\"parameters\":{\"guards\":[[]]}}" },
		{ "shutdown x", "{\"parameters\":{}}" },
		{ "shutdown x", "{\"parameters\":{\"node\":{},\"guards\":[],\"elapsed_usec\":1}}" },
		{ "shutdown x",
		  "{\"parameters\":{\"node\":" NODE("x", "complete", "0", "") ",\"guards\":[]}}" },
		{ "shutdown x",
		  "{\"parameters\":{\"node\":" NODE("x", "complete", "0",
						    "") ",\"guards\":[],\"elapsed_usec\":-1}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = RUN(cases[i].line, SAY(cases[i].reply));

		ck_assert_msg(status == 1, "%zu: %d", i, status);
		assert_has(err, "not the protocol");
	}
}
END_TEST

START_TEST(a_silent_daemon_is_waited_for_until_the_timeout)
{
	static const char *const lines[] = { "status", "start x", "shutdown x", "guard x -- true",
					     "wait x" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--timeout 30ms %s", lines[i]);
		ck_assert_int_eq(RUN(line, SAY(NULL)), CTL_TIMED_OUT);
		/* Not before; how long after is the machine's affair. */
		assert_has(err, "timed out after ");
		ck_assert(!strstr(err, "ms") || atoi(strstr(err, "after ") + 6) >= 30);
	}
	RUN("--timeout 30ms shutdown web", SAY(NULL));
	assert_has(err, "shutdown of web continues; see: swansongctl wait --for complete web");
}
END_TEST

static const char progress[] =
	"{\"parameters\":{\"node\":" NODE("web", "shutting_down", "1", ",\"deadline_usec\":18000000") ",\"guards\":[" GUARD(
		"7", "web", "lease",
		",\"kill_usec\":18000000") "],"
					   "\"elapsed_usec\":1000000,\"pending\":[" NODE(
						   "web/a", "running", "0",
						   ",\"service\":" SERVICE(
							   "waiting",
							   "")) "],"
								"\"more_pending\":3,\"forced\":true,\"losses\":[{\"node\":\"web\",\"what\":\"killed\"}]}}";

static const char failed[] =
	"{\"error\":\"io.swansong.Failed\",\"parameters\":{\"node\":\"web\",\"reason\":\"exit status 1\","
	"\"forced\":true,\"losses\":[{\"node\":\"web\",\"what\":\"pid 812 (nginx), killed\"}]}}";

static const char changes[] =
	"{\"parameters\":{\"changes\":[{\"kind\":\"change\",\"node\":\"web\",\"service\":true,"
	"\"autostart\":true,\"restart\":false,\"start\":true,\"keys\":[{\"key\":\"autostart\","
	"\"from\":\"no\",\"to\":\"yes\",\"apply\":\"live\"}]}]}}";

static const char entries[] =
	"{\"parameters\":{\"entries\":[{\"node\":\"web\",\"kind\":\"service\",\"step\":1,"
	"\"waits\":[\"a\",\"b\"],\"more_waits\":3,\"critical\":true,\"begin_usec\":1,\"end_usec\":9,"
	"\"budget\":\"\",\"busy_end_usec\":7}],\"idle_usec\":17000000,\"grace_usec\":2}}";

static const char event[] =
	"{\"parameters\":{\"number\":3,\"time_usec\":1700000000000000,\"kind\":\"service\","
	"\"node\":\"web\",\"generation\":1,\"from\":\"up\",\"to\":\"stopping\",\"reason\":\"hold\","
	"\"cause\":\"asked\"},\"continues\":true}";

static const char ended[] = "{\"parameters\":{\"result\":\"exit status 3\",\"status\":3}}";

/* The exit status is one of the program, not that of a sanitizer. */
START_TEST(mutated_replies_end_in_an_exit_status)
{
	static const struct {
		const char *line, *reply;
		bool any; /* the exit status comes from the reply */
	} seeds[] = {
		{ "tree", tree, false },
		{ "status", tree, false },
		{ "list", tree, false },
		{ "guards", guards, false },
		{ "shutdown web", progress, false },
		{ "wait --for ready web", progress, false },
		{ "restart web", failed, false },
		{ "stop web", progress, false },
		{ "reload", changes, false },
		{ "plan", entries, false },
		{ "events", event, false },
		{ "run --wait x -- true", ended, true },
	};
	static const char bytes[] = "{}[]\",:\\0919.e \x80\xff\xc3\x01";
	unsigned random = 7;

	for (int round = 0; round < 600; round++) {
		size_t k = (size_t)round % ARRAY_SIZE(seeds);
		size_t size = strlen(seeds[k].reply) + 1;
		char *reply = malloc(size);
		struct answer answer = { reply, size, THEN_CLOSE };
		int status;

		memcpy(reply, seeds[k].reply, size);
		for (unsigned edits = next_random(&random) % 4; edits; edits--)
			reply[next_random(&random) % (size - 1)] =
				bytes[next_random(&random) % (sizeof(bytes) - 1)];
		if (round % 5 == 0)
			answer.size = next_random(&random) % (size - 1) + 1;
		status = run(seeds[k].line, &answer, 1);
		ck_assert_msg(status == 0 || status == 1 || seeds[k].any, "round %d: %d, %s\n%s",
			      round, status, reply, err);
		assert_lacks(err, "Sanitizer");
		assert_lacks(err, "runtime error");
		free(reply);
	}
}
END_TEST

TCase *ctl_hostile_tests(void)
{
	TCase *tc = tcase_create("hostile");

	ctl_fixture(tc);
	tcase_add_test(tc, control_characters_of_a_server_are_escaped);
	tcase_add_test(tc, hostile_replies_are_refused);
	tcase_add_test(tc, replies_that_are_not_of_the_interface_are_refused);
	tcase_add_test(tc, a_silent_daemon_is_waited_for_until_the_timeout);
	tcase_add_test(tc, mutated_replies_end_in_an_exit_status);
	return tc;
}
