#include "exporter/text/past.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/exporter/test-exporter.h"
#include "tests/unit/fixtures/scratch.h"

/* An end of a run. */
#define END(node, total)                                                               \
	"{\"time_usec\":1,\"node\":\"" node "\",\"generation\":1,\"why\":\"stopped\"," \
	"\"total_usec\":" total "}\n"

static struct past past;
static bool found;

static void setup(void)
{
	past = (struct past){ .history_file = "history" };
	make_directory();
}

static void teardown(void)
{
	past_done(&past);
	remove_directory();
}

/* The file is looked at in any case. */
static const char *history_of(const char *node)
{
	static char text[4096];
	json_t *object;
	char *dump;

	past.again_usec = 0;
	object = past_history(&past, NULL, node, &found);
	dump = json_dumps(object, JSON_COMPACT);
	(void)snprintf(text, sizeof(text), "%s", dump);
	free(dump);
	json_decref(object);
	return text;
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

START_TEST(a_history_is_of_a_node_and_all_below_it)
{
	static const struct {
		const char *node;
		bool web, api, db;
	} rows[] = {
		{ "", true, true, true },
		{ "web", true, true, false },
		{ "web/api", false, true, false },
		{ "db", false, false, true },
	};

	write_text("history", END("web", "1") END("web/api", "2") "x\n" END("db", "3"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = history_of(rows[i].node);

		ck_assert(found);
		ck_assert_ptr_nonnull(strstr(text, "{\"file\":\"history\",\"skipped\":1,"));
		ck_assert_int_eq(!strstr(text, "\"node\":\"web\""), !rows[i].web);
		ck_assert_int_eq(!strstr(text, "\"node\":\"web/api\""), !rows[i].api);
		ck_assert_int_eq(!strstr(text, "\"node\":\"db\""), !rows[i].db);
	}
	ck_assert_str_eq(history_of("we"),
			 "{\"error\":\"the history has no such node\",\"file\":\"history\"}");
	ck_assert(!found);
}
END_TEST

START_TEST(a_history_is_read_again_if_the_file_has_changed)
{
	struct stat st;

	write_text("history", END("a", "1"));
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"a\""));
	/* Longer; then another file of the same length and time. */
	write_text("history", END("a", "1") END("b", "1"));
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"b\""));
	ck_assert_int_eq(stat("history", &st), 0);
	write_text("other", END("a", "1") END("c", "1"));
	ck_assert_int_eq(
		utimensat(AT_FDCWD, "other", (struct timespec[]){ st.st_atim, st.st_mtim }, 0), 0);
	ck_assert_int_eq(rename("other", "history"), 0);
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"c\""));
	/* The file that was read last, by its number, length and time. */
	write_text("history", END("a", "1") END("d", "1"));
	ck_assert_int_eq(
		utimensat(AT_FDCWD, "history", (struct timespec[]){ st.st_atim, st.st_mtim }, 0),
		0);
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"c\""));
	ck_assert_int_eq(
		utimensat(AT_FDCWD, "history", (struct timespec[]){ { 1, 0 }, { 1, 0 } }, 0), 0);
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"d\""));
	past.history_file = "report";
	write_text("report", END("e", "1"));
	ck_assert_ptr_nonnull(strstr(history_of(""), "\"node\":\"e\""));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_has_a_reason)
{
	static const struct {
		const char *file, *settings, *said;
	} rows[] = {
		{ NULL, NULL, "{\"error\":\"the daemon has not answered yet\"}" },
		{ NULL, "{\"settings\":[]}",
		  "{\"error\":\"the daemon writes no such file: set history or report in "
		  "[swansong]\"}" },
		{ NULL, "{\"settings\":[{\"key\":\"history\",\"value\":\"/nowhere/h\"}]}",
		  "{\"error\":\"No such file or directory\",\"file\":\"/nowhere/h\"}" },
		{ "/nowhere/g", NULL,
		  "{\"error\":\"No such file or directory\",\"file\":\"/nowhere/g\"}" },
		{ ".", NULL, "{\"error\":\"not a regular file\",\"file\":\".\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *settings = rows[i].settings ? json_of(rows[i].settings) : NULL, *object;
		json_t *said = json_of(rows[i].said), *none;

		past.history_file = rows[i].file;
		past.again_usec = 0;
		object = past_history(&past, settings, "", &found);
		ck_assert_msg(json_equal(object, said), "row %zu", i);
		ck_assert(!found);
		none = past_of(&past, settings, "a", 0);
		ck_assert_uint_eq(json_object_size(none), 0);
		json_decref(none);
		json_decref(object);
		json_decref(said);
		json_decref(settings);
	}
}
END_TEST

START_TEST(a_node_has_its_last_ends)
{
	json_t *object;

	write_text("history", END("a", "1") END("b", "2") END("a", "3"));
	object = past_of(&past, NULL, "a", 0);
	ck_assert_uint_eq(json_array_size(json_object_get(object, "ends")), 2);
	json_decref(object);
	object = past_of(&past, NULL, "c", 0);
	ck_assert_uint_eq(json_object_size(object), 0);
	json_decref(object);
}
END_TEST

TCase *past_tests(void)
{
	TCase *tests = tcase_create("past");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_history_is_of_a_node_and_all_below_it);
	tcase_add_test(tests, a_history_is_read_again_if_the_file_has_changed);
	tcase_add_test(tests, a_file_that_cannot_be_read_has_a_reason);
	tcase_add_test(tests, a_node_has_its_last_ends);
	return tests;
}
