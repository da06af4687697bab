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

START_TEST(last_line_of_a_file_is_read)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "", "" }, { "a", "a" }, { "a\n", "a" }, { "a\nbc", "bc" }, { "a\nbcdef\n", "bcd" },
		{ "a\n\n", "" },
	};
	char line[4] = "?";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(closep) int fd = fd_new_sealed("test", strlen(rows[i].text), rows[i].text,
						       strlen(rows[i].text));

		fd_read_last_line(fd, line, sizeof(line));
		ck_assert_str_eq(line, rows[i].line);
	}
	fd_read_last_line(-1, line, sizeof(line));
	ck_assert_str_eq(line, "");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("fd");
	TCase *tc = tcase_create("descriptors");

	tcase_add_test(tc, a_sealed_memory_file_keeps_its_size);
	tcase_add_test(tc, last_line_of_a_file_is_read);
	suite_add_tcase(s, tc);
	return s;
}
