#include "exporter/http/access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "exporter/http/listen.h"
#include "tests/unit/exporter/test-exporter.h"
#include "tests/unit/fixtures/scratch.h"

START_TEST(a_host_is_an_address_or_an_allowed_name)
{
	static const struct {
		const char *host;
		bool allowed;
	} rows[] = {
		{ NULL, true },
		{ "127.0.0.1", true },
		{ "127.0.0.1:9633", true },
		{ "[::1]", true },
		{ "[fe80::1]:80", true },
		{ "LocalHost:80", true },
		{ "a.example", true },
		{ "A.EXAMPLE:443", true },
		{ "", false },
		{ ":80", false },
		{ "b.example", false },
		{ "a.example.evil", false },
		{ "127.0.0.1.evil", false },
		{ "[::1", false },
		{ "[::1]evil", false },
		{ "localhost@evil", false },
		{ "localhost:", true },
		{ "127.0.0.1:65535", true },
		{ "127.0.0.1:65536", false },
		{ "127.0.0.1:000009", false },
		{ "127.0.0.1:9evil", false },
		{ "127.0.0.1:9.evil.example", false },
		{ "a.example:-1", false },
		{ "a.example:80:80", false },
		{ "[::1]:80]", false },
	};
	const struct access access = { .hosts = { "a.example" }, .n = 1 };
	char longer[1000];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_msg(access_allows_host(&access, rows[i].host) == rows[i].allowed, "%s",
			      rows[i].host);
	/* A name has 255 bytes at most. */
	memset(longer, 'a', 256);
	longer[256] = '\0';
	ck_assert(!access_allows_host(&(struct access){ .hosts = { longer }, .n = 1 }, longer));
	longer[255] = '\0';
	ck_assert(access_allows_host(&(struct access){ .hosts = { longer }, .n = 1 }, longer));
	memset(longer, '1', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert(!access_allows_host(&access, longer));
}
END_TEST

START_TEST(an_origin_is_that_of_the_host)
{
	ck_assert(access_allows_origin(NULL, "a:80"));
	ck_assert(access_allows_origin("http://A:80", "a:80"));
	ck_assert(access_allows_origin("https://a:80", "a:80"));
	ck_assert(!access_allows_origin("http://a", "a:80"));
	ck_assert(!access_allows_origin("http://b:80", "a:80"));
	ck_assert(!access_allows_origin("null", "a:80"));
	ck_assert(!access_allows_origin("http://a:80", NULL));
}
END_TEST

START_TEST(a_page_of_another_site_may_only_link)
{
	ck_assert(access_allows_fetch(NULL, NULL));
	ck_assert(access_allows_fetch("same-origin", "cors"));
	ck_assert(access_allows_fetch("none", "navigate"));
	ck_assert(access_allows_fetch("cross-site", "navigate"));
	ck_assert(!access_allows_fetch("cross-site", "no-cors"));
	ck_assert(!access_allows_fetch("same-site", "no-cors"));
	ck_assert(!access_allows_fetch("same-site", "websocket"));
	ck_assert(!access_allows_fetch("cross-site", NULL));
}
END_TEST

/* --- the socket --- */

static const char *listened(int fd)
{
	static char text[100];
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);
	int listens = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ 4 }), 0);
	ck_assert_int_eq(listens, 1);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	if (address.ss_family == AF_UNIX)
		return strcpy(text, ((struct sockaddr_un *)&address)->sun_path);
	return inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, sizeof(text));
}

/* A port that is free. */
static unsigned find_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &(socklen_t){ sizeof(in) }), 0);
	(void)close(fd);
	return ntohs(in.sin_port);
}

START_TEST(an_address_is_of_a_network_or_a_path)
{
	static const char *const invalid[] = { "",     "9633",	   "127.0.0.1", "127.0.0.1:0",
					       "x:80", "unix:http" };
	char path[100], address[120];
	struct stat st;
	struct log log;
	int fd;

	log_init(&log, "test", -1);
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", find_port());
	fd = listen_open(address, &log);
	ck_assert_str_eq(listened(fd), "127.0.0.1");
	(void)close(fd);
	(void)snprintf(path, sizeof(path), "%s/http", directory);
	(void)snprintf(address, sizeof(address), "unix:%s", path);
	fd = listen_open(address, &log);
	ck_assert_str_eq(listened(fd), path);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	(void)close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		ck_assert_msg(listen_open(invalid[i], &log) == -EINVAL, "%s", invalid[i]);
	/* Below a socket there is no directory. */
	(void)snprintf(address, sizeof(address), "unix:%s/http", path);
	ck_assert_int_lt(listen_open(address, &log), 0);
}
END_TEST

/* It is descriptor 3, which check(3) may have for its own file: nothing is asserted meanwhile. */
static int open_passed(int fd, const char *n, struct log *log)
{
	int saved = dup(3), r;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	(void)setenv("LISTEN_PID", pid, 1);
	(void)setenv("LISTEN_FDS", n, 1);
	(void)dup2(fd, 3);
	r = listen_open("127.0.0.1:0", log);
	saved < 0 ? close(3) : dup2(saved, 3);
	(void)close(saved);
	return r;
}

START_TEST(a_socket_that_was_passed_has_precedence)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "passed" };
	struct log log;

	log_init(&log, "test", -1);
	ck_assert_int_eq(open_passed(fd, "1", &log), -EINVAL);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(open_passed(fd, "1", &log), 3);
	ck_assert_int_eq(open_passed(fd, "2", &log), -EINVAL);
	(void)close(fd);
}
END_TEST

static TCase *listen_tests(void)
{
	TCase *tests = tcase_create("listen");

	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_test(tests, an_address_is_of_a_network_or_a_path);
	tcase_add_test(tests, a_socket_that_was_passed_has_precedence);
	return tests;
}

void add_access_tests(Suite *suite)
{
	TCase *tests = tcase_create("access");

	tcase_add_test(tests, a_host_is_an_address_or_an_allowed_name);
	tcase_add_test(tests, an_origin_is_that_of_the_host);
	tcase_add_test(tests, a_page_of_another_site_may_only_link);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, listen_tests());
}
