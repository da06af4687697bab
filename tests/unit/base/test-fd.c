#include "tests/unit/fixtures/main.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

START_TEST(a_sealed_memory_file_keeps_its_size)
{
	const char header[] = "header";
	cleanup(closep) int fd = fd_new_sealed("test", 4096, header, sizeof(header));
	char text[sizeof(header)];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, text, sizeof(text), 0), (int)sizeof(text));
	ck_assert_str_eq(text, header);
	ck_assert_int_lt(ftruncate(fd, 0), 0);
	ck_assert_int_lt(ftruncate(fd, 8192), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("fd");
	TCase *tc = tcase_create("descriptors");

	tcase_add_test(tc, a_sealed_memory_file_keeps_its_size);
	suite_add_tcase(s, tc);
	return s;
}
