#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/logger/play.h"

static void write_numbered(uint32_t stream, int from, int to)
{
	for (int i = from; i < to; i++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "number %08d and some text behind it\n", i);
		play_write(stream, line);
	}
}

#define LINE 40 /* bytes of each */

/* The content of the file: numbers in their order, and the lines that report lost ones. */
static uint64_t count_numbers(const char *path, uint64_t *told)
{
	size_t size;
	char *text = play_read(path, &size), *save, *line;
	uint64_t n = 0;
	int last = -1;

	*told = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long lost;

		if (sscanf(line, "swansong: %lu lines lost", &lost) == 1) {
			*told += lost;
			continue;
		}
		ck_assert_uint_eq(strlen(line), LINE - 1);
		ck_assert_int_gt(atoi(line + 7), last);
		last = atoi(line + 7);
		n++;
	}
	free(text);
	return n;
}

/* More than the ring holds. */
#define MANY 200000

/* A directory of another file where the log is to be: it cannot be written until that is gone. */
START_TEST(lost_lines_are_reported_when_there_is_room_again)
{
	struct logger_rules rules = play_file();
	struct store_counts counts;
	uint64_t told, n;

	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	write_numbered(0, 0, 10);
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, EISDIR);
	write_numbered(0, 10, MANY);
	ck_assert_int_eq(rmdir("log"), 0);
	play_flush(0);
	counts = play_counts(0);
	n = count_numbers("log", &told);
	ck_assert_uint_gt(counts.lost_lines, 0);
	ck_assert_uint_eq(told, counts.lost_lines);
	ck_assert_uint_eq(n, counts.written_lines);
	ck_assert_uint_eq(n + told, MANY);
	ck_assert_uint_eq(counts.came_bytes, counts.written_bytes + counts.lost_bytes);
	ck_assert_uint_eq(counts.came_bytes, (uint64_t)MANY * LINE);
}
END_TEST

START_TEST(a_file_is_made_before_the_first_line)
{
	struct logger_rules rules = play_file();
	struct stat st;

	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, EISDIR);
	ck_assert_int_eq(rmdir("log"), 0);
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, 0);
	ck_assert_int_eq(stat("log", &st), 0);
	ck_assert_int_eq(st.st_size, 0);
}
END_TEST

START_TEST(a_brief_stream_keeps_no_line_for_a_destination_that_fails)
{
	struct logger_rules rules = play_file();
	uint64_t told, n;

	rules.flags |= LOGGER_BRIEF;
	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	write_numbered(0, 0, 10);
	play_wait(LOGGER_TROUBLE);
	write_numbered(0, 10, 20);
	/* The flush ends although nothing can be written. */
	play_flush(0);
	ck_assert_uint_eq(play_counts(0).lost_lines, 20);
	ck_assert_int_eq(rmdir("log"), 0);
	write_numbered(0, 20, 30);
	play_flush(0);
	n = count_numbers("log", &told);
	ck_assert_uint_eq(n, 30 - play_counts(0).lost_lines);
	ck_assert_uint_eq(told, play_counts(0).lost_lines);
}
END_TEST

static pid_t helper_of_logger(void)
{
	char path[64];
	FILE *file;
	int pid = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)play.pid,
		       (int)play.pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	(void)fclose(file);
	return pid;
}

START_TEST(a_destination_that_works_loses_no_line)
{
	struct logger_rules rules = play_file();
	struct pollfd p = { .events = POLLIN };
	uint64_t told;
	pid_t helper, writer;

	play_add(0, &rules, "a", "log");
	write_numbered(0, 0, 1);
	play_flush(0);
	helper = helper_of_logger();
	ck_assert_int_eq(kill(helper, SIGSTOP), 0);
	writer = fork();
	if (writer == 0) {
		write_numbered(0, 1, MANY);
		_exit(0);
	}
	/* The service waits, for less time than a destination may take. */
	p.fd = (int)syscall(SYS_pidfd_open, writer, 0);
	ck_assert_int_ge(p.fd, 0);
	ck_assert_int_eq(poll(&p, 1, 100), 0);
	ck_assert_int_eq(kill(helper, SIGCONT), 0);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	(void)close(p.fd);
	play_flush(0);
	ck_assert_uint_eq(play_counts(0).lost_lines, 0);
	ck_assert_uint_eq(count_numbers("log", &told), MANY);
}
END_TEST

static void read_part(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[4096];

	if (poll(&p, 1, 10) > 0)
		ck_assert_int_gt(read(fd, part, sizeof(part)), 0);
}

/* The reader needs several seconds for a portion of the helper, and takes a part of it every 50 ms. */
START_TEST(a_destination_that_is_slow_loses_no_line)
{
	struct logger_rules rules = { .to = LOGGER_TO_OUTPUT };
	int out = play_start_with_output();
	uint64_t until;
	pid_t writer;

	play_add(0, &rules, "a", "");
	writer = fork();
	if (writer == 0) {
		write_numbered(0, 0, MANY);
		_exit(0);
	}
	until = clock_now_usec() + 3 * USEC_PER_SEC;
	while (clock_now_usec() < until) {
		read_part(out);
		(void)poll(NULL, 0, 50);
	}
	while (play_counts(0).written_lines + play_counts(0).lost_lines < MANY)
		read_part(out);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	ck_assert_uint_eq(play_counts(0).lost_lines, 0);
	(void)close(out);
}
END_TEST

START_TEST(a_trouble_that_ends_is_reported_once)
{
	struct logger_rules rules = play_file();

	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	play_write(0, "hello\n");
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(rmdir("log"), 0);
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, 0);
	play_flush(0);
	play_expect("log", "hello\n");
}
END_TEST

START_TEST(a_service_that_is_to_wait_waits)
{
	struct logger_rules rules = play_file();
	uint64_t told;
	pid_t writer;

	rules.flags = LOGGER_BLOCK;
	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	writer = fork();
	if (writer == 0) {
		write_numbered(0, 0, MANY);
		_exit(0);
	}
	play_wait(LOGGER_TROUBLE);
	/* The ring is full, and so is the pipe. */
	while (play_counts(0).came_bytes < STORE_RING / 2)
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(waitpid(writer, NULL, WNOHANG), 0);
	ck_assert_int_eq(rmdir("log"), 0);
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	play_flush(0);
	ck_assert_uint_eq(count_numbers("log", &told), MANY);
	ck_assert_uint_eq(told, 0);
	ck_assert_uint_eq(play_counts(0).lost_bytes, 0);
}
END_TEST

/* A helper that is stopped is one that hangs. */
static void signal_helpers(int signo)
{
	ck_assert_int_gt(play_signal_helpers(signo), 0);
}

START_TEST(a_destination_that_hangs_holds_up_no_other_one)
{
	struct logger_rules rules = play_file(), memory = { .to = LOGGER_TO_MEMORY };
	struct store_counts counts;
	uint64_t told, n;

	play_add(0, &rules, "a", "log");
	play_add(1, &memory, "b", "");
	play_write(0, "number 00000000 and some text behind it\n");
	play_flush(0);
	signal_helpers(SIGSTOP);
	write_numbered(0, 1, MANY);
	play_write(1, "hello\n");
	play_flush(1);
	signal_helpers(SIGCONT);
	play_flush(0);
	counts = play_counts(0);
	n = count_numbers("log", &told);
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_eq(told, counts.lost_lines);
	ck_assert_uint_eq(n + told, MANY);
	ck_assert_uint_eq(counts.came_bytes, counts.written_bytes + counts.lost_bytes);
}
END_TEST

/* Stream 0 has the file "log", and its helper hangs; stream 1 has none. */
static void hang(void)
{
	struct logger_rules rules = play_file(), memory = { .to = LOGGER_TO_MEMORY };

	play_add(0, &rules, "a", "log");
	play_add(1, &memory, "b", "");
	play_write(0, "one\n");
	play_flush(0);
	signal_helpers(SIGSTOP);
	play_write(0, "two\n");
}

/* A progress bar, or bytes that are no text. */
static void write_without_lines(int fd)
{
	static char text[65536];

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 100; i++)
		if (write(fd, text, sizeof(text)) != sizeof(text))
			_exit(1);
	_exit(0);
}

START_TEST(output_without_lines_does_not_wait_for_a_destination_that_hangs)
{
	struct pollfd p = { .events = POLLIN };
	struct store_counts counts;
	pid_t writer;

	hang();
	writer = fork();
	if (writer == 0)
		write_without_lines(play.streams[0].out);
	p.fd = (int)syscall(SYS_pidfd_open, writer, 0);
	ck_assert_int_ge(p.fd, 0);
	ck_assert_int_eq(poll(&p, 1, 15000), 1);
	(void)waitpid(writer, NULL, 0);
	(void)close(p.fd);
	signal_helpers(SIGCONT);
	play_flush(0);
	counts = play_counts(0);
	ck_assert_uint_gt(counts.lost_bytes, 0);
	ck_assert_uint_eq(counts.came_bytes, counts.written_bytes + counts.lost_bytes);
}
END_TEST

START_TEST(a_file_is_made_although_the_helper_that_was_to_make_it_dies)
{
	struct logger_rules rules = play_file(), memory = { .to = LOGGER_TO_MEMORY };

	play_add(0, &rules, "a", "log");
	play_add(1, &memory, "b", "");
	play_write(0, "one\n");
	play_flush(0);
	signal_helpers(SIGSTOP);
	play_add(2, &rules, "c", "later");
	play_flush(1); /* the helper has its job */
	signal_helpers(SIGKILL);
	for (int i = 0; access("later", F_OK) < 0; i++) {
		ck_assert_int_lt(i, 3000);
		(void)poll(NULL, 0, 10);
	}
	play_flush(0);
	play_expect("log", "one\n");
	play_expect("later", "");
}
END_TEST

static void send_many(struct logger_message *m, int n)
{
	for (int i = 0; i < n; i++) {
		m->cookie = (uint64_t)i + 1;
		play_send(m);
		if (i % 50 == 0)
			play_flush(1);
	}
}

START_TEST(flushes_of_a_stream_that_hangs_are_one)
{
	struct logger_message m = { .type = LOGGER_FLUSH, .stream = 0 };

	play.cookie = 1000000;
	hang();
	send_many(&m, 1000);
	signal_helpers(SIGCONT);
	play_wait(LOGGER_FLUSHED);
	while (play.packet.message.stream != 0)
		play_wait(LOGGER_FLUSHED);
	ck_assert_uint_eq(play.packet.message.cookie, 1000);
	play_expect("log", "one\ntwo\n");
}
END_TEST

START_TEST(a_reopen_is_not_lost_behind_a_helper_that_hangs)
{
	struct logger_message m = { .type = LOGGER_REOPEN, .stream = 0 };
	struct logger_rules rules = play_file();

	play_add(2, &rules, "c", "other");
	play_write(2, "before\n");
	play_flush(2);
	hang();
	send_many(&m, 1000);
	ck_assert_int_eq(rename("other", "moved"), 0);
	m.stream = 2;
	play_send(&m);
	play_write(2, "after\n");
	play_flush(1);
	signal_helpers(SIGCONT);
	play_flush(2);
	play_flush(0);
	play_expect("other", "after\n");
	play_expect("moved", "before\n");
}
END_TEST

START_TEST(sent_lines_are_written_or_counted_as_lost_after_a_kill_of_the_logger)
{
	struct logger_rules rules = play_file();
	struct store_counts counts;
	uint64_t told, n;
	pid_t writer;

	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(0, &rules, "a", "log");
	writer = fork();
	if (writer == 0) {
		write_numbered(0, 0, MANY);
		_exit(0);
	}
	/* Each logger lives a bit longer, so that on a slow machine, too, one of them comes to write. */
	for (int i = 0; waitpid(writer, NULL, WNOHANG) == 0; i++) {
		(void)poll(NULL, 0, i % 7 + i / 16);
		play_kill();
		play_start();
	}
	ck_assert_int_eq(rmdir("log"), 0);
	play_flush(0);
	counts = play_counts(0);
	n = count_numbers("log", &told);
	ck_assert_uint_eq(n + told, MANY);
	ck_assert_uint_eq(counts.came_bytes, counts.written_bytes + counts.lost_bytes);
	ck_assert_uint_eq(counts.written_lines + counts.lost_lines, MANY);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("logger in trouble");
	TCase *t = tcase_create("trouble");

	tcase_add_checked_fixture(t, play_begin, play_end);
	tcase_add_test(t, lost_lines_are_reported_when_there_is_room_again);
	tcase_add_test(t, a_file_is_made_before_the_first_line);
	tcase_add_test(t, a_brief_stream_keeps_no_line_for_a_destination_that_fails);
	tcase_add_test(t, a_destination_that_works_loses_no_line);
	tcase_add_test(t, a_destination_that_is_slow_loses_no_line);
	tcase_add_test(t, a_trouble_that_ends_is_reported_once);
	tcase_add_test(t, a_service_that_is_to_wait_waits);
	tcase_add_test(t, a_destination_that_hangs_holds_up_no_other_one);
	tcase_add_test(t, output_without_lines_does_not_wait_for_a_destination_that_hangs);
	tcase_add_test(t, a_file_is_made_although_the_helper_that_was_to_make_it_dies);
	tcase_add_test(t, flushes_of_a_stream_that_hangs_are_one);
	tcase_add_test(t, a_reopen_is_not_lost_behind_a_helper_that_hangs);
	tcase_add_test(t, sent_lines_are_written_or_counted_as_lost_after_a_kill_of_the_logger);
	suite_add_tcase(suite, t);
	return suite;
}
