#include "daemon/describe/describe.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *line(void)
{
	static char buf[DESCRIBE_LINE_MAX];

	return describe_line(buf, &tree);
}

static void check_line(const char *format, ...) printf_like(1, 2);
static void check_line(const char *format, ...)
{
	char expected[DESCRIBE_LINE_MAX];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(expected, sizeof(expected), format, ap);
	va_end(ap);
	ck_assert_str_eq(line(), expected);
}

static struct lease *hold_for(const char *path, const char *why, uid_t uid)
{
	const struct ucred peer = { .pid = 0, .uid = uid };
	const struct lease_wish wish = {
		.peer = &peer,
		.why = why,
		.ttl_usec = USEC_INFINITY,
	};
	struct lease *lease;

	ck_assert_int_eq(lease_new(&lease, find(path), &wish), 0);
	turns();
	return lease;
}

START_TEST(running_tree_shows_failed_services)
{
	begin("[web]\ncommand = x\n[db]\ncommand = x\nready = notify\nrestart = never\n"
	      "[worker]\ncommand = x\nrestart = never\n");
	ck_assert_str_eq(line(), "Running: 2 of 3 services ready");
	ends("worker", 1);
	ck_assert_str_eq(line(), "Running: 1 of 3 services ready; failed: worker");
	ends("db", 1);
	ck_assert_str_eq(line(), "Running: 1 of 3 services ready; failed: db, worker");
}
END_TEST

START_TEST(process_is_shown_with_its_user_and_times)
{
	begin("[swansong]\nshutdown-timeout = 30s\n[web]\ncommand = /usr/bin/nginx -g x\nstop-timeout = 40s\n");
	stop("root");
	check_line("ShuttingDown: 1 of 1 services: web (pid %d nginx, uid %u, 0ms, kill in 30.0s); "
		   "kill in 30.0s",
		   service("web")->main.pid, geteuid());
	pass(12 * SEC);
	check_line(
		"ShuttingDown: 1 of 1 services: web (pid %d nginx, uid %u, 12.0s, kill in 18.0s); "
		"kill in 18.0s",
		service("web")->main.pid, geteuid());
	pass(18 * SEC);
	check_line(
		"ShuttingDown: 1 of 1 services: web (pid %d nginx, uid %u, 30.0s, being killed); "
		"kill in 0ms",
		service("web")->main.pid, geteuid());
	end_asked();
	ck_assert_str_eq(line(), "Complete in 30.0s (forced)");
}
END_TEST

START_TEST(remaining_process_is_named_as_one)
{
	pid_t pid;
	char expected[DESCRIBE_LINE_MAX];

	begin("[swansong]\nshutdown-timeout = 30s\n[web]\ncommand = x\n");
	pid = adopt("web");
	ends("web", 0);
	stop("root");
	(void)snprintf(expected, sizeof(expected), "web (remaining pid %d leftover, uid %u, 0ms",
		       pid, geteuid());
	ck_assert_ptr_nonnull(strstr(line(), expected));
}
END_TEST

START_TEST(action_that_waits_has_no_process_and_no_user)
{
	begin("[swansong]\nshutdown-timeout = 30s\n[web]\ncommand = x\nfinal = /bin/end\n");
	stop("root");
	ck_assert_ptr_nonnull(strstr(line(), ", web (final, 0ms, kill in 10.0s); kill in 30.0s"));
}
END_TEST

START_TEST(guard_shows_its_reason_and_its_holder)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 30s\n[web]\n");
	lease = hold_for("web",
			 "nightly\n\x7f"
			 "copy",
			 33);
	ck_assert_str_eq(line(), "Running: 0 of 0 services ready");
	stop("root");
	ck_assert_str_eq(line(), "ShuttingDown: 0 of 0 services: guard ? \"nightly??copy\" on web "
				 "(uid 33, 0ms, kill in 30.0s); kill in 30.0s");
	release(lease);
	ck_assert_str_eq(line(), "Complete in 0ms");
}
END_TEST

START_TEST(four_guards_are_shown_and_the_others_counted)
{
	struct lease *leases[6];

	begin("[swansong]\nshutdown-timeout = infinity\n[web]\n");
	for (int i = 0; i < 6; i++)
		leases[i] = hold_for("web", (const char[2]){ (char)('a' + i) }, 0);
	stop("root");
	ck_assert_str_eq(line(),
			 "ShuttingDown: 0 of 0 services: "
			 "guard ? \"a\" on web (uid 0, 0ms), guard ? \"b\" on web (uid 0, 0ms), "
			 "guard ? \"c\" on web (uid 0, 0ms), guard ? \"d\" on web (uid 0, 0ms) "
			 "and 2 more");
	release(leases[0]);
	release(leases[1]);
	ck_assert_str_eq(line(),
			 "ShuttingDown: 0 of 0 services: "
			 "guard ? \"c\" on web (uid 0, 0ms), guard ? \"d\" on web (uid 0, 0ms), "
			 "guard ? \"e\" on web (uid 0, 0ms), guard ? \"f\" on web (uid 0, 0ms)");
	for (int i = 2; i < 6; i++)
		lease_free(leases[i]);
}
END_TEST

START_TEST(long_line_is_cut)
{
	char why[LEASE_WHY_MAX + 1];
	struct lease *leases[4];

	memset(why, 'x', LEASE_WHY_MAX);
	why[LEASE_WHY_MAX] = '\0';
	begin("[web]\n");
	for (int i = 0; i < 4; i++)
		leases[i] = hold_for("web", why, 0);
	stop("root");
	ck_assert_uint_eq(strlen(line()), DESCRIBE_LINE_MAX - 1);
	for (int i = 0; i < 4; i++)
		lease_free(leases[i]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("line about the tree");
	TCase *tc = tree_case("line");

	tcase_add_test(tc, running_tree_shows_failed_services);
	tcase_add_test(tc, process_is_shown_with_its_user_and_times);
	tcase_add_test(tc, remaining_process_is_named_as_one);
	tcase_add_test(tc, action_that_waits_has_no_process_and_no_user);
	tcase_add_test(tc, guard_shows_its_reason_and_its_holder);
	tcase_add_test(tc, four_guards_are_shown_and_the_others_counted);
	tcase_add_test(tc, long_line_is_cut);
	suite_add_tcase(s, tc);
	return s;
}
