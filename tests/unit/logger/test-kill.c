#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "logger/ring/area.h"
#include "tests/unit/logger/play.h"

#define WRITERS 4

/* A service: numbered lines of several lengths, in pieces of several sizes, as fast as they go. */
static void write_lines(int fd, int writer, int n)
{
	static const char filler[] =
		"................................................................";
	char buf[8192];
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		used += (size_t)snprintf(buf + used, sizeof(buf) - used, "%d %d %.*s\n", writer, i,
					 i * 7 % 64, filler);
		if (used < sizeof(buf) - 128 && i % (1 + writer * 13) && i + 1 < n)
			continue;
		for (size_t at = 0; at < used;) {
			ssize_t m = write(fd, buf + at, used - at);

			if (m < 0)
				_exit(1);
			at += (size_t)m;
		}
		used = 0;
	}
}

static pid_t start_writer(int writer, int n)
{
	pid_t pid = fork();

	if (pid == 0) {
		write_lines(play.streams[writer].out, writer, n);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* Every line of every writer is in the text once, in its order. */
static void expect_lines(char *text, int n)
{
	int next[WRITERS] = { 0 };
	char *save, *line;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int writer, number, end = 0;

		ck_assert_msg(sscanf(line, "%d %d %n", &writer, &number, &end) == 2, "'%s'", line);
		ck_assert_int_lt(writer, WRITERS);
		ck_assert_msg(number == next[writer], "writer %d: %d instead of %d", writer, number,
			      next[writer]);
		ck_assert_msg(strlen(line + end) == (size_t)(number * 7 % 64), "'%s'", line);
		next[writer]++;
	}
	for (int i = 0; i < WRITERS; i++)
		ck_assert_int_eq(next[i], n);
}

/* The files in the order of their names, the one without a time last. */
static char *read_all(void)
{
	size_t size;

	ck_assert_int_eq(system("{ ls log.* 2>/dev/null | sort; ls log; } | xargs cat >all"), 0);
	return play_read("all", &size);
}

static void pause_usec(long usec)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = usec * 1000 }, NULL);
}

static bool are_running(pid_t *writers)
{
	bool any = false;

	for (int i = 0; i < WRITERS; i++)
		if (writers[i] && waitpid(writers[i], NULL, WNOHANG) == writers[i])
			writers[i] = 0;
		else
			any |= writers[i] != 0;
	return any;
}

/* KILL_LINES lines of each writer; more of them are a longer test. */
static int line_count(int count)
{
	const char *text = getenv("KILL_LINES");

	return text ? atoi(text) : count;
}

/* The pauses grow, as on a slow machine a start may take longer than the first ones. */
static int kill_while_running(pid_t *writers)
{
	unsigned seed = (unsigned)clock_now_usec();
	int kills = 0;

	srandom(seed);
	while (are_running(writers)) {
		pause_usec(random() % (4000 + 40 * kills));
		play_kill();
		play_start();
		kills++;
	}
	(void)fprintf(stderr, "# seed %u, %d kills\n", seed, kills);
	return kills;
}

static const struct logger_rules kill_rules[] = {
	{ .to = LOGGER_TO_FILE, .mode = 0600 },
	{ .to = LOGGER_TO_FILE, .mode = 0600, .size = 100000, .keep = LOGGER_KEEP_MAX },
	{ .to = LOGGER_TO_FILE, .mode = 0600, .flags = LOGGER_BLOCK },
};

START_TEST(no_line_is_lost_or_doubled_when_the_logger_is_killed)
{
	struct logger_rules rules = kill_rules[_i];
	const int n = line_count(100000);
	pid_t writers[WRITERS];
	char *text;

	rules.flags |= LOGGER_BLOCK;
	for (int i = 0; i < WRITERS; i++)
		play_add((uint32_t)i, &rules, "a", "log");
	for (int i = 0; i < WRITERS; i++)
		writers[i] = start_writer(i, n);
	ck_assert_int_gt(kill_while_running(writers), 10);
	play_flush(LOGGER_ALL);
	text = read_all();
	expect_lines(text, n);
	free(text);
	for (uint32_t i = 0; i < WRITERS; i++) {
		struct store_counts counts = play_counts(i);

		ck_assert_uint_eq(counts.came_bytes, counts.written_bytes);
		ck_assert_uint_eq(counts.written_lines, (uint64_t)n);
	}
}
END_TEST

START_TEST(no_line_is_lost_or_doubled_when_a_helper_is_killed)
{
	struct logger_rules rules = kill_rules[0];
	const int n = line_count(100000);
	pid_t writers[WRITERS];
	char *text;

	rules.flags |= LOGGER_BLOCK;
	for (int i = 0; i < WRITERS; i++)
		play_add((uint32_t)i, &rules, "a", "log");
	for (int i = 0; i < WRITERS; i++)
		writers[i] = start_writer(i, n);
	for (int i = 0; are_running(writers); i++) {
		(void)play_signal_helpers(SIGKILL);
		pause_usec(4 * i);
	}
	play_flush(LOGGER_ALL);
	text = read_all();
	expect_lines(text, n);
	free(text);
}
END_TEST

#define KILLS 1000

/* Numbers from 0 on, some in each millisecond, until there is a file "enough". */
static int write_until_enough(int fd)
{
	int n = 0;

	while (access("enough", F_OK) < 0) {
		char buf[8192];
		size_t used = 0;

		while (used < 2000)
			used += (size_t)snprintf(buf + used, sizeof(buf) - used, "%d\n", n++);
		if (write(fd, buf, used) != (ssize_t)used)
			_exit(1);
		(void)poll(NULL, 0, 1);
	}
	return n;
}

static pid_t start_counter(uint32_t stream)
{
	pid_t pid = fork();
	char path[16];
	FILE *file;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	(void)snprintf(path, sizeof(path), "sent-%u", stream);
	file = fopen(path, "we");
	_exit(!file || fprintf(file, "%d", write_until_enough(play.streams[stream].out)) < 0 ||
	      fclose(file) != 0);
}

static uint64_t read_sent(uint32_t stream)
{
	char path[16], *text;
	uint64_t n;
	size_t size;

	(void)snprintf(path, sizeof(path), "sent-%u", stream);
	text = play_read(path, &size);
	n = strtoull(text, NULL, 10);
	free(text);
	return n;
}

/* The lines of the file are all numbers from 0 on. */
static void expect_numbers(const char *path, uint64_t n)
{
	size_t size;
	char *text = play_read(path, &size), *at = text;

	for (uint64_t i = 0; i < n; i++, at++) {
		ck_assert_uint_eq(strtoull(at, &at, 10), i);
		ck_assert_int_eq(*at, '\n');
	}
	ck_assert_ptr_eq(at, text + size);
	free(text);
}

/* The first stream can write its file, the second waits for a directory to go, the third drops lines. */
START_TEST(a_thousand_kills_lose_and_double_nothing)
{
	static const char *const paths[] = { "log", "there", "there" };
	struct logger_rules rules = play_file();
	pid_t counters[ARRAY_SIZE(paths)];
	struct store_counts counts;
	int status;

	ck_assert_int_eq(mkdir("there", 0755), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(paths); i++) {
		rules.flags = i < 2 ? LOGGER_BLOCK : 0;
		play_add(i, &rules, "a", paths[i]);
		counters[i] = start_counter(i);
	}
	srandom((unsigned)clock_now_usec());
	for (int i = 0; i < KILLS; i++) {
		pause_usec(random() % 4000);
		play_kill();
		play_start();
	}
	ck_assert_int_ge(creat("enough", 0600), 0);
	ck_assert_int_eq(rmdir("there"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		ck_assert_int_eq(waitpid(counters[i], &status, 0), counters[i]);
		ck_assert_int_eq(status, 0);
	}
	play_flush(LOGGER_ALL);
	expect_numbers("log", read_sent(0));
	for (uint32_t i = 0; i < ARRAY_SIZE(paths); i++) {
		counts = play_counts(i);
		ck_assert_uint_eq(counts.came_bytes, counts.written_bytes + counts.lost_bytes);
		ck_assert_uint_eq(counts.written_lines + counts.lost_lines, read_sent(i));
		ck_assert(i == 2 || counts.lost_bytes == 0);
	}
}
END_TEST

START_TEST(the_pipe_of_a_loud_stream_has_its_size_again_after_a_kill)
{
	struct logger_rules rules = play_file();
	int size;

	play_add(1, &rules, "a", "log");
	size = fcntl(play.streams[1].in, F_GETPIPE_SZ);
	play_flush(1);
	/* The user may have too many pipes for that. */
	if (fcntl(play.streams[1].in, F_SETPIPE_SZ, 1024 * 1024) < 0)
		return;
	play_kill();
	play_start();
	play_flush(1);
	ck_assert_int_eq(fcntl(play.streams[1].in, F_GETPIPE_SZ), size);
}
END_TEST

/* The helper was killed after it had written @n bytes of @portion, and before it noted that. */
static void leave_portion(const char *portion, size_t n)
{
	struct store_record *record;
	struct area area;
	FILE *file = fopen("log", "ae");

	ck_assert_int_eq(area_open(&area, play.store), 0);
	record = area_record(&area, 0);
	record->next = record->now;
	record->next.position += strlen(portion);
	record->next.written_bytes += strlen(portion);
	record->next.written_lines++;
	record->offset = record->file_bytes;
	record->bytes = strlen(portion);
	area_set_step(record, STORE_WRITING);
	area_close(&area);
	ck_assert_uint_eq(fwrite(portion, 1, n, file), n);
	ck_assert_int_eq(fclose(file), 0);
}

/* The logger has the line "two", and stands still. */
static void stop_before_second_line(void)
{
	struct logger_rules rules = play_file();

	play_add(0, &rules, "a", "log");
	play_write(0, "one\n");
	play_flush(0);
	ck_assert_int_eq(play_signal_helpers(SIGSTOP), 1);
	play_write(0, "two\n");
	while (play_counts(0).came_bytes < strlen("one\ntwo\n"))
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(kill(play.pid, SIGSTOP), 0);
	ck_assert_int_eq(waitpid(play.pid, NULL, WUNTRACED), play.pid);
}

/* The line is whole in the file, or cut off there and written to the new destination. */
START_TEST(a_portion_that_was_begun_is_ended_before_its_stream_goes_elsewhere)
{
	const char *expected = _i == 0 ? "two\nthree\n" : "three\n";
	char text[64] = "";
	int out;

	stop_before_second_line();
	leave_portion("two\n", _i == 0 ? 2 : 4);
	play.streams[0].rules = (struct logger_rules){ .to = LOGGER_TO_OUTPUT };
	out = play_start_with_output();
	play_write(0, "three\n");
	play_flush(0);
	ck_assert_int_gt(read(out, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, expected);
	play_expect("log", _i == 0 ? "one\n" : "one\ntwo\n");
	ck_assert_uint_eq(play_counts(0).written_lines, 3);
	(void)close(out);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("logger that is killed");
	TCase *t = tcase_create("kill");

	tcase_add_checked_fixture(t, play_begin, play_end);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, no_line_is_lost_or_doubled_when_the_logger_is_killed, 0,
			    ARRAY_SIZE(kill_rules));
	tcase_add_test(t, no_line_is_lost_or_doubled_when_a_helper_is_killed);
	tcase_add_test(t, a_thousand_kills_lose_and_double_nothing);
	tcase_add_loop_test(t, a_portion_that_was_begun_is_ended_before_its_stream_goes_elsewhere,
			    0, 2);
	tcase_add_test(t, the_pipe_of_a_loud_stream_has_its_size_again_after_a_kill);
	suite_add_tcase(suite, t);
	return suite;
}
