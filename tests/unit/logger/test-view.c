#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/fd.h"
#include "tests/unit/logger/play.h"

static int reader = -1;

/* Describes a frame: "name: line", "NOW", "LOST n", "ENDED", "END". */
static struct logger_frame frame;
static char text[65536];

static void read_all(void *data, size_t size)
{
	char *at = data;

	while (size > 0) {
		struct pollfd p = { .fd = reader, .events = POLLIN };

		ck_assert_int_eq(poll(&p, 1, 30000), 1);

		ssize_t n = read(reader, at, size);

		ck_assert_int_gt(n, 0);
		at += n;
		size -= (size_t)n;
	}
}

static void next_frame(void)
{
	read_all(&frame, sizeof(frame));
	ck_assert_uint_lt(frame.size - sizeof(frame), sizeof(text) - 2);
	read_all(text, frame.size - sizeof(frame));
	text[frame.size - sizeof(frame)] = '\0';
	memmove(text + frame.name_length + 2, text + frame.name_length,
		frame.size - sizeof(frame) - frame.name_length + 1);
	memcpy(text + frame.name_length, ": ", 2);
}

static void expect_line(const char *expected)
{
	next_frame();
	ck_assert_int_eq(frame.type, LOGGER_FRAME_LINE);
	ck_assert_str_eq(text, expected);
}

static void expect_frame(enum logger_frame_type type)
{
	next_frame();
	ck_assert_int_eq(frame.type, type);
}

/* The seam of the stream that is added to a reader next. */
static struct logger_seam expect_seam(void)
{
	struct logger_seam seam;

	read_all(&frame, sizeof(frame));
	ck_assert_int_eq(frame.type, LOGGER_FRAME_SEAM);
	ck_assert_uint_eq(frame.size, sizeof(frame) + frame.name_length + sizeof(seam));
	read_all(text, frame.name_length);
	read_all(&seam, sizeof(seam));
	return seam;
}

static void expect_end(void)
{
	struct pollfd p = { .fd = reader, .events = POLLIN };
	char byte;

	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	ck_assert_int_eq(read(reader, &byte, 1), 0);
}

static void open_reader(struct logger_view view, bool is_socket)
{
	struct logger_message m = { .type = LOGGER_VIEW, .view = view };
	int fds[2];

	if (is_socket)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	else
		ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	reader = fds[0];
	ck_assert_int_eq(logger_send(play.control, &m, NULL, NULL, fds[1]), 0);
	(void)close(fds[1]);
}

static void open_view(uint32_t id, bool is_socket)
{
	open_reader((struct logger_view){ .id = id }, is_socket);
}

static void show(uint32_t id, uint32_t stream, uint64_t lines, uint64_t bytes)
{
	struct logger_message m = { .type = LOGGER_SHOW, .stream = stream };

	m.view = (struct logger_view){ .id = id, .lines = lines, .bytes = bytes };
	play_send(&m);
}

static void begin(uint32_t id, bool follow)
{
	struct logger_message m = { .type = LOGGER_BEGIN, .view = { .id = id, .follow = follow } };

	play_send(&m);
}

static void begin_view_test(void)
{
	struct logger_rules rules = { .to = LOGGER_TO_MEMORY, .memory = 65536 };

	play_begin();
	play_add(0, &rules, "a", "");
	play_add(1, &rules, "b", "");
}

static void end_view_test(void)
{
	reader = fd_close(reader);
	play_end();
}

/* Through a socket, and through a pipe. */
START_TEST(a_reader_gets_the_last_lines)
{
	/* A flush is not the end. */
	play_write(0, "one\ntwo\n");
	play_flush(0);
	play_write(0, "three\n");
	while (play_counts(0).came_bytes < strlen("one\ntwo\nthree\n"))
		(void)poll(NULL, 0, 1);
	open_view(1, _i);
	show(1, 0, 2, 0);
	begin(1, false);
	(void)expect_seam();
	expect_line("a: two");
	ck_assert_uint_gt(frame.time_usec, 0);
	expect_line("a: three");
	expect_frame(LOGGER_FRAME_NOW);
	expect_end();
}
END_TEST

START_TEST(a_reader_gets_as_many_bytes_as_it_wants)
{
	play_write(0, "one\ntwo\nthree\n");
	play_flush(0);
	open_view(1, true);
	show(1, 0, 0, 8);
	begin(1, false);
	(void)expect_seam();
	expect_line("a: three");
	expect_frame(LOGGER_FRAME_NOW);
	expect_end();
}
END_TEST

static void expect_text(const char *expected)
{
	char bytes[64] = "";

	read_all(bytes, strlen(expected));
	ck_assert_str_eq(bytes, expected);
}

START_TEST(plain_reader_gets_lines_without_frames)
{
	play_write(0, "one\ntwo\n");
	play_flush(0);
	play_write(1, "three\n");
	play_flush(1);
	open_reader((struct logger_view){ .id = 1, .plain = 1 }, false);
	show(1, 0, 1, 0);
	show(1, 1, 1, 0);
	begin(1, false);
	expect_text("two\nthree\n");
	expect_end();
}
END_TEST

START_TEST(plain_reader_of_nothing_gets_the_end)
{
	open_reader((struct logger_view){ .id = 1, .plain = 1 }, false);
	show(1, 0, 1, 0);
	begin(1, false);
	expect_end();
}
END_TEST

START_TEST(a_reader_that_follows_gets_new_lines)
{

	play_write(0, "old\n");
	play_flush(0);
	open_view(1, true);
	show(1, 0, 10, 0);
	show(1, 1, 10, 0);
	begin(1, true);
	(void)expect_seam();
	(void)expect_seam();
	expect_line("a: old");
	expect_frame(LOGGER_FRAME_NOW);
	play_run(1, 42, 3);
	play_flush(1);
	play_write(1, "new\n");
	expect_line("b: new");
	ck_assert_int_eq(frame.pid, 42);
	ck_assert_uint_eq(frame.generation, 3);
	play_write(0, "newer\n");
	expect_line("a: newer");
	play_remove(0);
	expect_frame(LOGGER_FRAME_ENDED);
	play_write(1, "last\n");
	expect_line("b: last");
}
END_TEST

START_TEST(a_slow_reader_holds_up_no_other_and_gets_the_number_of_lost_lines)
{
	char line[1024];
	uint64_t seen = 0;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	open_view(1, false);
	show(1, 0, 1, 0);
	begin(1, true);
	(void)expect_seam();
	expect_frame(LOGGER_FRAME_NOW);
	for (int i = 0; i < 8192; i++)
		play_write_bytes(0, line, sizeof(line));
	play_flush(0);
	while (seen < 8192 * sizeof(line)) {
		next_frame();
		seen += frame.type == LOGGER_FRAME_LOST ? frame.lost : sizeof(line);
		ck_assert_uint_eq(seen % sizeof(line), 0);
	}
	ck_assert_uint_eq(seen, 8192 * sizeof(line));
}
END_TEST

START_TEST(the_last_lines_outlive_the_logger)
{
	play_write(0, "one\ntwo\n");
	play_flush(0);
	play_kill();
	play_start();
	open_view(1, true);
	show(1, 0, 10, 0);
	begin(1, false);
	(void)expect_seam();
	expect_line("a: one");
	expect_line("a: two");
	expect_frame(LOGGER_FRAME_NOW);
}
END_TEST

START_TEST(the_last_lines_are_limited_by_the_memory)
{
	char line[1024];
	uint64_t n = 0;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 8192; i++)
		play_write_bytes(0, line, sizeof(line));
	play_flush(0);
	open_view(1, true);
	show(1, 0, 0, 0);
	begin(1, false);
	(void)expect_seam();
	for (next_frame(); frame.type == LOGGER_FRAME_LINE; next_frame())
		n += sizeof(line);
	ck_assert_uint_eq(n, 65536);
}
END_TEST

START_TEST(lines_of_several_streams_come_in_the_order_of_time)
{
	char line[8];

	for (int i = 0; i < 8; i++) {
		(void)snprintf(line, sizeof(line), "%d\n", i);
		play_write((uint32_t)i % 2, line);
		play_flush((uint32_t)i % 2);
		/* Lines of one mark have one time. */
		(void)poll(NULL, 0, 2);
	}
	open_view(1, false);
	show(1, 1, 3, 0);
	show(1, 0, 3, 0);
	begin(1, false);
	(void)expect_seam();
	(void)expect_seam();
	for (int i = 2; i < 8; i++) {
		(void)snprintf(line, sizeof(line), "%s: %d", i % 2 ? "b" : "a", i);
		expect_line(line);
	}
	expect_frame(LOGGER_FRAME_NOW);
	expect_end();
}
END_TEST

START_TEST(a_stream_can_be_added_to_a_reader_that_follows)
{
	play_write(1, "before\n");
	play_flush(1);
	open_view(1, false);
	show(1, 0, 10, 0);
	begin(1, true);
	(void)expect_seam();
	expect_frame(LOGGER_FRAME_NOW);
	show(1, 1, 0, UINT64_MAX);
	(void)expect_seam();
	expect_line("b: before");
	play_write(1, "after\n");
	expect_line("b: after");
	ck_assert_uint_eq(frame.position, strlen("before\n"));
}
END_TEST

START_TEST(a_position_is_the_same_for_another_logger)
{
	uint64_t position;

	play_write(0, "one\ntwo\n");
	play_flush(0);
	open_view(1, false);
	show(1, 0, 1, 0);
	begin(1, true);
	(void)expect_seam();
	expect_line("a: two");
	position = frame.position;
	expect_frame(LOGGER_FRAME_NOW);
	play_kill();
	expect_end();
	reader = fd_close(reader);
	play_start();
	open_view(2, false);
	show(2, 0, 0, UINT64_MAX);
	begin(2, true);
	(void)expect_seam();
	expect_line("a: one");
	expect_line("a: two");
	ck_assert_uint_eq(frame.position, position);
}
END_TEST

/* Divides the lines at the seam: those in the file, and later ones. */
static void expect_seam_of(const char *path, uint64_t position)
{
	struct logger_seam seam;
	struct stat st;

	open_view(1, false);
	show(1, 2, 0, 0);
	begin(1, false);
	seam = expect_seam();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(seam.position, position);
	ck_assert_uint_eq(seam.bytes, (uint64_t)st.st_size);
	ck_assert_uint_eq(seam.inode, st.st_ino);
	ck_assert_uint_eq(seam.device, st.st_dev);
	reader = fd_close(reader);
}

START_TEST(the_seam_has_the_position_where_the_file_ends)
{
	struct logger_rules rules = play_file();

	rules.stamp = LOGGER_STAMP_ISO;
	rules.memory = 65536;
	play_add(2, &rules, "c", "c");
	open_view(1, false);
	show(1, 2, 0, 0);
	begin(1, false);
	ck_assert_uint_eq(expect_seam().position, 0);
	reader = fd_close(reader);
	play_write(2, "one\ntwo\n");
	play_flush(2);
	expect_seam_of("c", 8);
	play_kill();
	play_start();
	play_write(2, "three\n");
	play_flush(2);
	expect_seam_of("c", 14);
}
END_TEST

/* --- older lines --- */

static void open_older(uint32_t stream, uint64_t lines)
{
	struct logger_message m = { .type = LOGGER_SHOW, .stream = stream };

	reader = fd_close(reader);
	open_view(1, false);
	m.view = (struct logger_view){ .id = 1, .lines = lines, .older = 1 };
	play_send(&m);
	begin(1, false);
}

/* All frames up to the end, but for the seam: lines as "(line)", the text of files, and "error". */
static const char *read_older(uint32_t stream, uint64_t lines)
{
	static char all[65536];
	size_t at = 0;

	open_older(stream, lines);
	(void)expect_seam();
	for (next_frame(); frame.type != LOGGER_FRAME_NOW; next_frame()) {
		const char *line = text + frame.name_length + 2;
		bool is_older = frame.type == LOGGER_FRAME_OLDER;

		ck_assert(is_older || frame.type == LOGGER_FRAME_LINE);
		at += (size_t)snprintf(all + at, sizeof(all) - at, is_older ? "%s" : "(%s)",
				       is_older && frame.lost ? strerror((int)frame.lost) : line);
	}
	expect_end();
	all[at] = '\0';
	return all;
}

static void write_old(const char *name, const char *data, bool compressed)
{
	char packed[256];
	size_t size = ZSTD_compress(packed, sizeof(packed), data, strlen(data), 1);

	ck_assert(!ZSTD_isError(size));
	write_file(name, compressed ? packed : data, compressed ? size : strlen(data));
}

static void make_old_files(void)
{
	write_old("c.20261122T223105.123456.zst", "1\n2\n", true);
	write_old("c.20261122T223106.123456", "3\n4\n", false);
	/* Its compressed one is complete. */
	write_old("c.20261122T223107.123456", "5\n6\n", false);
	write_old("c.20261122T223107.123456.zst", "5\n6\n", true);
	write_old("c.20261122T223108.123456", "", false);
	write_old("c.1", "of others\n", false);
	write_old("c.20261122T223106.x", "of others\n", false);
	write_old("c", "7\n8\n", false);
}

static void begin_older_test(void)
{
	struct logger_rules rules = play_file();

	begin_view_test();
	make_old_files();
	play_add(2, &rules, "c", "c");
}

START_TEST(older_lines_are_those_of_the_files)
{
	ck_assert_str_eq(read_older(2, 1), "8\n");
	ck_assert_str_eq(read_older(2, 3), "6\n7\n8\n");
	ck_assert_str_eq(read_older(2, 7), "2\n3\n4\n5\n6\n7\n8\n");
	ck_assert_str_eq(read_older(2, 100), "1\n2\n3\n4\n5\n6\n7\n8\n");
}
END_TEST

START_TEST(the_file_is_read_up_to_the_seam)
{
	play_write(2, "9\n");
	play_flush(2);
	ck_assert_str_eq(read_older(2, 1), "(9)");
	ck_assert_str_eq(read_older(2, 2), "(9)8\n9\n");
	write_old("c", "7\n8\n9\nof later\n", false);
	ck_assert_str_eq(read_older(2, 2), "(9)8\n9\n");
	/* As logrotate does. */
	ck_assert_int_eq(rename("c", "c.20261122T223109.123456"), 0);
	write_old("c", "of later\n", false);
	ck_assert_str_eq(read_older(2, 3), "(9)7\n8\n9\n");
	ck_assert_int_eq(rename("c.20261122T223109.123456", "c.2"), 0);
	ck_assert_str_eq(read_older(2, 2), "(9)Stale file handle");
	ck_assert_int_eq(unlink("c"), 0);
	ck_assert_str_eq(read_older(2, 2), "(9)Stale file handle");
}
END_TEST

START_TEST(a_file_without_a_stream_is_read)
{
	struct logger_message m = { .type = LOGGER_SHOW, .stream = LOGGER_ALL };
	char path[128];

	m.view = (struct logger_view){ .id = 1, .lines = 2, .kind = LOGGER_ERROR };
	(void)snprintf(path, sizeof(path), "%s/c", directory);
	open_view(1, false);
	ck_assert_int_eq(logger_send(play.control, &m, "n", path, -1), 0);
	begin(1, false);
	expect_frame(LOGGER_FRAME_OLDER);
	ck_assert_str_eq(text, "n: 7\n8\n");
	ck_assert_uint_eq(frame.kind, LOGGER_ERROR);
	expect_frame(LOGGER_FRAME_NOW);
	expect_end();
	play_send(&m);
	play_wait(LOGGER_REFUSED);
	ck_assert_int_eq(play.packet.message.trouble.error, EBADMSG);
}
END_TEST

START_TEST(a_reader_without_the_wish_gets_no_older_lines)
{
	open_view(1, false);
	show(1, 2, 10, 0);
	begin(1, false);
	(void)expect_seam();
	expect_frame(LOGGER_FRAME_NOW);
	expect_end();
}
END_TEST

/* The process reads no file that another user could have put there: as the one that writes. */
START_TEST(files_that_do_harm_are_refused)
{
	static const char *const expected[] = { "Bad message", "",
						"Too many levels of symbolic links",
						"Operation not supported" };
	const char *name = "c.20261122T223109.123456";

	if (_i == 0)
		write_old("c.20261122T223109.123456.zst", "no frame", false);
	if (_i == 1) /* it ends early */
		write_old("c.20261122T223109.123456.zst", "\x28\xb5\x2f\xfd", false);
	if (_i == 2)
		ck_assert_int_eq(symlink("/etc/passwd", name), 0);
	if (_i == 3)
		ck_assert_int_eq(mkfifo(name, 0600), 0);
	ck_assert_str_eq(read_older(2, 3), _i == 1 ? "6\n7\n8\n" : expected[_i]);
}
END_TEST

/* More than a pipe and the buffer of a reader have room for. */
START_TEST(a_slow_reader_gets_all_older_lines)
{
	struct logger_rules rules = play_file();
	FILE *file = fopen("d", "we");
	char expected[32];
	size_t size = 0;

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 100000; i++)
		(void)fprintf(file, "%08d\n", i);
	(void)fclose(file);
	play_add(3, &rules, "d", "d");
	open_older(3, 90000);
	(void)expect_seam();
	for (next_frame(); frame.type != LOGGER_FRAME_NOW; next_frame()) {
		ck_assert_int_eq(frame.type, LOGGER_FRAME_OLDER);
		(void)snprintf(expected, sizeof(expected), "%08zu\n", 10000 + size / 9);
		ck_assert_int_eq(text[frame.name_length + 2], expected[size % 9]);
		size += frame.size - sizeof(frame) - frame.name_length;
	}
	ck_assert_uint_eq(size, 9 * 90000);
	expect_end();
}
END_TEST

START_TEST(a_reader_can_be_dropped)
{
	struct logger_message leave = { .type = LOGGER_LEAVE, .view = { .id = 1 } };

	open_view(1, false);
	show(1, 0, 10, 0);
	begin(1, true);
	(void)expect_seam();
	expect_frame(LOGGER_FRAME_NOW);
	play_send(&leave);
	expect_end();
}
END_TEST

START_TEST(a_reader_of_no_socket_and_no_pipe_is_refused)
{
	struct logger_message m = { .type = LOGGER_VIEW, .view = { .id = 1 } };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(logger_send(play.control, &m, NULL, NULL, fd), 0);
	play_wait(LOGGER_REFUSED);
	ck_assert_int_eq(play.packet.message.trouble.error, ENOTSUP);
	(void)close(fd);
}
END_TEST

void add_view_tests(Suite *suite)
{
	TCase *t = tcase_create("view");

	tcase_add_checked_fixture(t, begin_view_test, end_view_test);
	tcase_add_loop_test(t, a_reader_gets_the_last_lines, 0, 2);
	tcase_add_test(t, a_reader_gets_as_many_bytes_as_it_wants);
	tcase_add_test(t, plain_reader_gets_lines_without_frames);
	tcase_add_test(t, plain_reader_of_nothing_gets_the_end);
	tcase_add_test(t, a_reader_that_follows_gets_new_lines);
	tcase_add_test(t, a_slow_reader_holds_up_no_other_and_gets_the_number_of_lost_lines);
	tcase_add_test(t, the_last_lines_outlive_the_logger);
	tcase_add_test(t, the_last_lines_are_limited_by_the_memory);
	tcase_add_test(t, lines_of_several_streams_come_in_the_order_of_time);
	tcase_add_test(t, a_stream_can_be_added_to_a_reader_that_follows);
	tcase_add_test(t, a_position_is_the_same_for_another_logger);
	tcase_add_test(t, the_seam_has_the_position_where_the_file_ends);
	tcase_add_test(t, a_reader_can_be_dropped);
	tcase_add_test(t, a_reader_of_no_socket_and_no_pipe_is_refused);
	suite_add_tcase(suite, t);
	t = tcase_create("older");
	tcase_add_checked_fixture(t, begin_older_test, end_view_test);
	tcase_add_test(t, older_lines_are_those_of_the_files);
	tcase_add_test(t, the_file_is_read_up_to_the_seam);
	tcase_add_test(t, a_file_without_a_stream_is_read);
	tcase_add_test(t, a_reader_without_the_wish_gets_no_older_lines);
	tcase_add_loop_test(t, files_that_do_harm_are_refused, 0, 4);
	tcase_add_test(t, a_slow_reader_gets_all_older_lines);
	suite_add_tcase(suite, t);
}
