#include "tests/unit/logger/play.h"

Suite *test_suite(void)
{
	Suite *suite = suite_create("logger");

	add_line_tests(suite);
	add_file_tests(suite);
	add_view_tests(suite);
	add_watch_tests(suite);
	add_out_tests(suite);
	return suite;
}
