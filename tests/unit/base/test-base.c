#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <inttypes.h>
#include <time.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dict.h"
#include "base/list.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

START_TEST(numbers_are_parsed_strictly)
{
	static const char *const bad[] = { "",	  " 1",	  "1 ",
					   "+1",  "-1",	  "0x1",
					   "1e0", "0day", "99999999999999999999" };
	uint64_t value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(parse_uint(bad[i], UINT64_MAX, &value) < 0, "'%s' was taken", bad[i]);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(parse_uint("18446744073709551615", UINT64_MAX, &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(parse_uint("256", 255, &value), -ERANGE);
}
END_TEST

START_TEST(durations_have_units)
{
	static const struct {
		const char *text;
		uint64_t usec;
	} good[] = {
		{ "0", 0 },
		{ "250ms", 250000 },
		{ "30s", 30000000 },
		{ "5min", 300000000 },
		{ "1h", UINT64_C(3600000000) },
		{ "2d", UINT64_C(172800000000) },
		{ "infinity", USEC_INFINITY },
	};
	static const char *const bad[] = { "",	       "30",  "s",  "1.5s",
					   "-1s",      "1 s", "1m", "99999999999999999d",
					   "infinity " };
	uint64_t usec;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_int_eq(parse_duration(good[i].text, &usec), 0);
		ck_assert_uint_eq(usec, good[i].usec);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(parse_duration(bad[i], &usec) < 0, "'%s' was taken", bad[i]);
}
END_TEST

START_TEST(times_are_parsed)
{
	/* 2026-03-01 12:00:00 in UTC, which is 13:00 there. */
	const uint64_t now = UINT64_C(1772366400) * USEC_PER_SEC;
	const uint64_t hour = 3600 * USEC_PER_SEC;
	const struct {
		const char *text;
		uint64_t usec;
	} good[] = {
		{ "10min", now - hour / 6 },
		{ "0", now },
		{ "infinity", 0 },
		{ "13:00", now },
		{ "13:00:05", now + 5 * USEC_PER_SEC },
		{ "23:30", now + 10 * hour + hour / 2 },
		{ "2026-03-01", now - 13 * hour },
		{ "2026-03-01 12:00", now - hour },
		{ "2026-03-01T12:00:01", now - hour + USEC_PER_SEC },
		{ "2026-03-01T12:00:00Z", now },
		{ "2026-03-01 12:00:00Z", now },
		{ "2026-03-01T12:00:00+00:00", now },
		{ "2026-03-01T12:00:00-01:30", now + hour + hour / 2 },
		/* Its clock has another time in summer. */
		{ "2026-07-01 14:00", now + 122 * 24 * hour },
	};
	static const char *const bad[] = {
		"",	 "noon", "-5",		 "2026-13-01",
		"12:61", "10",	 "2026-03-01 x", "2026-03-01T12:00:00ZZ"
	};
	uint64_t usec;

	ck_assert_int_eq(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_msg(parse_time(good[i].text, now, &usec) == 0, "'%s'", good[i].text);
		ck_assert_msg(usec == good[i].usec, "'%s': %" PRIu64, good[i].text,
			      usec / USEC_PER_SEC);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(parse_time(bad[i], now, &usec) < 0, "'%s' was taken", bad[i]);
}
END_TEST

START_TEST(sizes_have_units_of_1024)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "64K", 65536 },
		{ "10M", 10485760 },
		{ "2G", UINT64_C(2147483648) },
		{ "1T", UINT64_C(1099511627776) },
		{ "16777215T", UINT64_C(16777215) << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = { "",
					   "K",
					   "1k",
					   "1KB",
					   "1 K",
					   "1.5M",
					   "-1K",
					   "0x1K",
					   "1KK",
					   "18446744073709551616",
					   "99999999999999999999999999" };
	uint64_t bytes = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(parse_size(bad[i], &bytes) == -EINVAL ||
				      parse_size(bad[i], &bytes) == -ERANGE,
			      "'%s' was taken", bad[i]);
	ck_assert_int_eq(parse_size("16777216T", &bytes), -ERANGE);
	ck_assert_uint_eq(bytes, 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_int_eq(parse_size(good[i].text, &bytes), 0);
		ck_assert_uint_eq(bytes, good[i].bytes);
	}
}
END_TEST

START_TEST(signals_have_names_and_numbers)
{
	int signo;

	ck_assert_int_eq(parse_signal("SIGTERM", &signo), 0);
	ck_assert_int_eq(signo, SIGTERM);
	ck_assert_int_eq(parse_signal("HUP", &signo), 0);
	ck_assert_int_eq(signo, SIGHUP);
	ck_assert_int_eq(parse_signal("SIGRTMIN+3", &signo), 0);
	ck_assert_int_eq(signo, SIGRTMIN + 3);
	ck_assert_int_eq(parse_signal("0", &signo), -ERANGE);
	ck_assert_int_eq(parse_signal("65", &signo), -ERANGE);
	ck_assert_int_eq(parse_signal("SIGNOPE", &signo), -EINVAL);
	ck_assert_int_eq(parse_signal("RTMIN-1", &signo), -EINVAL);

	char text[SIGNAL_TEXT_MAX];

	ck_assert_str_eq(parse_signal_text(text, SIGTERM), "SIGTERM");
	ck_assert_str_eq(parse_signal_text(text, SIGRTMIN + 1), "SIGRTMIN+1");
	for (int i = 1; i <= SIGRTMAX; i++) {
		const char *name = sigabbrev_np(i);

		if (!name && i < SIGRTMIN)
			continue;
		ck_assert_int_eq(parse_signal(parse_signal_text(text, i), &signo), 0);
		ck_assert_int_eq(signo, i);
		if (name)
			ck_assert_str_eq(text + strlen("SIG"), name);
	}
}
END_TEST

START_TEST(words_are_split_as_a_shell_does)
{
	char **words;

	ck_assert_int_eq(parse_words("nginx -g \"daemon off;\" '' a\\ b 'x\"y'\"'z'\"", &words), 6);
	ck_assert_str_eq(words[0], "nginx");
	ck_assert_str_eq(words[2], "daemon off;");
	ck_assert_str_eq(words[3], "");
	ck_assert_str_eq(words[4], "a b");
	ck_assert_str_eq(words[5], "x\"y'z'");
	ck_assert_ptr_null(words[6]);
	free(words);

	ck_assert_int_eq(parse_words("  ", &words), 0);
	free(words);
	ck_assert_int_eq(parse_words("'open", &words), -EINVAL);
	ck_assert_int_eq(parse_words("end\\", &words), -EINVAL);
}
END_TEST

START_TEST(escaped_text_has_no_terminal_controls)
{
	char padded[] = "\t a b ", blank[] = " \t";
	char out[64];

	ck_assert_str_eq(text_escape(out, sizeof(out), "a\033[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
	ck_assert_str_eq(text_escape(out, sizeof(out), "ü → ok"), "ü → ok");
	ck_assert_str_eq(text_escape(out, sizeof(out), "\xc2\x9b\xff"), "\\xc2\\x9b\\xff");
	ck_assert_str_eq(text_escape(out, sizeof(out), "\xc0\x80"), "\\xc0\\x80");
	ck_assert_str_eq(text_escape(out, 4, "ab\n"), "ab");
	ck_assert_str_eq(text_trim(padded, " 	"), "a b");
	ck_assert_str_eq(text_trim(blank, " 	"), "");
}
END_TEST

START_TEST(characters_are_recognised_whole)
{
	ck_assert_uint_eq(text_character("a"), 1);
	ck_assert_uint_eq(text_character("\x1b"), 1);
	ck_assert_uint_eq(text_character("ü"), 2);
	ck_assert_uint_eq(text_character("→x"), 3);
	ck_assert_uint_eq(text_character("\xf0\x9f\xa6\xa2"), 4);
	ck_assert_uint_eq(text_character(""), 0);
	ck_assert_uint_eq(text_character("\xc3"), 0);
	ck_assert_uint_eq(text_character("\xc0\x80"), 0);
	ck_assert_uint_eq(text_character("\xed\xa0\x80"), 0);
	ck_assert_uint_eq(text_character("\xf4\x90\x80\x80"), 0);
}
END_TEST

/*
 * Test vectors of the authors: control groups are named by the hash, and a later release must find
 * them.
 */
START_TEST(a_text_has_the_hash_of_fnv_1a)
{
	ck_assert_uint_eq(text_hash(""), 0x811c9dc5);
	ck_assert_uint_eq(text_hash("a"), 0xe40c292c);
	ck_assert_uint_eq(text_hash("foobar"), 0xbf9cf968);
	ck_assert_uint_eq(text_hash("\xff"), 0x7a0b824e);
}
END_TEST

START_TEST(a_misspelling_finds_the_closest_name)
{
	static const char *const names[] = { "command", "requires", "restart", "restart-delay",
					     "user" };

	ck_assert_str_eq(text_closest("comand", names, ARRAY_SIZE(names)), "command");
	ck_assert_str_eq(text_closest("requries", names, ARRAY_SIZE(names)), "requires");
	ck_assert_ptr_null(text_closest("colour", names, ARRAY_SIZE(names)));
}
END_TEST

START_TEST(durations_are_shown_for_users)
{
	char text[CLOCK_TEXT_MAX];

	ck_assert_str_eq(clock_text(text, 350 * USEC_PER_MSEC), "350ms");
	ck_assert_str_eq(clock_text(text, 4210 * USEC_PER_MSEC), "4.2s");
	ck_assert_str_eq(clock_text(text, 90 * USEC_PER_SEC), "1min 30s");
	ck_assert_str_eq(clock_text(text, USEC_INFINITY), "infinity");
	ck_assert_str_eq(clock_utc_text(text, 1769860800 * USEC_PER_SEC + 250),
			 "2026-01-31T12:00:00.000250Z");
	ck_assert_uint_eq(clock_add(USEC_INFINITY - 1, 5), USEC_INFINITY);
}
END_TEST

/* Both texts, with more and with fewer digits, are equally close to the duration. */
START_TEST(a_duration_is_rounded_as_it_is_shown)
{
	static const struct {
		uint64_t usec;
		const char *text, *fine;
	} cases[] = {
		{ 0, "0ms", "0.0ms" },
		{ 300, "0ms", "0.3ms" },
		{ 500, "1ms", "0.5ms" },
		{ 9949, "10ms", "9.9ms" },
		{ 9950, "10ms", "10ms" },
		{ 349499, "349ms", "349ms" },
		{ 349500, "350ms", "350ms" },
		{ 999499, "999ms", "999ms" },
		{ 999500, "1.0s", "1.00s" },
		{ 1949999, "1.9s", "1.95s" },
		{ 3999000, "4.0s", "4.00s" },
		{ 59949999, "59.9s", "59.95s" },
		{ 59994999, "1min 0s", "59.99s" },
		{ 59995000, "1min 0s", "1min 0s" },
		{ 89900000, "1min 30s", "1min 30s" },
		{ 3599499999, "59min 59s", "59min 59s" },
		{ 3599500000, "1h 0min", "1h 0min" },
		{ 86369999999, "23h 59min", "23h 59min" },
		{ 86370000000, "1d 0h", "1d 0h" },
		{ 263 * UINT64_C(3600) * USEC_PER_SEC, "10d 23h", "10d 23h" },
		{ USEC_INFINITY, "infinity", "infinity" },
	};
	char text[CLOCK_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_str_eq(clock_text(text, cases[i].usec), cases[i].text);
		ck_assert_str_eq(clock_text_fine(text, cases[i].usec), cases[i].fine);
	}
}
END_TEST

START_TEST(a_log_without_a_reader_never_blocks)
{
	struct log log = { .level = LOG_INFO, .name = "test" };
	char text[65536];
	int fds[2], lines = 0;
	ssize_t n;

	ck_assert_int_eq(pipe(fds), 0);
	log.fd = fds[1];
	while (log.lost < 3 && lines++ < 1000000)
		log_line(&log, LOG_INFO, "line");
	ck_assert_uint_eq(log.lost, 3);
	n = read(fds[0], text, sizeof(text));
	ck_assert_int_gt(n, 0);
	log_line(&log, LOG_DEBUG, "not shown");
	log_line(&log, LOG_INFO, "the\033 end");
	ck_assert_uint_eq(log.lost, 0);
	while ((n = read(fds[0], text, sizeof(text) - 1)) == (ssize_t)sizeof(text) - 1)
		;
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_ptr_nonnull(
		strstr(text, "test: 3 lines of this log were lost\ntest: the\\x1b end\n"));
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

/* Returns one line in @format, without its time. */
static const char *line_as(enum log_format format, const char *node, const char *message)
{
	static char text[8192];
	struct log log = { .level = LOG_INFO, .name = "test", .format = format };
	int fds[2];
	ssize_t n;

	ck_assert_int_eq(pipe(fds), 0);
	log_use(&log, fds[1]);
	if (node)
		log_node(&log, LOG_WARNING, node, "%s", message);
	else
		log_line(&log, LOG_WARNING, "%s", message);
	n = read(fds[0], text, sizeof(text) - 1);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	(void)close(fds[0]);
	(void)close(fds[1]);
	if (format == LOG_TIME || format == LOG_AUTO) {
		ck_assert_uint_gt((size_t)n, sizeof("2026-11-23T02:03:04.123Z"));
		ck_assert_int_eq(text[23], 'Z');
		return text + 25;
	}
	return format == LOG_JSON ? strchr(text, ',') : text;
}

START_TEST(a_line_has_the_form_of_its_log)
{
	ck_assert_str_eq(line_as(LOG_PLAIN, NULL, "so"), "test: so\n");
	ck_assert_str_eq(line_as(LOG_PLAIN, "web/a", "so"), "test: web/a: so\n");
	ck_assert_str_eq(line_as(LOG_TIME, "web/a", "so"), "test: web/a: so\n");
	ck_assert_str_eq(line_as(LOG_AUTO, NULL, "so"), "test: so\n");
	ck_assert_str_eq(line_as(LOG_JSON, NULL, "so"),
			 ",\"level\":\"warning\",\"message\":\"so\"}\n");
	ck_assert_str_eq(line_as(LOG_JSON, "web/a", "say \"\\\"\t\xff\u00e9"),
			 ",\"level\":\"warning\",\"node\":\"web/a\","
			 "\"message\":\"say \\u0022\\u005c\\u0022\\u0009\\ufffd\u00e9\"}\n");
}
END_TEST

START_TEST(a_long_line_is_cut_and_ends)
{
	char message[1024];

	(void)memset(message, '\n', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	for (enum log_format f = LOG_PLAIN; f <= LOG_AUTO; f++) {
		const char *line = line_as(f, message, message);

		ck_assert_uint_le(strlen(line), 4096);
		ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	}
}
END_TEST

START_TEST(levels_and_forms_have_names)
{
	ck_assert_int_eq(log_parse_level("error"), LOG_ERR);
	ck_assert_int_eq(log_parse_level("debug"), LOG_DEBUG);
	ck_assert_int_eq(log_parse_level("emerg"), -EINVAL);
	ck_assert_int_eq(log_parse_format("auto"), LOG_AUTO);
	ck_assert_int_eq(log_parse_format(""), -EINVAL);
}
END_TEST

static bool is_journal_by(const char *stream)
{
	struct log log;

	(void)setenv("JOURNAL_STREAM", stream, 1);
	log_init(&log, "test", LOG_INFO);
	(void)unsetenv("JOURNAL_STREAM");
	return log.journal;
}

START_TEST(a_log_knows_the_journal_by_its_stream)
{
	char stream[64];
	struct stat st;

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		       (uintmax_t)st.st_ino);
	ck_assert(is_journal_by(stream));
	(void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		       (uintmax_t)st.st_ino + 1);
	ck_assert(!is_journal_by(stream));
	(void)snprintf(stream, sizeof(stream), "%ju", (uintmax_t)st.st_dev);
	ck_assert(!is_journal_by(stream));
	ck_assert(!is_journal_by(""));
}
END_TEST

START_TEST(a_log_leaves_its_name_to_the_journal_of_its_unit)
{
	char stream[64], pid[16], line[64];
	struct stat st;
	struct log log;
	int fds[2];
	ssize_t n;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(fstat(fds[1], &st), 0);
	(void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		       (uintmax_t)st.st_ino);
	(void)setenv("JOURNAL_STREAM", stream, 1);
	for (int child = 0; child < 2; child++) {
		(void)snprintf(pid, sizeof(pid), "%d", (int)getpid() + child);
		(void)setenv("SYSTEMD_EXEC_PID", pid, 1);
		log_init(&log, "test", LOG_INFO);
		log_use(&log, fds[1]);
		log_node(&log, LOG_INFO, "web", "so");
		n = read(fds[0], line, sizeof(line) - 1);
		ck_assert_int_gt(n, 0);
		line[n] = '\0';
		ck_assert_str_eq(line, child ? "<6>test: web: so\n" : "<6>web: so\n");
	}
	(void)unsetenv("JOURNAL_STREAM");
	(void)unsetenv("SYSTEMD_EXEC_PID");
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

START_TEST(a_list_moves_to_the_end_of_another)
{
	struct list to, from, element[5];

	list_init(&to);
	list_init(&from);
	for (int i = 0; i < 5; i++)
		list_append(i < _i ? &to : &from, &element[i]);
	list_move(&to, &from);
	ck_assert(list_is_empty(&from));
	list_move(&to, &from);
	for (int i = 0; i < 5; i++) {
		ck_assert_ptr_eq(to.next, &element[i]);
		list_remove(to.next);
	}
	ck_assert(list_is_empty(&to));
	ck_assert_ptr_eq(to.prev, &to);
}
END_TEST

#define WORDS 300

static const char *word_of(const void *thing)
{
	return thing;
}

START_TEST(a_dictionary_finds_exactly_its_things)
{
	static char words[WORDS][8];
	bool in[WORDS] = { false };
	unsigned seed = (unsigned)_i, n = 0;
	struct dict dict;

	dict_init(&dict, word_of);
	dict_remove(&dict, "none");
	for (int i = 0; i < WORDS; i++)
		(void)snprintf(words[i], sizeof(words[i]), "w%d", i);
	for (int step = 0; step < 3000; step++) {
		int i = rand_r(&seed) % WORDS;

		if (in[i])
			dict_remove(&dict, words[i]);
		else
			ck_assert_int_eq(dict_add(&dict, words[i]), 0);
		n += in[i] ? -1U : 1U;
		in[i] = !in[i];
		ck_assert_uint_eq(dict.n, n);
		for (int j = 0; step % 50 == 0 && j < WORDS; j++)
			ck_assert_ptr_eq(dict_find(&dict, words[j]), in[j] ? words[j] : NULL);
	}
	dict_done(&dict);
	ck_assert_ptr_null(dict_find(&dict, words[0]));
}
END_TEST

START_TEST(an_array_keeps_its_elements_while_it_grows_and_shrinks)
{
	size_t *array = NULL, n = 0;

	for (size_t round = 0; round < 3; round++) {
		while (n < 100 + round) {
			ck_assert_int_eq(array_reserve(array, n), 0);
			array[n] = n;
			n++;
		}
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(array[i], i);
		n = 64 >> round;
	}
	free(array);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_test(tc, numbers_are_parsed_strictly);
	tcase_add_test(tc, durations_have_units);
	tcase_add_test(tc, times_are_parsed);
	tcase_add_test(tc, sizes_have_units_of_1024);
	tcase_add_test(tc, signals_have_names_and_numbers);
	tcase_add_test(tc, words_are_split_as_a_shell_does);
	tcase_add_test(tc, escaped_text_has_no_terminal_controls);
	tcase_add_test(tc, characters_are_recognised_whole);
	tcase_add_test(tc, a_text_has_the_hash_of_fnv_1a);
	tcase_add_test(tc, a_misspelling_finds_the_closest_name);
	tcase_add_test(tc, durations_are_shown_for_users);
	tcase_add_test(tc, a_duration_is_rounded_as_it_is_shown);
	tcase_add_test(tc, a_log_without_a_reader_never_blocks);
	tcase_add_test(tc, a_line_has_the_form_of_its_log);
	tcase_add_test(tc, a_long_line_is_cut_and_ends);
	tcase_add_test(tc, levels_and_forms_have_names);
	tcase_add_test(tc, a_log_knows_the_journal_by_its_stream);
	tcase_add_test(tc, a_log_leaves_its_name_to_the_journal_of_its_unit);
	tcase_add_loop_test(tc, a_list_moves_to_the_end_of_another, 0, 6);
	tcase_add_loop_test(tc, a_dictionary_finds_exactly_its_things, 0, 4);
	tcase_add_test(tc, an_array_keeps_its_elements_while_it_grows_and_shrinks);
	suite_add_tcase(s, tc);
	return s;
}
