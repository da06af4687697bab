#include "daemon/describe/report.h"
#include "tests/unit/fixtures/daemon/tree-world.h"
#include "tests/unit/fixtures/scratch.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct log memory_log = { .level = LOG_DEBUG, .name = "test" };

static void setup(void)
{
	make_directory();
	memory_log.fd = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(memory_log.fd, 0);
}

static void teardown(void)
{
	finish();
	(void)close(memory_log.fd);
	remove_directory();
}

static bool is_logged(const char *text)
{
	static char all[8192];
	ssize_t n = pread(memory_log.fd, all, sizeof(all) - 1, 0);

	all[n > 0 ? n : 0] = '\0';
	return strstr(all, text);
}

/* The tree of a service with "report = @file", below the directory if that is a path. */
static void begin_with_report(const char *file)
{
	char whole[512];

	(void)snprintf(whole, sizeof(whole),
		       "[swansong]\nreport = %s%s\n"
		       "shutdown-timeout = 10s\n[web]\ncommand = x\n",
		       *file == '/' ? directory : "", file);
	begin(whole);
	ctx.log = &memory_log;
	report_use_all(&tree);
}

static void end_tree(void)
{
	const struct report_end end = { .signal = SIGTERM, .status = 3 };

	stop("root");
	end_asked();
	pass(20 * SEC);
	end_asked();
	ck_assert(tree.root->complete);
	report_write(&tree, &end);
}

static json_t *read_report(void)
{
	json_t *report = json_load_file("report", 0, NULL);

	ck_assert_ptr_nonnull(report);
	return report;
}

START_TEST(report_has_the_end_and_each_stopped_node)
{
	json_t *report, *node;
	bool found = false;
	size_t i;

	begin_with_report("/report");
	end_tree();
	report = read_report();
	ck_assert_str_eq(json_string_value(json_object_get(report, "signal")), "SIGTERM");
	ck_assert_int_eq(json_integer_value(json_object_get(report, "status")), 3);
	ck_assert(json_is_false(json_object_get(report, "forced")));
	ck_assert_int_eq(json_integer_value(json_object_get(report, "budget_usec")), 10 * SEC);
	json_array_foreach (json_object_get(report, "nodes"), i, node)
		found |= strcmp(json_string_value(json_object_get(node, "path")), "web") == 0;
	ck_assert(found);
	json_decref(report);
	ck_assert(!is_logged("report"));
}
END_TEST

START_TEST(forced_end_is_reported_as_such)
{
	struct lease *lease;
	json_t *report;

	begin_with_report("/report");
	lease = hold("web");
	end_tree();
	lease_free(lease);
	report = read_report();
	ck_assert(json_is_true(json_object_get(report, "forced")));
	json_decref(report);
}
END_TEST

START_TEST(report_that_cannot_be_written_is_logged)
{
	begin_with_report("/missing/report");
	end_tree();
	ck_assert(is_logged("cannot write the report /"));
	ck_assert(is_logged("/missing/report: No such file or directory"));
}
END_TEST

START_TEST(none_is_no_report)
{
	begin_with_report("none");
	end_tree();
	ck_assert_int_lt(access("none", F_OK), 0);
	ck_assert(!is_logged("report"));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, report_has_the_end_and_each_stopped_node);
	tcase_add_test(tc, forced_end_is_reported_as_such);
	tcase_add_test(tc, report_that_cannot_be_written_is_logged);
	tcase_add_test(tc, none_is_no_report);
	suite_add_tcase(s, tc);
	return s;
}
