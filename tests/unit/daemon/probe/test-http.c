#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "daemon/probe/attempt.h"

START_TEST(a_status_is_read)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\n", 200 },
		{ "HTTP/1.0 204 No Content\r\n", 204 },
		{ "HTTP/1.1 302 Found\r\n", 302 },
		{ "HTTP/1.1 599 x\r\n", 599 },
		{ "HTTP/1.1 100 Continue\r\n", 100 },
		{ "HTTP/1.1 200\r\n", 200 },
		{ "HTTP/1.1 503\n", 503 },
		{ "HTTP/1.1 200 ", 200 },
		{ "HTTP/1.1 2000 x", -EBADMSG },
		{ "HTTP/1.1 099 x", -EBADMSG },
		{ "HTTP/1.1 600 x", -EBADMSG },
		{ "HTTP/2 200 OK\r\n", -EBADMSG },
		{ "http/1.1 200 OK", -EBADMSG },
		{ "HTTP/1.1  200 OK", -EBADMSG },
		{ "HTTP/1.1 2x0 OK", -EBADMSG },
		{ "<html>", -EBADMSG },
		{ "\r\nHTTP/1.1 200", -EBADMSG },
		{ "220 smtp\r\n", -EBADMSG },
	};

	ck_assert_int_eq(http_status(rows[_i].text, strlen(rows[_i].text)), rows[_i].status);
}
END_TEST

START_TEST(incomplete_reply_is_not_judged)
{
	static const char text[] = "HTTP/1.1 200 OK";

	for (size_t n = 0; n < HTTP_STATUS_LENGTH; n++)
		ck_assert_int_eq(http_status(text, n), -EAGAIN);
	ck_assert_int_eq(http_status(text, HTTP_STATUS_LENGTH), 200);
}
END_TEST

/* Every text has a status or is refused; a refused text stays refused when it grows. */
START_TEST(any_bytes_are_a_status_or_refused)
{
	static const char alphabet[] = "HTP/1.0 2359\r\n\0x";
	char text[16];

	srandom(20261121);
	for (unsigned round = 0; round < 20000; round++) {
		int last = -EAGAIN;

		memcpy(text, "HTTP/1.1 200 OK\r", sizeof(text));
		for (unsigned n = (unsigned)random() % 4; n; n--)
			text[random() % (long)sizeof(text)] =
				alphabet[random() % (long)sizeof(alphabet)];
		for (size_t length = 0; length <= sizeof(text); length++) {
			int status = http_status(text, length);

			ck_assert(status == -EAGAIN || status == -EBADMSG ||
				  (status >= 100 && status <= 599));
			ck_assert(last == -EAGAIN || status == last);
			last = status;
		}
		ck_assert_int_ne(last, -EAGAIN);
	}
}
END_TEST

static void request_is(const char *url, const char *line, const char *host)
{
	cleanup(freep) char *request = NULL;
	size_t length;

	ck_assert_int_eq(http_request(url, &request, &length), 0);
	ck_assert_uint_eq(length, strlen(request));
	ck_assert_ptr_eq(strstr(request, line), request);
	ck_assert_ptr_nonnull(strstr(request, host));
	ck_assert_str_eq(request + length - 4, "\r\n\r\n");
}

START_TEST(a_request_has_path_and_host)
{
	request_is("127.0.0.1:80", "GET / HTTP/1.1\r\n", "\r\nHost: 127.0.0.1:80\r\n");
	request_is("[::1]:8080/a/b?c=%20", "GET /a/b?c=%20 HTTP/1.1\r\n",
		   "\r\nHost: [::1]:8080\r\n");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("daemon-http");
	TCase *tc = tcase_create("http");

	tcase_add_loop_test(tc, a_status_is_read, 0, 18);
	tcase_add_test(tc, incomplete_reply_is_not_judged);
	tcase_add_test(tc, any_bytes_are_a_status_or_refused);
	tcase_add_test(tc, a_request_has_path_and_host);
	suite_add_tcase(suite, tc);
	return suite;
}
