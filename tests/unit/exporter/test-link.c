#include "exporter/mirror/link.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/exporter/test-daemon.h"
#include "tests/unit/fixtures/scratch.h"

/* The daemon's end of the link. */
static int listener, events, queries;
static size_t n_taken;

static void take_news(enum link_news news, const json_t *detail, void *arg)
{
	(void)arg;
	if (news == LINK_EVENTS)
		n_taken += json_array_size(detail);
}

static void listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 2), 0);
}

static void end_daemon(void)
{
	static const char last[] = "{\"continues\":true,\"parameters\":{\"events\":[" EVENT(
		"7", "node", "web", "shutting_down", "complete") "]}}";

	/* The first one to be ready is looked at first. */
	(void)close(queries);
	ck_assert_int_eq(write(events, last, sizeof(last)), sizeof(last));
	(void)close(events);
}

START_TEST(the_last_events_are_taken_when_the_daemon_ends)
{
	struct log log;
	struct link_owner owner = { .log = &log, .news = take_news };
	struct copy copy;
	struct link *link;
	sd_event *event;

	log_init(&log, "test", LOG_ERR);
	copy_init(&copy);
	listen_at("control");
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(link_new(&link, event, "control", &copy, &owner), 0);
	ck_assert_int_gt(sd_event_run(event, 5000000), 0);
	events = accept(listener, NULL, NULL);
	queries = accept(listener, NULL, NULL);
	ck_assert_int_ge(queries, 0);
	(void)close(listener);
	end_daemon();
	while (link_daemon(link) != 0)
		ck_assert_int_gt(sd_event_run(event, 5000000), 0);
	ck_assert_uint_eq(n_taken, 1);
	link_free(link);
	copy_done(&copy);
	(void)sd_event_unref(event);
}
END_TEST

/* --- with a daemon that replies --- */

#define NODES_OF(configuration, list) \
	"{\"parameters\":{\"configuration\":" configuration ",\"nodes\":[" list "]}}"
#define ROOT	     NODE("", "running", "")
#define WEB(state)   NODE("web", "running", SERVICE(state, ""))
#define STATUS	     NODES_OF("1", ROOT "," WEB("up"))
#define EVENTS(list) "{\"continues\":true,\"parameters\":{\"events\":[" list "]}}"
#define ONE_EVENT    EVENTS(EVENT("7", "service", "web", "up", "down"))
#define REFUSED	     "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"web\"}}"

static struct mirror {
	struct log log;
	struct copy copy;
	struct link_owner owner;
	struct link *link;
	sd_event *event;
	unsigned news[LINK_SETTINGS + 1];
} mirror;

static void count_news(enum link_news news, const json_t *detail, void *arg)
{
	(void)detail, (void)arg;
	mirror.news[news]++;
}

static void begin_mirror(void)
{
	mirror = (struct mirror){ .owner = { .log = &mirror.log, .news = count_news } };
	make_directory();
	log_init(&mirror.log, "test", -1);
	copy_init(&mirror.copy);
	ck_assert_int_ge(sd_event_new(&mirror.event), 0);
	daemon_begin(mirror.event);
	daemon_reply("Events", EVENTS(""));
	daemon_reply("Status", STATUS);
	daemon_reply("Guards", "{\"parameters\":{\"guards\":[]}}");
	daemon_reply("Plan", "{\"parameters\":{\"entries\":[]}}");
	daemon_reply("Dependencies", "{\"parameters\":{\"dependencies\":[]}}");
	daemon_reply("Show", "{\"parameters\":{\"node\":\"web\",\"settings\":[]}}");
	ck_assert_int_eq(link_new(&mirror.link, mirror.event, CONTROL, &mirror.copy, &mirror.owner),
			 0);
}

static void end_mirror(void)
{
	link_free(mirror.link);
	daemon_end();
	copy_done(&mirror.copy);
	(void)sd_event_unref(mirror.event);
	remove_directory();
}

static void bring_up(void)
{
	AWAIT(mirror.event, mirror.news[LINK_UP] > 0);
	/* The reply to Events asks for a second round. */
	AWAIT(mirror.event, daemon_count("Guards") == 2);
}

START_TEST(a_round_of_queries_brings_the_link_up)
{
	AWAIT(mirror.event, mirror.news[LINK_UP] > 0);
	ck_assert_str_eq(daemon_calls(), "Events Status Guards Plan Dependencies Show ");
	ck_assert_str_eq(daemon_parameters("Events"), "{\"last\":512,\"changes\":true}");
	ck_assert_str_eq(daemon_parameters("Status"), "{\"programs\":true}");
	ck_assert_str_eq(daemon_parameters("Show"), "{\"node\":\"root\"}");
	ck_assert(link_is_up(mirror.link));
	ck_assert_int_eq(link_daemon(mirror.link), getpid());
	ck_assert_uint_eq(mirror.copy.n, 2);
	ck_assert_ptr_nonnull(json_object_get(mirror.copy.plan, "entries"));
	ck_assert(json_is_array(mirror.copy.dependencies));
	ck_assert_ptr_nonnull(json_object_get(mirror.copy.settings, "settings"));
	ck_assert_uint_eq(mirror.news[LINK_TREE] + mirror.news[LINK_NODES], 0);
}
END_TEST

START_TEST(an_event_is_followed_by_another_round)
{
	static const struct {
		const char *status;
		enum link_news news;
		unsigned plans;
	} rows[] = {
		{ NODES_OF("1", ROOT "," WEB("down")), LINK_NODES, 0 },
		{ NODES_OF("1", ROOT), LINK_TREE, 1 },
		{ NODES_OF("2", ROOT), LINK_NODES, 1 },
	};

	bring_up();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned plans = daemon_count("Plan"), rounds = daemon_count("Guards");

		memset(mirror.news, 0, sizeof(mirror.news));
		daemon_reply("Status", rows[i].status);
		daemon_add_reply("Events", ONE_EVENT);
		AWAIT(mirror.event, daemon_count("Guards") > rounds);
		/* The reply to Guards, and to all that follows. */
		AWAIT(mirror.event, daemon_count("Plan") == plans + rows[i].plans);
		ck_assert_uint_eq(mirror.news[rows[i].news], 1);
		ck_assert_uint_eq(mirror.news[LINK_TREE] + mirror.news[LINK_NODES], 1);
		/* It is the same one again. */
		ck_assert_uint_eq(mirror.news[LINK_EVENTS], i == 0);
	}
	ck_assert_uint_eq(mirror.news[LINK_UP] + mirror.news[LINK_DOWN], 0);
}
END_TEST

START_TEST(files_are_looked_at_once_in_a_while)
{
	bring_up();
	ck_assert_str_eq(daemon_parameters("Status"), "{\"programs\":false}");
	link_renew(mirror.link);
	daemon_add_reply("Events", ONE_EVENT);
	AWAIT(mirror.event, daemon_count("Guards") == 3);
	ck_assert_str_eq(daemon_parameters("Status"), "{\"programs\":false}");
}
END_TEST

static const struct {
	const char *method, *reply;
} malformed[] = {
	{ "Events", "{\"continues\":true,\"parameters\":{\"events\":7}}" },
	{ "Events", "{\"parameters\":{\"events\":[]}}" },
	{ "Events", REFUSED },
	{ "Status", "{\"parameters\":{}}" },
	{ "Status", "{\"parameters\":{\"nodes\":7}}" },
	{ "Status", "{\"parameters\":{\"nodes\":[{}]}}" },
	{ "Status", REFUSED },
	{ "Guards", "{\"parameters\":{}}" },
	{ "Guards", "{\"parameters\":{\"guards\":[{}]}}" },
	{ "Plan", REFUSED },
	{ "Dependencies", "{\"parameters\":{}}" },
	{ "Show", REFUSED },
};

START_TEST(a_malformed_reply_ends_the_link)
{
	daemon_reply(malformed[_i].method, malformed[_i].reply);
	/* Both connections, before the time of the reply is over.  On a slow machine the next ones may have begun. */
	AWAIT(mirror.event, daemon_ended() >= 2 && link_daemon(mirror.link) == 0);
	ck_assert_uint_eq(mirror.news[LINK_UP], 0);
	ck_assert(!link_is_up(mirror.link));
}
END_TEST

START_TEST(a_daemon_that_has_gone_is_found_again)
{
	bring_up();
	daemon_drop();
	AWAIT(mirror.event, mirror.news[LINK_DOWN] > 0);
	ck_assert_uint_eq(mirror.copy.n, 2);
	AWAIT(mirror.event, mirror.news[LINK_UP] == 2);
	ck_assert_uint_eq(mirror.news[LINK_DOWN], 1);
}
END_TEST

START_TEST(a_daemon_that_hangs_for_ten_seconds_is_down)
{
	bring_up();
	daemon_reply("Status", NULL);
	timers_skip(UINT64_C(10000000));
	daemon_add_reply("Events", ONE_EVENT);
	AWAIT(mirror.event, mirror.news[LINK_DOWN] == 1);
	ck_assert(!link_is_up(mirror.link));
}
END_TEST

START_TEST(settings_are_asked_for_once)
{
	bring_up();
	shown_want(&mirror.copy.shown, "web");
	link_want_settings(mirror.link);
	AWAIT(mirror.event, mirror.news[LINK_SETTINGS] == 1);
	ck_assert_str_eq(daemon_parameters("Show"), "{\"node\":\"web\"}");
	ck_assert_ptr_nonnull(shown_get(&mirror.copy.shown, "web"));
	/* A node that is gone is no fault. */
	daemon_reply("Show", REFUSED);
	shown_want(&mirror.copy.shown, "db");
	link_want_settings(mirror.link);
	AWAIT(mirror.event, mirror.news[LINK_SETTINGS] == 2);
	ck_assert_ptr_null(shown_get(&mirror.copy.shown, "db"));
	shown_want(&mirror.copy.shown, "db");
	link_want_settings(mirror.link);
	ck_assert_uint_eq(mirror.news[LINK_DOWN], 0);
	ck_assert_uint_eq(daemon_count("Show"), 3);
}
END_TEST

static TCase *mirror_tests(void)
{
	TCase *tests = tcase_create("mirror");

	tcase_add_checked_fixture(tests, begin_mirror, end_mirror);
	tcase_add_test(tests, a_round_of_queries_brings_the_link_up);
	tcase_add_test(tests, an_event_is_followed_by_another_round);
	tcase_add_test(tests, files_are_looked_at_once_in_a_while);
	tcase_add_loop_test(tests, a_malformed_reply_ends_the_link, 0, ARRAY_SIZE(malformed));
	tcase_add_test(tests, a_daemon_that_has_gone_is_found_again);
	tcase_add_test(tests, a_daemon_that_hangs_for_ten_seconds_is_down);
	tcase_add_test(tests, settings_are_asked_for_once);
	return tests;
}

void add_link_tests(Suite *suite)
{
	TCase *tests = tcase_create("link");

	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_test(tests, the_last_events_are_taken_when_the_daemon_ends);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, mirror_tests());
}
