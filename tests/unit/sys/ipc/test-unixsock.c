/* Listening at a path: mode and group, peers, and stale sockets. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/ipc/unixsock.h"

#define ANY_GROUP ((gid_t)-1)

static char scratch[64];

static void setup(void)
{
	(void)snprintf(scratch, sizeof(scratch), "/tmp/test-unixsock.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
}

static void teardown(void)
{
	static const char *const made[] = { "socket", "socket.lock", "other" };

	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		(void)unlink(made[i]);
	ck_assert_int_eq(rmdir(scratch), 0);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return address;
}

/* A socket of another program at @path. */
static int bind_foreign(const char *path, int type)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(lstat(path, &st), 0);
	return st.st_mode;
}

START_TEST(the_socket_gets_its_mode)
{
	static const mode_t modes[] = { 0600, 0660, 0666, 0777, 0 },
			    umasks[] = { 0, 022, 077, 0777 };
	struct unix_listener l;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		for (size_t k = 0; k < ARRAY_SIZE(umasks); k++) {
			(void)umask(umasks[k]);
			ck_assert_int_eq(unix_listen(&l, "socket", modes[i], ANY_GROUP), 0);
			ck_assert_uint_eq(mode_of("socket"), S_IFSOCK | modes[i]);
			ck_assert_uint_eq(umask(0), umasks[k]);
			unix_unlisten(&l);
		}
}
END_TEST

/* The test's own group: no right is needed to change to it. */
START_TEST(the_socket_gets_its_group)
{
	struct unix_listener l;
	struct stat st;

	ck_assert_int_eq(unix_listen(&l, "socket", 0660, getegid()), 0);
	ck_assert_int_eq(lstat("socket", &st), 0);
	ck_assert_uint_eq(st.st_gid, getegid());
	unix_unlisten(&l);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(unix_listen(&l, "socket", 0660, 23456), 0);
	ck_assert_int_eq(lstat("socket", &st), 0);
	ck_assert_uint_eq(st.st_gid, 23456);
	unix_unlisten(&l);
}
END_TEST

START_TEST(the_peer_of_a_connection_is_known)
{
	struct unix_listener l;
	struct ucred peer = { 0 };
	int client, server;

	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), 0);
	ck_assert_int_eq(fcntl(l.fd, F_GETFD), FD_CLOEXEC);
	ck_assert(fcntl(l.fd, F_GETFL) & O_NONBLOCK);
	ck_assert_int_lt(accept(l.fd, NULL, NULL), 0);
	client = connect_to("socket");
	server = accept(l.fd, NULL, NULL);
	ck_assert_int_eq(unix_peer(server, &peer), 0);
	ck_assert_int_eq(peer.pid, getpid());
	ck_assert_uint_eq(peer.uid, geteuid());
	ck_assert_uint_eq(peer.gid, getegid());
	ck_assert(unix_peer_in_group(server, getegid()));
	ck_assert(!unix_peer_in_group(server, 4000000000u));
	(void)close(client);
	(void)close(server);
	unix_unlisten(&l);
}
END_TEST

START_TEST(a_path_has_one_listener)
{
	struct unix_listener first, second = { .fd = -7 };
	unsigned descriptors;

	ck_assert_int_eq(unix_listen(&first, "socket", 0600, ANY_GROUP), 0);
	descriptors = spawned_count_descriptors(getpid());
	ck_assert_int_eq(unix_listen(&second, "socket", 0600, ANY_GROUP), -EADDRINUSE);
	ck_assert_int_eq(second.fd, -7);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), descriptors);
	(void)close(connect_to("socket")); /* the first one is as it was */
	unix_unlisten(&first);
	ck_assert_int_lt(access("socket", F_OK), 0);
	ck_assert_int_eq(unix_listen(&second, "socket", 0600, ANY_GROUP), 0);
	unix_unlisten(&second);
	unix_unlisten(&second); /* harmless */
}
END_TEST

START_TEST(a_lock_keeps_other_listeners_away)
{
	int lock = open("socket.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct unix_listener l;

	ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), -EADDRINUSE);
	(void)close(lock);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), 0);
	unix_unlisten(&l);
}
END_TEST

/* As after a daemon that was killed. */
START_TEST(a_stale_socket_is_replaced)
{
	struct unix_listener l;

	(void)close(bind_foreign("socket", SOCK_STREAM));
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), 0);
	(void)close(connect_to("socket"));
	unix_unlisten(&l);
}
END_TEST

/* The other process has no lock, and perhaps another protocol. */
START_TEST(a_live_socket_is_not_replaced)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	struct unix_listener l;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		int fd = bind_foreign("socket", types[i]);

		if (types[i] != SOCK_DGRAM)
			ck_assert_int_eq(listen(fd, 0), 0);
		/* The second time its queue is full. */
		for (int k = 0; k < 2; k++) {
			ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), -EADDRINUSE);
			ck_assert(S_ISSOCK(mode_of("socket")));
		}
		(void)close(fd);
		(void)unlink("socket");
	}
}
END_TEST

START_TEST(only_sockets_are_replaced)
{
	struct unix_listener l;
	int fd = open("socket", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, "mine", 4), 4);
	(void)close(fd);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), -EEXIST);
	ck_assert(S_ISREG(mode_of("socket")));
	ck_assert_int_eq(unlink("socket"), 0);

	/* Not even through a link. */
	(void)close(bind_foreign("other", SOCK_STREAM));
	ck_assert_int_eq(symlink("other", "socket"), 0);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), -EEXIST);
	ck_assert(S_ISLNK(mode_of("socket")));
	ck_assert(S_ISSOCK(mode_of("other")));
}
END_TEST

START_TEST(a_lock_that_is_no_file_is_refused)
{
	struct unix_listener l;

	ck_assert_int_eq(symlink("other", "socket.lock"), 0);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), -ELOOP);
	ck_assert_int_lt(access("other", F_OK), 0);
	ck_assert_int_eq(unlink("socket.lock"), 0);
	ck_assert_int_eq(mkfifo("socket.lock", 0600), 0);
	ck_assert_int_lt(unix_listen(&l, "socket", 0600, ANY_GROUP), 0);
	ck_assert_int_lt(access("socket", F_OK), 0);
}
END_TEST

/* The socket comes to its path by a rename, when it listens already. */
START_TEST(path_never_leads_to_a_socket_that_does_not_listen)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const struct inotify_event *event;
	struct unix_listener l;
	int moved = 0;
	ssize_t n;

	ck_assert_int_ge(inotify_add_watch(watch, ".", IN_CREATE | IN_MOVED_TO), 0);
	ck_assert_int_eq(unix_listen(&l, "socket", 0600, ANY_GROUP), 0);
	n = read(watch, buf, sizeof(buf));
	ck_assert_int_gt(n, 0);
	for (char *at = buf; at < buf + n; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)at;
		if (strcmp(event->name, "socket") == 0) {
			ck_assert_uint_eq(event->mask, IN_MOVED_TO);
			moved++;
		}
	}
	ck_assert_int_eq(moved, 1);
	ck_assert_int_lt(access("socket~", F_OK), 0);
	(void)close(watch);
	unix_unlisten(&l);
}
END_TEST

/* A path that leaves no room for another name, and the one that is a byte shorter. */
START_TEST(path_of_any_length_is_served)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)], lock[256];
	struct unix_listener l;

	for (size_t length = sizeof(path) - 3; length < sizeof(path); length++) {
		memset(path, 'x', sizeof(path));
		path[length] = '\0';
		ck_assert_int_eq(unix_listen(&l, path, 0600, ANY_GROUP), 0);
		(void)close(connect_to(path));
		unix_unlisten(&l);
		ck_assert_int_lt(access(path, F_OK), 0);
		(void)snprintf(lock, sizeof(lock), "%s.lock", path);
		ck_assert_int_eq(unlink(lock), 0);
	}
}
END_TEST

START_TEST(socket_is_removed_if_it_is_still_the_same)
{
	int fd = unix_bind("socket", SOCK_STREAM, 0640, (uid_t)-1, ANY_GROUP);
	struct stat st, other;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	ck_assert_uint_eq(mode_of("socket"), S_IFSOCK | 0640);
	ck_assert_int_eq(lstat("socket", &st), 0);
	(void)close(bind_foreign("other", SOCK_STREAM));
	ck_assert_int_eq(lstat("other", &other), 0);
	unix_remove("other", st.st_dev, st.st_ino);
	unix_remove("socket", other.st_dev + 1, st.st_ino);
	ck_assert(S_ISSOCK(mode_of("other")) && S_ISSOCK(mode_of("socket")));
	unix_remove("socket", st.st_dev, st.st_ino);
	ck_assert_int_lt(access("socket", F_OK), 0);
	unix_remove("socket", st.st_dev, st.st_ino); /* harmless */
	(void)close(fd);
}
END_TEST

START_TEST(socket_is_given_to_its_owner)
{
	struct stat st;
	int fd;

	if (geteuid() != 0) {
		(void)puts("# SKIP machine: not root");
		return;
	}
	fd = unix_bind("socket", SOCK_DGRAM | SOCK_NONBLOCK, 0600, 23456, 23457);
	ck_assert_int_ge(fd, 0);
	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
	ck_assert_int_eq(lstat("socket", &st), 0);
	ck_assert_uint_eq(st.st_uid, 23456);
	ck_assert_uint_eq(st.st_gid, 23457);
	(void)close(fd);
}
END_TEST

/* A program may be started without a standard input: it is a directory, the lock or the socket in turn. */
START_TEST(descriptor_0_is_as_good_as_any_other)
{
	static const char *const paths[] = { "socket", "folder/socket" };
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100), fds[2];
	struct unix_listener l;
	char name[UNIX_NAME_MAX];

	ck_assert_int_eq(mkdir("folder", 0700), 0);
	for (int i = 0; i < 4; i++) {
		(void)close(STDIN_FILENO);
		ck_assert_int_eq(unix_listen(&l, paths[i % 2], 0600, ANY_GROUP), 0);
		unix_unlisten(&l);
		ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
		for (int k = 0; k < 2; k++) { /* the second time it is stale */
			int fd = unix_bind(paths[i % 2], SOCK_STREAM, 0600, (uid_t)-1, ANY_GROUP);

			ck_assert_int_ge(fd, 0);
			(void)close(fd);
		}
	}
	ck_assert_int_eq(system("rm -r folder"), 0);
	(void)close(STDIN_FILENO);
	ck_assert_int_eq(unix_datagram_new(name), STDIN_FILENO);
	unix_close(STDIN_FILENO);
	ck_assert_int_eq(unix_pair(fds), 0);
	ck_assert_int_eq(fds[0], STDIN_FILENO);
	unix_close(fds[0]);
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	(void)close(fds[1]);
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	(void)close(input);
}
END_TEST

START_TEST(a_path_is_never_truncated)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	struct unix_listener l;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(unix_listen(&l, path, 0600, ANY_GROUP), -ENAMETOOLONG);
	ck_assert_int_eq(unix_listen(&l, "no/such/directory", 0600, ANY_GROUP), -ENOENT);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("unixsock");
	TCase *tc = tcase_create("unixsock");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_socket_gets_its_mode);
	tcase_add_test(tc, the_socket_gets_its_group);
	tcase_add_test(tc, the_peer_of_a_connection_is_known);
	tcase_add_test(tc, a_path_has_one_listener);
	tcase_add_test(tc, a_lock_keeps_other_listeners_away);
	tcase_add_test(tc, a_stale_socket_is_replaced);
	tcase_add_test(tc, a_live_socket_is_not_replaced);
	tcase_add_test(tc, only_sockets_are_replaced);
	tcase_add_test(tc, a_lock_that_is_no_file_is_refused);
	tcase_add_test(tc, path_never_leads_to_a_socket_that_does_not_listen);
	tcase_add_test(tc, path_of_any_length_is_served);
	tcase_add_test(tc, socket_is_removed_if_it_is_still_the_same);
	tcase_add_test(tc, socket_is_given_to_its_owner);
	tcase_add_test(tc, descriptor_0_is_as_good_as_any_other);
	tcase_add_test(tc, a_path_is_never_truncated);
	suite_add_tcase(s, tc);
	return s;
}
