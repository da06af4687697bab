#include "tests/unit/daemon/logger/fake-logger.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/logger/log-stream.h"
#include "daemon/logger/logging.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/roster.h"

static struct log memory_log = { .level = LOG_DEBUG, .name = "test" };

static void setup(void)
{
	begin("");
	memory_log.fd = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(memory_log.fd, 0);
	ctx.log = &memory_log;
	fake_logger_begin();
}

static void teardown(void)
{
	fake_logger_end();
	finish();
	(void)close(memory_log.fd);
}

/* Returns the number of lines of the log with @text. */
static unsigned count_lines(const char *text)
{
	static char all[16384];
	ssize_t n = pread(memory_log.fd, all, sizeof(all) - 1, 0);
	unsigned lines = 0;

	all[n > 0 ? n : 0] = '\0';
	for (const char *at = all; (at = strstr(at, text)); at++)
		lines++;
	return lines;
}

/* The stream gets its pipe with the first process. */
static struct log_stream *open_stream(const char *node, enum logger_format format)
{
	struct log_stream *s = fake_logger_stream(node, format);

	ck_assert_int_ge(log_stream_open(s, (uid_t)-1), 0);
	return s;
}

static uint32_t hear(enum logger_type type, const char *name)
{
	const struct logger_packet *p = fake_logger_hears(type);

	ck_assert_ptr_nonnull(p);
	if (name)
		ck_assert_str_eq(p->texts[0], name);
	return p->message.stream;
}

/* --- messages --- */

START_TEST(process_starts_with_the_first_stream)
{
	ck_assert_uint_eq(fake.started, 0);
	(void)fake_logger_stream("web", LOGGER_PLAIN);
	ck_assert_uint_eq(fake.started, 1);
	(void)fake_logger_stream("db", LOGGER_PLAIN);
	ck_assert_uint_eq(fake.started, 1);
	ck_assert_ptr_nonnull(fake_logger_hears(LOGGER_HELLO));
}
END_TEST

START_TEST(ready_logger_gets_each_stream_with_a_pipe)
{
	(void)open_stream("web", LOGGER_PLAIN);
	(void)fake_logger_stream("idle", LOGGER_PLAIN);
	(void)open_stream("db", LOGGER_PLAIN);
	turns();
	ck_assert_ptr_null(fake_logger_hears(LOGGER_ADD));
	fake_logger_is_ready();
	ck_assert_uint_ne(hear(LOGGER_ADD, "web"), hear(LOGGER_ADD, "db"));
	ck_assert_ptr_null(fake_logger_hears(LOGGER_ADD));
}
END_TEST

/* More than are sent at once. */
START_TEST(ready_logger_gets_each_of_many_streams_once)
{
	enum { STREAMS = 80 };
	bool heard[STREAMS] = { false };
	const struct logger_packet *p;
	unsigned n = 0;
	char name[16];

	for (int i = 0; i < STREAMS; i++) {
		(void)snprintf(name, sizeof(name), "s%d", i);
		(void)open_stream(name, LOGGER_PLAIN);
	}
	turns();
	fake_logger_is_ready();
	while ((p = fake_logger_hears(LOGGER_ADD))) {
		ck_assert_uint_lt(p->message.stream, STREAMS);
		ck_assert(!heard[p->message.stream]);
		heard[p->message.stream] = true;
		n++;
	}
	ck_assert_uint_eq(n, STREAMS);
}
END_TEST

START_TEST(later_stream_is_added_in_its_turn)
{
	(void)open_stream("web", LOGGER_PLAIN);
	fake_logger_is_ready();
	(void)hear(LOGGER_ADD, "web");
	(void)open_stream("db", LOGGER_PLAIN);
	turns();
	(void)hear(LOGGER_ADD, "db");
}
END_TEST

START_TEST(next_logger_gets_all_streams_again)
{
	uint32_t number;

	(void)open_stream("web", LOGGER_PLAIN);
	fake_logger_is_ready();
	number = hear(LOGGER_ADD, "web");
	fake_logger_ends();
	pass(SEC);
	ck_assert_uint_eq(fake.started, 2);
	ck_assert_ptr_null(fake_logger_hears(LOGGER_ADD));
	fake_logger_is_ready();
	ck_assert_uint_eq(hear(LOGGER_ADD, "web"), number);
}
END_TEST

START_TEST(each_name_has_the_width_of_the_longest)
{
	struct log_stream *longest;
	const struct logger_packet *p;

	(void)open_stream("web", LOGGER_PREFIX);
	(void)open_stream("plain", LOGGER_PLAIN);
	fake_logger_is_ready();
	p = fake_logger_hears(LOGGER_ADD);
	ck_assert_str_eq(p->texts[0], "web");
	ck_assert_uint_eq(p->message.rules.name_width, 3);
	longest = open_stream("database", LOGGER_PREFIX);
	turns();
	p = fake_logger_hears(LOGGER_CHANGE);
	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->texts[0], "web");
	ck_assert_uint_eq(p->message.rules.name_width, 8);
	p = fake_logger_hears(LOGGER_ADD);
	ck_assert_str_eq(p->texts[0], "database");
	ck_assert_uint_eq(p->message.rules.name_width, 8);
	(void)log_stream_put(longest);
	turns();
	p = fake_logger_hears(LOGGER_CHANGE);
	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->texts[0], "web");
	ck_assert_uint_eq(p->message.rules.name_width, 3);
}
END_TEST

START_TEST(files_are_opened_anew_at_and_below_a_node)
{
	uint32_t web, api;

	(void)open_stream("shop/web", LOGGER_PLAIN);
	(void)open_stream("shop/api", LOGGER_PLAIN);
	(void)open_stream("shopping", LOGGER_PLAIN);
	fake_logger_is_ready();
	web = hear(LOGGER_ADD, "shop/web");
	api = hear(LOGGER_ADD, "shop/api");
	logging_reopen(ctx.logger, "shop");
	turns();
	ck_assert_uint_eq(hear(LOGGER_REOPEN, NULL), web);
	ck_assert_uint_eq(hear(LOGGER_REOPEN, NULL), api);
	ck_assert_ptr_null(fake_logger_hears(LOGGER_REOPEN));
}
END_TEST

/* --- the end of a stream --- */

START_TEST(removed_stream_lasts_until_the_logger_has_ended_it)
{
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);
	int end = web->fds[0];
	uint32_t number;

	fake_logger_is_ready();
	number = hear(LOGGER_ADD, "web");
	ck_assert_ptr_null(log_stream_put(web));
	turns();
	ck_assert_uint_eq(hear(LOGGER_REMOVE, NULL), number);
	ck_assert_int_eq(fcntl(end, F_GETFD), FD_CLOEXEC);
	fake_logger_sends(LOGGER_ENDED, number, 0);
	ck_assert(list_is_empty(&ctx.logger->streams));
	/* A child closes it, within the time of the test. */
	while (fcntl(end, F_GETFD) >= 0)
		(void)sched_yield();
}
END_TEST

START_TEST(stream_in_use_is_not_ended_by_the_logger)
{
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);
	uint32_t number;

	fake_logger_is_ready();
	number = hear(LOGGER_ADD, "web");
	fake_logger_sends(LOGGER_ENDED, number, 0);
	ck_assert(!list_is_empty(&ctx.logger->streams));
	ck_assert_int_eq(fcntl(web->fds[0], F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(flush_lasts_until_its_own_reply)
{
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);
	const struct logger_packet *p;
	uint64_t cookie;

	fake_logger_is_ready();
	ck_assert_int_eq(write(web->fds[1], "x\n", 2), 2);
	log_stream_flush(web);
	turns();
	p = fake_logger_hears(LOGGER_FLUSH);
	ck_assert_ptr_nonnull(p);
	cookie = p->message.cookie;
	ck_assert(!log_stream_is_flushed(web));
	fake_logger_sends(LOGGER_FLUSHED, p->message.stream, cookie - 1);
	ck_assert(!log_stream_is_flushed(web));
	fake_logger_sends(LOGGER_FLUSHED, p->message.stream, cookie);
	ck_assert(log_stream_is_flushed(web));
}
END_TEST

/* --- the process --- */

START_TEST(only_a_logger_that_was_not_ready_is_killed_at_the_end)
{
	(void)open_stream("web", LOGGER_PLAIN);
	if (_i)
		fake_logger_is_ready();
	fake_logger_end();
	ck_assert_uint_eq(fake.killed, _i ? 0 : 1);
}
END_TEST

START_TEST(nothing_is_killed_where_no_logger_was_started)
{
	fake_logger_end();
	ck_assert_uint_eq(fake.killed, 0);
}
END_TEST

START_TEST(silent_logger_is_killed)
{
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);

	fake_logger_is_ready();
	ck_assert_int_eq(write(web->fds[1], "x\n", 2), 2);
	log_stream_flush(web);
	pass(SEC / 4);
	ck_assert_uint_eq(fake.killed, 0);
	pass(SEC / 2);
	ck_assert_uint_eq(fake.killed, 1);
}
END_TEST

/* As a logger leaves the store that is taking from @stream. */
static void note_taking(const struct log_stream *stream)
{
	const uint32_t taking = stream->number + 1;

	ck_assert_int_eq(pwrite(ctx.logger->child.store, &taking, sizeof(taking),
				offsetof(struct store_header, taking)),
			 sizeof(taking));
}

static const char *trouble_of(const struct log_stream *stream)
{
	struct store_counts counts;
	const char *trouble;

	(void)log_stream_count(stream, &counts, &trouble);
	return trouble;
}

START_TEST(killed_logger_that_does_not_end_is_replaced_and_its_stream_left_alone)
{
	struct log_stream *locked = open_stream("locked", LOGGER_PLAIN);
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);
	struct process *former;

	fake_logger_is_ready();
	note_taking(locked);
	ck_assert_int_eq(write(web->fds[1], "x\n", 2), 2);
	log_stream_flush(web);
	log_stream_flush(locked);
	for (int i = 0; i < 3; i++) /* the answer, the end, the next start */
		pass(SEC);
	ck_assert_uint_eq(fake.killed, 1);
	ck_assert_uint_eq(fake.started, 2);
	former = process_find(ctx.processes, fake.pid - 1);
	ck_assert_ptr_nonnull(former);
	ck_assert_int_eq(former->kind, PROCESS_CLOSER);
	fake_logger_is_ready();
	(void)hear(LOGGER_ADD, "web");
	ck_assert_ptr_null(fake_logger_hears(LOGGER_ADD));
	ck_assert(log_stream_is_flushed(locked) && !log_stream_is_flushed(web));
	ck_assert_ptr_nonnull(strstr(trouble_of(locked), "locked"));
	closer_died(former, &(struct reap_exit){ .value = 0 });
	turns();
	(void)hear(LOGGER_ADD, "locked");
	ck_assert_ptr_null(trouble_of(locked));
}
END_TEST

START_TEST(logger_that_answers_is_not_killed)
{
	struct log_stream *web = open_stream("web", LOGGER_PLAIN);

	fake_logger_is_ready();
	ck_assert_int_eq(write(web->fds[1], "x\n", 2), 2);
	log_stream_flush(web);
	fake_logger_sends(LOGGER_HELLO, LOGGER_ALL, 0);
	pass(10 * SEC);
	ck_assert_uint_eq(fake.killed, 0);
}
END_TEST

START_TEST(failure_to_run_is_logged_once_until_it_has_run)
{
	fake.refused = EAGAIN;
	(void)fake_logger_stream("web", LOGGER_PLAIN);
	pass(5 * SEC);
	ck_assert_uint_eq(count_lines("cannot run"), 1);
	fake.refused = 0;
	pass(SEC);
	fake_logger_is_ready();
	fake.refused = EAGAIN;
	fake_logger_ends();
	pass(5 * SEC);
	ck_assert_uint_eq(count_lines("cannot run"), 2);
	ck_assert_uint_eq(count_lines("has died"), 1);
}
END_TEST

START_TEST(program_that_cannot_be_executed_captures_nothing)
{
	struct log_stream *web = fake_logger_stream("web", LOGGER_PLAIN);

	fake.failed = EACCES;
	fake_logger_ends();
	ck_assert(!logging_is_usable(ctx.logger));
	ck_assert_int_eq(log_stream_open(web, (uid_t)-1), -ENOTSUP);
	ck_assert_str_eq(trouble_of(web), "swansong-logger cannot be run");
	ck_assert_uint_eq(count_lines("Permission denied"), 1);
	/* A later attempt succeeds. */
	fake.failed = 0;
	pass(SEC);
	fake_logger_is_ready();
	ck_assert(logging_is_usable(ctx.logger));
	ck_assert_ptr_null(trouble_of(web));
}
END_TEST

START_TEST(next_image_finds_the_store_and_the_process)
{
	struct roster *next;
	uint64_t pid = 0;
	int file = memfd_create("roster", MFD_CLOEXEC);

	fake_logger_end();
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	fake_logger_begin();
	(void)fake_logger_stream("web", LOGGER_PLAIN);
	ck_assert_uint_eq(fake.started, 1);
	ck_assert_int_eq(roster_new(&next, file), 0);
	ck_assert_int_eq(roster_take_descriptor(next, "logger store", &pid),
			 ctx.logger->child.store);
	ck_assert_uint_eq(pid, (uint64_t)fake.pid);
	/* It is not closed with this roster. */
	ck_assert_int_eq(roster_take_descriptor(next, "logger program", NULL),
			 ctx.logger->child.program.fd);
	next = roster_free(next);
	fake_logger_end();
	ctx.roster = roster_free(ctx.roster);
	(void)close(file);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("logging");
	TCase *tc = tcase_create("logging");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, process_starts_with_the_first_stream);
	tcase_add_test(tc, ready_logger_gets_each_stream_with_a_pipe);
	tcase_add_test(tc, ready_logger_gets_each_of_many_streams_once);
	tcase_add_test(tc, later_stream_is_added_in_its_turn);
	tcase_add_test(tc, next_logger_gets_all_streams_again);
	tcase_add_test(tc, each_name_has_the_width_of_the_longest);
	tcase_add_test(tc, files_are_opened_anew_at_and_below_a_node);
	tcase_add_test(tc, removed_stream_lasts_until_the_logger_has_ended_it);
	tcase_add_test(tc, stream_in_use_is_not_ended_by_the_logger);
	tcase_add_test(tc, flush_lasts_until_its_own_reply);
	tcase_add_loop_test(tc, only_a_logger_that_was_not_ready_is_killed_at_the_end, 0, 2);
	tcase_add_test(tc, nothing_is_killed_where_no_logger_was_started);
	tcase_add_test(tc, silent_logger_is_killed);
	tcase_add_test(tc, killed_logger_that_does_not_end_is_replaced_and_its_stream_left_alone);
	tcase_add_test(tc, logger_that_answers_is_not_killed);
	tcase_add_test(tc, failure_to_run_is_logged_once_until_it_has_run);
	tcase_add_test(tc, program_that_cannot_be_executed_captures_nothing);
	tcase_add_test(tc, next_image_finds_the_store_and_the_process);
	suite_add_tcase(s, tc);
	return s;
}
