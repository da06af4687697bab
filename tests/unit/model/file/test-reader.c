#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/file/reader.h"
#include "model/base/settings.h"

/* The result as text: "1[section]" and "2key=value" with a newline after each. */
struct record {
	FILE *out;
	char *text;
	size_t size;
	struct diag *diag;
};

static int on_section(void *arg, unsigned line, const char *name)
{
	struct record *record = arg;

	(void)fprintf(record->out, "%u[%s]\n", line, name);
	return 0;
}

static int on_entry(void *arg, unsigned line, const char *key, const char *value)
{
	struct record *record = arg;

	(void)fprintf(record->out, "%u%s=%s\n", line, key, value);
	return 0;
}

static void record_done(struct record *record)
{
	free(record->text);
	record->diag = diag_free(record->diag);
}

static void record_read(struct record *record, const char *text, size_t size)
{
	const struct reader_handler handler = { on_section, on_entry, record };
	char *copy = malloc(size + 1);

	/* Exactly as large as promised, for the address sanitizer. */
	memcpy(copy, text, size);
	copy[size] = '\0';
	*record = (struct record){ .text = NULL };
	record->out = open_memstream(&record->text, &record->size);
	ck_assert_int_eq(diag_new(&record->diag), 0);
	ck_assert_int_eq(reader_parse(copy, size, "f", record->diag, &handler), 0);
	(void)fclose(record->out);
	free(copy);
}

static void reads_as(const char *text, const char *expected)
{
	cleanup(record_done) struct record record;

	record_read(&record, text, strlen(text));
	ck_assert_str_eq(record.text, expected);
	ck_assert_uint_eq(diag_errors(record.diag), 0);
}

static void first_text(enum diag_level level, struct place place, const char *text, void *arg)
{
	const char **first = arg;

	(void)level;
	if (!*first)
		*first = text;
}

/* Also checks that the lines after the error are read. */
static void is_refused(const char *text, size_t size, const char *expected)
{
	cleanup(record_done) struct record record;
	const char *first = NULL;

	record_read(&record, text, size);
	diag_each(record.diag, first_text, &first);
	ck_assert_ptr_nonnull(first);
	ck_assert_msg(strncmp(first, expected, strlen(expected)) == 0, "'%s' is not '%s'", first,
		      expected);
	ck_assert_ptr_nonnull(strstr(record.text, "[last]\n"));
	ck_assert_ptr_nonnull(strstr(record.text, "end=1\n"));
}

START_TEST(a_semicolon_in_quotes_begins_no_comment)
{
	reads_as("[a]\nk = sh -c 'a ; \"b' ; c\n", "1[a]\n2k=sh -c 'a ; \"b'\n");
	reads_as("[a]\nk = \"a \\\" ; b\" \\; \\' ; c\n", "1[a]\n2k=\"a \\\" ; b\" \\; \\'\n");
	reads_as("[a]\nk = sh -c '\n\ta ; b\n\tc'\n", "1[a]\n2k=sh -c '\na ; b\nc'\n");
}
END_TEST

START_TEST(every_line_counts)
{
	reads_as("", "");
	reads_as("\n\n# c\n  ; c\n[a]\n\nk=v\n", "5[a]\n7k=v\n");
	reads_as("[a]\nk=v", "1[a]\n2k=v\n");
	reads_as("[a]\nk = 1\n  2\n\n  3\nl = 4\n", "1[a]\n2k=1\n2\n3\n6l=4\n");
}
END_TEST

START_TEST(blanks_around_are_removed)
{
	reads_as("[a]\nk \t=  v w \t\n", "1[a]\n2k=v w\n");
	reads_as("[a]  \nk=\n", "1[a]\n2k=\n");
	reads_as("[ a ]\n", "1[ a ]\n"); /* a name is not a value */
}
END_TEST

START_TEST(nothing_in_a_value_is_special)
{
	reads_as("[a]\nk = sh -c \"a ; b\" # c;d\n", "1[a]\n2k=sh -c \"a ; b\" # c;d\n");
	reads_as("[a]\nk = a=b:c %41 %zz [x]\n", "1[a]\n2k=a=b:c %41 %zz [x]\n");
	reads_as("[a]\nk = x;\n", "1[a]\n2k=x;\n");
	reads_as("[a]\nk = [x]\n", "1[a]\n2k=[x]\n");
	reads_as("[a]\nk = \x01\x7f\xc2\xa0\n", "1[a]\n2k=\x01\x7f\xc2\xa0\n");
}
END_TEST

START_TEST(indented_lines_continue_a_value)
{
	reads_as("[a]\nk = 1\n\t 2 \n [3]\n 4=5\n", "1[a]\n2k=1\n2\n[3]\n4=5\n");
	reads_as("[a]\nk =\n 1\n", "1[a]\n2k=1\n");
	reads_as("[a]\n# \xfc, as in Latin-1\nk = 1\n", "1[a]\n3k=1\n");
	reads_as("[a]\nk = 1\n # comment\n;comment\n\n 2\n", "1[a]\n2k=1\n2\n");
	reads_as("[a]  ; who's \"that\nk = 1 ; it's one\n\t2;3 # 4 ;; 5\n",
		 "1[a]\n2k=1\n2;3 # 4\n");
	reads_as("[a]\nk = ; nothing\n", "1[a]\n2k=\n");
}
END_TEST

START_TEST(crlf_and_byte_order_marks_are_accepted)
{
	reads_as("\xef\xbb\xbf[a]\r\nk = v\r\n w\r\n\r\nl = x\r\n", "1[a]\n2k=v\nw\n5l=x\n");
	reads_as("\xef\xbb\xbf", "");
}
END_TEST

START_TEST(a_value_of_any_length_arrives_whole)
{
	static const size_t sizes[] = {
		1, 140, 141, 142, 190, 199, 200, 201, 1000, 10000, 100000, 1000000, CONFIG_LINE_MAX
	};
	static const char alphabet[] = "abc; #%=:[]\"\\x";

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cleanup(record_done) struct record record;
		size_t size = sizes[i], head = strlen("[a]\nk=");
		char *text = malloc(head + size + 1);

		memcpy(text, "[a]\nk=", head);
		for (size_t j = 0; j < size; j++)
			text[head + j] = alphabet[j % strlen(alphabet)];
		text[head + size - 1] = 'z';
		text[head + size] = '\0';
		record_read(&record, text, head + size);
		ck_assert_uint_eq(diag_errors(record.diag), 0);
		ck_assert_uint_eq(record.size, strlen("1[a]\n2k=\n") + size);
		ck_assert_int_eq(memcmp(record.text + strlen("1[a]\n2k="), text + head, size), 0);
		free(text);
	}
}
END_TEST

START_TEST(a_long_section_and_a_long_key_arrive_whole)
{
	char section[CONFIG_NAME_MAX + 1], key[READER_KEY_MAX + 1], text[512], expected[512];

	memset(section, 's', sizeof(section) - 1);
	section[sizeof(section) - 1] = '\0';
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	(void)snprintf(text, sizeof(text), "[%s]\n%s=v\n", section, key);
	(void)snprintf(expected, sizeof(expected), "1[%s]\n2%s=v\n", section, key);
	reads_as(text, expected);
}
END_TEST

#define REST			"\n[last]\nend=1\n"
#define REFUSED(text, expected) is_refused(text REST, sizeof(text REST) - 1, expected)

START_TEST(an_invalid_line_is_reported_and_reading_continues)
{
	REFUSED("k=v", "f:1: k: key before the first section");
	REFUSED("[a", "f:1: section without closing bracket");
	REFUSED("[]", "f:1: section without a name");
	REFUSED("[a]; b", "f:1: text after the bracket of a section");
	REFUSED("[a]\nk", "f:2: 'k' without '='");
	REFUSED("[a]\nk: v", "f:2: 'k: v' without '='");
	REFUSED("[a]\nk:l = v", "f:2: invalid key 'k:l'");
	REFUSED("[a]\n = v", "f:2: indented line without a value to continue");
	REFUSED("[a]\n= v", "f:2: invalid key ''");
	REFUSED("[a]\n* = v", "f:2: invalid key '*'");
	REFUSED("[a]\nkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk = v",
		"f:2: invalid key 'kkkk");
	REFUSED("[a]\n k = v", "f:2: indented line without a value to continue");
	REFUSED("[a]\nk = v\nl = \0", "f:3: NUL byte");
	REFUSED("[a]\nk = v\n w\xff", "f:3: invalid UTF-8");
	REFUSED("\xff\xfe[\0a\0]\0", "f:1: NUL byte");
}
END_TEST

START_TEST(continuations_of_an_invalid_line_are_no_errors)
{
	cleanup(record_done) struct record record;
	static const char text[] = "[a]\nk l\n m\n n\n\no = p\n";

	record_read(&record, text, strlen(text));
	ck_assert_uint_eq(diag_errors(record.diag), 1);
	ck_assert_str_eq(record.text, "1[a]\n6o=p\n");
}
END_TEST

START_TEST(a_value_that_is_too_long_is_refused_not_truncated)
{
	static const char head[] = "[last]\nk = ", tail[] = "\nend=1\n";
	size_t size = strlen(head) + CONFIG_LINE_MAX + 1 + strlen(tail);
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	memcpy(text, head, strlen(head));
	memcpy(text + size - strlen(tail), tail, strlen(tail));
	is_refused(text, size, "f:2: [last] k: value too long: 8388609 bytes, at most 8388608");
	free(text);
}
END_TEST

static int refuse(void *arg, unsigned line, const char *name)
{
	(void)arg;
	(void)line;
	(void)name;
	return -EXDEV;
}

START_TEST(the_handler_can_stop_reading)
{
	const struct reader_handler handler = { refuse, on_entry, NULL };
	cleanup(diag_freep) struct diag *diag = NULL;
	char text[] = "[a]\nk=v\n";

	ck_assert_int_eq(diag_new(&diag), 0);
	ck_assert_int_eq(reader_parse(text, strlen(text), "f", diag, &handler), -EXDEV);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("reader");
	TCase *tc = tcase_create("reader");

	tcase_add_test(tc, a_semicolon_in_quotes_begins_no_comment);
	tcase_add_test(tc, every_line_counts);
	tcase_add_test(tc, blanks_around_are_removed);
	tcase_add_test(tc, nothing_in_a_value_is_special);
	tcase_add_test(tc, indented_lines_continue_a_value);
	tcase_add_test(tc, crlf_and_byte_order_marks_are_accepted);
	tcase_add_test(tc, a_value_of_any_length_arrives_whole);
	tcase_add_test(tc, a_long_section_and_a_long_key_arrive_whole);
	tcase_add_test(tc, an_invalid_line_is_reported_and_reading_continues);
	tcase_add_test(tc, continuations_of_an_invalid_line_are_no_errors);
	tcase_add_test(tc, a_value_that_is_too_long_is_refused_not_truncated);
	tcase_add_test(tc, the_handler_can_stop_reading);
	suite_add_tcase(s, tc);
	return s;
}
