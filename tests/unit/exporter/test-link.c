#include "exporter/mirror/link.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/exporter/test-exporter.h"
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

TCase *link_tests(void)
{
	TCase *tests = tcase_create("link");

	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_test(tests, the_last_events_are_taken_when_the_daemon_ends);
	return tests;
}
