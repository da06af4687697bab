#include "exporter/http/access.h"

#include <string.h>

#include "tests/unit/exporter/test-exporter.h"

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

TCase *access_tests(void)
{
	TCase *tests = tcase_create("access");

	tcase_add_test(tests, a_host_is_an_address_or_an_allowed_name);
	tcase_add_test(tests, an_origin_is_that_of_the_host);
	tcase_add_test(tests, a_page_of_another_site_may_only_link);
	return tests;
}
