#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/unit/fixtures/nomem.h"

/* Applies only to allocations by memstream.c; those of check succeed. */
_Thread_local long allocations_left = -1;
_Thread_local bool allocation_fails_once;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(p, size);
}

FILE *__real_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
FILE *__wrap_fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
	return allocation_fails() ? NULL : __real_fopencookie(cookie, mode, functions);
}

START_TEST(memstream_returns_the_written_text)
{
	struct memstream m;
	char *text;

	ck_assert_int_eq(memstream_open(&m), 0);
	(void)fprintf(m.file, "%d bottles", 99);
	(void)fputs(" of ", m.file);
	(void)fputc('x', m.file);
	ck_assert_int_eq(memstream_close(&m, &text), 0);
	ck_assert_str_eq(text, "99 bottles of x");
	free(text);
}
END_TEST

START_TEST(memstream_without_output_returns_the_empty_text)
{
	struct memstream m;
	char *text;

	ck_assert_int_eq(memstream_open(&m), 0);
	ck_assert_int_eq(memstream_close(&m, &text), 0);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

/* @n numbers of 8 bytes each. */
static void write_numbers(FILE *f, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++)
		(void)fprintf(f, "%07u ", k);
}

/* About the sizes at which it grows. */
START_TEST(memstream_returns_a_text_of_any_length_whole)
{
	struct memstream m;
	char *text;

	ck_assert_int_eq(memstream_open(&m), 0);
	write_numbers(m.file, (unsigned int)_i);
	(void)fprintf(m.file, "%*d", 5000 + _i, 7);
	ck_assert_int_eq(memstream_close(&m, &text), 0);
	ck_assert_uint_eq(strlen(text), (size_t)(8 * _i + 5000 + _i));
	for (unsigned int k = 0; k < (unsigned int)_i; k++)
		ck_assert_uint_eq(strtoul(text + 8 * (size_t)k, NULL, 10), k);
	ck_assert_str_eq(text + strlen(text) - 2, " 7");
	free(text);
}
END_TEST

/* Independently of the bytes after the loss, and even if there is memory again. */
START_TEST(memstream_fails_if_a_write_has_found_no_memory)
{
	char *text = NULL;
	int r = -ENOMEM;
	long n;

	for (n = 0; r < 0; n++) {
		struct memstream m;

		ck_assert_int_lt(n, 100);
		allocations_left = n;
		r = memstream_open(&m);
		if (r < 0) {
			ck_assert_int_lt(n, 2);
			continue;
		}
		write_numbers(m.file, 1000);
		if (_i) {
			bool lost = allocations_left == 0;

			allocations_left = -1;
			write_numbers(m.file, 1);
			r = memstream_close(&m, &text);
			ck_assert(r == 0 || lost);
		} else {
			r = memstream_close(&m, &text);
		}
		ck_assert(r == (text ? 0 : -ENOMEM));
	}
	allocations_left = -1;
	ck_assert_int_gt(n, 6);
	ck_assert_uint_eq(strlen(text), _i ? 8008 : 8000);
	free(text);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("memstream");
	TCase *tc = tcase_create("memstream");

	tcase_add_test(tc, memstream_returns_the_written_text);
	tcase_add_test(tc, memstream_without_output_returns_the_empty_text);
	tcase_add_loop_test(tc, memstream_returns_a_text_of_any_length_whole, 0, 40);
	tcase_add_loop_test(tc, memstream_fails_if_a_write_has_found_no_memory, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
