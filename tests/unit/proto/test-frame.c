#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"
#include "proto/frame.h"

/* Feeds @n bytes in pieces of at most @piece, and writes a line for each message to @log. */
static void read_in_pieces(struct frame_reader *reader, const char *bytes, size_t n, size_t piece,
			   FILE *log)
{
	const char *text;
	size_t length;
	int r = 0;

	while (n && r == 0) {
		char *space;
		size_t size;

		r = frame_reader_space(reader, &space, &size);
		if (r < 0)
			break;
		size = MIN(size, piece);
		size = MIN(size, n);
		ck_assert_uint_gt(size, 0);
		memcpy(space, bytes, size);
		frame_reader_commit(reader, size);
		bytes += size;
		n -= size;
		while ((r = frame_next(reader, &text, &length)) > 0) {
			ck_assert_uint_eq(strlen(text), length);
			fprintf(log, "%zu:%s\n", length, text);
		}
	}
	fprintf(log, "end %d\n", r);
}

static char *transcript(const char *bytes, size_t n, size_t piece, size_t cap)
{
	struct frame_reader reader;
	char *text = NULL;
	size_t size;
	FILE *log = open_memstream(&text, &size);

	frame_reader_init(&reader, cap);
	read_in_pieces(&reader, bytes, n, piece, log);
	fprintf(log, "pending %zu\n", frame_reader_pending(&reader));
	frame_reader_done(&reader);
	fclose(log);
	return text;
}

static const char stream[] = "{}\0\0{\"method\":\"a.b\"}\0x\0\0\0unfinished";

START_TEST(the_division_into_packets_has_no_effect)
{
	char *whole = transcript(stream, sizeof(stream) - 1, SIZE_MAX, 64);

	ck_assert_str_eq(whole,
			 "2:{}\n0:\n16:{\"method\":\"a.b\"}\n1:x\n0:\n0:\nend 0\npending 10\n");
	for (size_t piece = 1; piece < sizeof(stream); piece++) {
		char *parts = transcript(stream, sizeof(stream) - 1, piece, 64);

		ck_assert_str_eq(parts, whole);
		free(parts);
	}
	free(whole);
}
END_TEST

/* Also with a cap that is exceeded: the messages before are delivered in every case. */
START_TEST(the_cap_does_not_depend_on_packets)
{
	for (size_t cap = 1; cap < 24; cap++) {
		char *bytewise = transcript(stream, sizeof(stream) - 1, 1, cap);

		for (size_t piece = 2; piece < sizeof(stream); piece++) {
			char *parts = transcript(stream, sizeof(stream) - 1, piece, cap);
			size_t same = (size_t)(strstr(bytewise, "pending") - bytewise);

			ck_assert_msg(strncmp(parts, bytewise, same) == 0,
				      "cap %zu, pieces of %zu:\n%s\n%s", cap, piece, parts,
				      bytewise);
			free(parts);
		}
		free(bytewise);
	}
}
END_TEST

START_TEST(a_message_fits_its_cap_with_its_nul)
{
	char *text = transcript("1234567", 8, 3, 8);

	ck_assert_str_eq(text, "7:1234567\nend 0\npending 0\n");
	free(text);
	text = transcript("12345678", 9, 3, 8);
	ck_assert_ptr_nonnull(strstr(text, "end -90\n"));
	free(text);
}
END_TEST

START_TEST(a_message_too_long_stays_too_long)
{
	struct frame_reader reader;
	const char *text;
	char *space;
	size_t size;

	frame_reader_init(&reader, 4);
	ck_assert_int_eq(frame_reader_space(&reader, &space, &size), 0);
	ck_assert_uint_eq(size, 4);
	memcpy(space, "abcd", 4);
	frame_reader_commit(&reader, 4);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(frame_next(&reader, &text, NULL), -EMSGSIZE);
		ck_assert_int_eq(frame_reader_space(&reader, &space, &size), -EMSGSIZE);
	}
	frame_reader_done(&reader);
	ck_assert_uint_eq(frame_reader_pending(&reader), 0);
}
END_TEST

START_TEST(a_reader_grows_to_its_cap_and_no_further)
{
	enum { CAP = 10000 };
	struct frame_reader reader;
	const char *text;
	size_t total = 0;

	frame_reader_init(&reader, CAP);
	for (;;) {
		char *space;
		size_t size;

		if (frame_reader_space(&reader, &space, &size) < 0)
			break;
		memset(space, 'x', size);
		frame_reader_commit(&reader, size);
		total += size;
		ck_assert_int_eq(frame_next(&reader, &text, NULL), total == CAP ? -EMSGSIZE : 0);
	}
	ck_assert_uint_eq(total, CAP);
	frame_reader_done(&reader);
}
END_TEST

START_TEST(a_writer_refuses_a_message_beyond_its_cap_and_keeps_the_others)
{
	struct frame_writer writer;
	char got[16];
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	frame_writer_init(&writer, 8);
	ck_assert_int_eq(frame_writer_add(&writer, "abc"), 0);
	ck_assert_int_eq(frame_writer_add(&writer, "defg"), -ENOBUFS);
	ck_assert_int_eq(frame_writer_add(&writer, ""), 0);
	ck_assert_int_eq(frame_writer_add(&writer, "hi"), 0);
	ck_assert_int_eq(frame_writer_add(&writer, ""), -ENOBUFS);
	ck_assert_uint_eq(frame_writer_pending(&writer), 8);
	ck_assert_int_eq(frame_writer_send(&writer, fds[0]), 1);
	ck_assert_int_eq(recv(fds[1], got, sizeof(got), 0), 8);
	ck_assert_mem_eq(got, "abc\0\0hi", 8);
	ck_assert_int_eq(frame_writer_add(&writer, "defghij"), 0);
	frame_writer_done(&writer);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* Through a socket that takes little at a time, to a reader that is drained now and then. */
START_TEST(partial_sends_lose_nothing)
{
	enum { MESSAGES = 400, CAP = 1 << 20 };
	struct frame_writer writer;
	struct frame_reader reader;
	char message[2000];
	int fds[2], small = 4096;
	int received = 0, r;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	frame_writer_init(&writer, CAP);
	frame_reader_init(&reader, sizeof(message));
	for (int i = 0; i < MESSAGES; i++) {
		memset(message, 'a' + i % 26, (size_t)i * 4);
		message[i * 4] = '\0';
		ck_assert_int_eq(frame_writer_add(&writer, message), 0);
	}
	do {
		const char *text;
		char *space;
		size_t size, length;
		ssize_t n;

		r = frame_writer_send(&writer, fds[0]);
		ck_assert_int_ge(r, 0);
		ck_assert_int_eq(frame_reader_space(&reader, &space, &size), 0);
		n = recv(fds[1], space, size, MSG_DONTWAIT);
		ck_assert_int_gt(n, 0);
		frame_reader_commit(&reader, (size_t)n);
		while (frame_next(&reader, &text, &length) > 0) {
			ck_assert_uint_eq(length, (size_t)received * 4);
			ck_assert(!length ||
				  (text[0] == 'a' + received % 26 && text[length - 1] == text[0]));
			received++;
		}
	} while (received < MESSAGES);
	ck_assert_int_eq(r, 1);
	frame_reader_done(&reader);
	frame_writer_done(&writer);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(a_closed_socket_is_an_error_and_no_signal)
{
	struct frame_writer writer;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	close(fds[1]);
	frame_writer_init(&writer, 64);
	ck_assert_int_eq(frame_writer_add(&writer, "{}"), 0);
	ck_assert_int_eq(frame_writer_send(&writer, fds[0]), -EPIPE);
	frame_writer_done(&writer);
	close(fds[0]);
}
END_TEST

START_TEST(a_descriptor_goes_with_one_message)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 2)];
	} control;
	char text[16], byte = 'x';
	struct iovec iov = { .iov_base = text, .iov_len = sizeof(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct frame_writer writer;
	int fds[2], ends[2], passed;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(pipe(ends), 0);
	(void)signal(SIGPIPE, SIG_IGN);
	frame_writer_init(&writer, 64);
	frame_writer_pass(&writer, ends[0]);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(frame_writer_add(&writer, "{}"), 0);
		ck_assert_int_eq(frame_writer_send(&writer, fds[0]), 1);
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		ck_assert_int_eq(recvmsg(fds[1], &msg, 0), 3);
		ck_assert(i == 0 ? CMSG_FIRSTHDR(&msg) != NULL : CMSG_FIRSTHDR(&msg) == NULL);
		if (i == 0)
			memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(passed));
	}
	/* The writer's own is closed: it is the only one. */
	ck_assert_int_eq(write(ends[1], &byte, 1), 1);
	ck_assert_int_eq(read(passed, &byte, 1), 1);
	close(passed);
	ck_assert_int_eq(write(ends[1], &byte, 1), -1);
	ck_assert_int_eq(errno, EPIPE);
	/* A descriptor that was not sent is closed, too. */
	frame_writer_pass(&writer, ends[1]);
	frame_writer_done(&writer);
	ck_assert_int_eq(close(ends[1]), -1);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("frame");
	TCase *tc = tcase_create("frame");

	tcase_add_test(tc, the_division_into_packets_has_no_effect);
	tcase_add_test(tc, the_cap_does_not_depend_on_packets);
	tcase_add_test(tc, a_message_fits_its_cap_with_its_nul);
	tcase_add_test(tc, a_message_too_long_stays_too_long);
	tcase_add_test(tc, a_reader_grows_to_its_cap_and_no_further);
	tcase_add_test(tc, a_writer_refuses_a_message_beyond_its_cap_and_keeps_the_others);
	tcase_add_test(tc, partial_sends_lose_nothing);
	tcase_add_test(tc, a_descriptor_goes_with_one_message);
	tcase_add_test(tc, a_closed_socket_is_an_error_and_no_signal);
	suite_add_tcase(s, tc);
	return s;
}
