/* Sockets of journald, which here are those of the test: its directory takes the place of journald's. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/fixtures/scratch.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/ipc/journal.h"

#define PLACE "/run/systemd/journal/"

int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);

/* The rest of the path is that of a socket in the working directory. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_un here;

	memcpy(&here, address, sizeof(here));
	ck_assert_uint_eq(length, sizeof(here));
	ck_assert_int_eq(here.sun_family, AF_UNIX);
	ck_assert_int_eq(strncmp(here.sun_path, PLACE, strlen(PLACE)), 0);
	memmove(here.sun_path, here.sun_path + strlen(PLACE),
		sizeof(here.sun_path) - strlen(PLACE));
	return __real_connect(fd, (const struct sockaddr *)&here, sizeof(here));
}

static int bind_at(const char *name, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	(void)strcpy(address.sun_path, name);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int listen_at(const char *name, int backlog)
{
	int fd = bind_at(name, SOCK_STREAM);

	ck_assert_int_eq(listen(fd, backlog), 0);
	return fd;
}

static int send_buffer_of(int fd)
{
	socklen_t length = sizeof(int);
	int size;

	ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &length), 0);
	return size;
}

/* The values of systemd's sd-journal: identifier, unit, priority, prefix of a line, and three targets. */
START_TEST(stream_begins_with_the_attributes_of_its_entries)
{
	int listener = listen_at("stdout", 1), fd = journal_open("web/api", 6), journald;
	const char expected[] = "web/api\n\n6\n1\n0\n0\n0\nhello\n";
	char text[64] = "";

	ck_assert_int_ge(fd, 0);
	journald = accept(listener, NULL, NULL);
	ck_assert_int_eq(write(fd, "hello\n", 6), 6);
	ck_assert_int_eq(recv(journald, text, sizeof(text), 0), sizeof(expected) - 1);
	ck_assert_str_eq(text, expected);
	(void)close(journald);
	(void)close(fd);
	(void)close(listener);
}
END_TEST

START_TEST(stream_is_for_a_service_that_writes)
{
	int listener = listen_at("stdout", 1), fd = journal_open("web", 3), journald;
	char byte;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	journald = accept(listener, NULL, NULL);
	ck_assert_int_eq(read(fd, &byte, 1), 0);
	ck_assert_int_lt(send(journald, "x", 1, MSG_NOSIGNAL), 0);
	ck_assert_int_gt(send_buffer_of(fd), send_buffer_of(journald));
	(void)close(journald);
	(void)close(fd);
	(void)close(listener);
}
END_TEST

/* No descriptor remains open. */
START_TEST(journal_that_cannot_be_reached_is_an_error)
{
	unsigned before = spawned_count_descriptors(getpid());
	int listener, first;

	ck_assert_int_eq(journal_open("web", 6), -ENOENT);
	ck_assert_int_eq(journal_open_entries(), -ENOENT);
	(void)close(bind_at("stdout", SOCK_STREAM));
	(void)close(bind_at("socket", SOCK_DGRAM));
	ck_assert_int_eq(journal_open("web", 6), -ECONNREFUSED);
	ck_assert_int_eq(journal_open_entries(), -ECONNREFUSED);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);

	ck_assert_int_eq(unlink("stdout"), 0);
	listener = listen_at("stdout", 0);
	first = journal_open("web", 6);
	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(journal_open("web", 6), -EAGAIN); /* journald is busy */
	(void)close(first);
	(void)close(listener);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
}
END_TEST

START_TEST(identifier_is_never_cut)
{
	int listener = listen_at("stdout", 4), fd;
	unsigned before = spawned_count_descriptors(getpid());
	char name[501];

	memset(name, 'x', sizeof(name));
	name[500] = '\0';
	ck_assert_int_eq(journal_open(name, 6), -EINVAL);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	name[499] = '\0';
	fd = journal_open(name, 6);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	(void)close(listener);
}
END_TEST

START_TEST(entry_is_one_message_that_does_not_block)
{
	int receiver = bind_at("socket", SOCK_DGRAM), fd = journal_open_entries();
	char text[16] = "";

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
	ck_assert_int_eq(write(fd, "MESSAGE=a\n", 10), 10);
	ck_assert_int_eq(write(fd, "MESSAGE=b\n", 10), 10);
	ck_assert_int_eq(recv(receiver, text, sizeof(text), MSG_DONTWAIT), 10);
	ck_assert_str_eq(text, "MESSAGE=a\n");
	(void)close(fd);
	(void)close(receiver);
}
END_TEST

START_TEST(stream_is_named_by_device_and_inode)
{
	char text[JOURNAL_STREAM_MAX], expected[64];
	int fd = bind_at("stdout", SOCK_STREAM);
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	(void)snprintf(expected, sizeof(expected), "%ju:%ju", (uintmax_t)st.st_dev,
		       (uintmax_t)st.st_ino);
	ck_assert_ptr_eq(journal_stream_text(text, fd), text);
	ck_assert_str_eq(text, expected);
	(void)close(fd);
	ck_assert_str_eq(journal_stream_text(text, fd), "");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("journal");
	TCase *tc = tcase_create("journal");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_test(tc, stream_begins_with_the_attributes_of_its_entries);
	tcase_add_test(tc, stream_is_for_a_service_that_writes);
	tcase_add_test(tc, journal_that_cannot_be_reached_is_an_error);
	tcase_add_test(tc, identifier_is_never_cut);
	tcase_add_test(tc, entry_is_one_message_that_does_not_block);
	tcase_add_test(tc, stream_is_named_by_device_and_inode);
	suite_add_tcase(s, tc);
	return s;
}
