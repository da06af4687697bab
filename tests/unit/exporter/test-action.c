#include "exporter/http/action.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/exporter/test-exporter.h"

START_TEST(a_body_names_an_action_and_a_node)
{
	static const struct {
		const char *body;
		enum interface_method method; /* N_METHODS: refused */
	} rows[] = {
		{ "{\"action\":\"start\",\"node\":\"a\"}", METHOD_START },
		{ "{\"action\":\"stop\",\"node\":\"\\\"\\n\"}", METHOD_STOP },
		{ "{\"node\":\"a\",\"action\":\"restart\",\"x\":1}", METHOD_RESTART },
		{ "{\"action\":\"shutdown\",\"node\":\"\"}", METHOD_SHUTDOWN },
		{ "{\"action\":\"extend\",\"node\":\"a\"}", METHOD_SHUTDOWN },
		{ "{\"action\":\"reload\",\"node\":\"a\"}", N_METHODS },
		{ "{\"action\":\"start\"}", N_METHODS },
		{ "{\"action\":\"start\",\"node\":7}", N_METHODS },
		{ "{\"action\":\"start\",\"node\":\"a\",\"node\":\"b\"}", N_METHODS },
		{ "{\"action\":\"start\",\"node\":\"a\"}x", N_METHODS },
		{ "{\"action\":\"start\",\"node\":\"a", N_METHODS },
		{ "[]", N_METHODS },
		{ "action=start&node=a", N_METHODS },
		{ "", N_METHODS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum interface_method method = N_METHODS;
		const char *fault;
		json_t *parameters =
			action_parse(rows[i].body, strlen(rows[i].body), &method, &fault);

		ck_assert_int_eq(method, rows[i].method);
		ck_assert_int_eq(!parameters, method == N_METHODS);
		ck_assert(parameters || strstr(fault, "expected"));
		ck_assert(!parameters || json_is_false(json_object_get(parameters, "wait")));
		json_decref(parameters);
	}
}
END_TEST

START_TEST(a_shutdown_under_way_is_changed_and_none_is_begun)
{
	static const struct {
		const char *action, *parameters;
	} rows[] = {
		{ "extend", "{\"node\": \"\", \"wait\": false, \"extend_usec\": 300000000}" },
		{ "hold", "{\"node\": \"\", \"wait\": false, \"hold\": true}" },
		{ "release", "{\"node\": \"\", \"wait\": false, \"hold\": false}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum interface_method method;
		const char *fault;
		char body[100];
		int n = snprintf(body, sizeof(body), "{\"action\":\"%s\",\"node\":\"\"}",
				 rows[i].action);
		json_t *parameters = action_parse(body, (size_t)n, &method, &fault);
		char *text = json_dumps(parameters, JSON_PRESERVE_ORDER);

		ck_assert_str_eq(text, rows[i].parameters);
		free(text);
		json_decref(parameters);
	}
}
END_TEST

static char path[] = "/tmp/token-XXXXXX";
static struct log quiet;

static void write_token(const char *text, size_t size, mode_t mode)
{
	int fd;

	/* The former one may be closed to its owner. */
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, mode);
	ck_assert_int_eq(write(fd, text, size), (ssize_t)size);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void setup(void)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	log_init(&quiet, "test", -1);
}

static void teardown(void)
{
	(void)unlink(path);
}

#define TOKEN "0123456789abcdef"

START_TEST(a_token_is_private_and_long_enough)
{
	static char longest[TOKEN_MAX + 1];
	static const struct {
		const char *text;
		mode_t mode;
		bool usable;
	} rows[] = {
		{ TOKEN, 0600, true },	       { TOKEN "\n", 0640, true },
		{ TOKEN "\n\n", 0400, true },  { TOKEN, 0644, false },
		{ TOKEN, 0604, false },	       { TOKEN, 0660, false },
		{ "", 0600, false },	       { "0123456789abcde", 0600, false },
		{ "\n", 0600, false },	       { TOKEN " x", 0600, false },
		{ TOKEN "\r\n", 0600, false }, { TOKEN "\xc3\xa4", 0600, false },
		{ longest, 0600, false },      { "!abcdefghijklmn~", 0600, true },
	};

	memset(longest, 'x', TOKEN_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct token token;

		write_token(rows[i].text, strlen(rows[i].text), rows[i].mode);
		ck_assert_msg(token_init(&token, path, &quiet) == rows[i].usable, "row %zu", i);
		ck_assert(rows[i].usable || !token_allows(&token, "Bearer " TOKEN, "x"));
		ck_assert(rows[i].usable || !token_allows(&token, "Bearer ", "x"));
	}
}
END_TEST

START_TEST(a_zero_does_not_shorten_a_token)
{
	struct token token;

	write_token(TOKEN "\0secret", strlen(TOKEN) + 7, 0600);
	ck_assert(!token_init(&token, path, &quiet));
}
END_TEST

START_TEST(only_the_whole_token_is_allowed)
{
	static const char *const wrong[] = {
		NULL,
		"",
		"Bearer",
		"Bearer ",
		"Bearer 0123456789abcde",
		"Bearer 0123456789abcdeF",
		"Bearer 0123456789abcdef0",
		"Bearer  0123456789abcdef",
		"Basic 0123456789abcdef",
		TOKEN,
	};
	char longer[2 * TOKEN_MAX] = "Bearer " TOKEN;
	struct token token;

	write_token(TOKEN, strlen(TOKEN), 0600);
	ck_assert(token_init(&token, path, &quiet));
	ck_assert(token_allows(&token, "Bearer " TOKEN, "x"));
	ck_assert(token_allows(&token, "bearer " TOKEN, "x"));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_msg(!token_allows(&token, wrong[i], "x"), "%s", wrong[i]);
	memset(longer + strlen(longer), 'x', sizeof(longer) - strlen(longer) - 1);
	ck_assert(!token_allows(&token, longer, "x"));
}
END_TEST

START_TEST(a_token_that_is_replaced_is_read_again)
{
	struct token token;

	write_token(TOKEN, strlen(TOKEN), 0600);
	ck_assert(token_init(&token, path, &quiet));
	write_token(TOKEN "0", strlen(TOKEN) + 1, 0600);
	ck_assert(!token_allows(&token, "Bearer " TOKEN, "x"));
	ck_assert(token_allows(&token, "Bearer " TOKEN "0", "x"));
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert(!token_allows(&token, "Bearer " TOKEN "0", "x"));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!token_allows(&token, "Bearer " TOKEN "0", "x"));
	ck_assert(!token_allows(&token, "Bearer ", "x"));
	write_token(TOKEN, strlen(TOKEN), 0600);
	ck_assert(token_allows(&token, "Bearer " TOKEN, "x"));
}
END_TEST

/* A reason is logged when the file is read. */
START_TEST(a_token_is_read_again_only_if_the_file_has_changed)
{
	struct log log;
	struct token token;
	off_t once;

	log_init(&log, "test", LOG_ERR);
	log.fd = memfd_create("log", MFD_CLOEXEC);
	write_token("short", 5, 0600);
	ck_assert(!token_init(&token, path, &log));
	once = lseek(log.fd, 0, SEEK_CUR);
	ck_assert_int_gt(once, 0);
	for (size_t i = 0; i < 3; i++)
		ck_assert(!token_allows(&token, NULL, "x"));
	ck_assert_int_eq(lseek(log.fd, 0, SEEK_CUR), once);
	write_token("other", 5, 0600);
	ck_assert(!token_allows(&token, NULL, "x"));
	ck_assert_int_eq(lseek(log.fd, 0, SEEK_CUR), 2 * once);
	(void)close(log.fd);
}
END_TEST

TCase *action_tests(void)
{
	TCase *tests = tcase_create("action");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_body_names_an_action_and_a_node);
	tcase_add_test(tests, a_shutdown_under_way_is_changed_and_none_is_begun);
	tcase_add_test(tests, a_token_is_private_and_long_enough);
	tcase_add_test(tests, a_zero_does_not_shorten_a_token);
	tcase_add_test(tests, only_the_whole_token_is_allowed);
	tcase_add_test(tests, a_token_that_is_replaced_is_read_again);
	tcase_add_test(tests, a_token_is_read_again_only_if_the_file_has_changed);
	return tests;
}
