#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logger/file/compress.h"
#include "logger/file/rotated.h"
#include "tests/unit/logger/play.h"

/* Numbered lines of 16 bytes. */
static void write_numbers(uint32_t stream, int from, int to)
{
	for (int i = from; i < to; i++) {
		char line[32];

		(void)snprintf(line, sizeof(line), "number %08d\n", i);
		play_write(stream, line);
	}
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	/* The file that is written is the newest. */
	if (strlen((*a)->d_name) != strlen((*b)->d_name))
		return strlen((*a)->d_name) < strlen((*b)->d_name) ? 1 : -1;
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_log(const struct dirent *entry)
{
	return strncmp(entry->d_name, "log", 3) == 0;
}

/* The files together have the numbers from @from to @to, each once and in order. */
static void expect_numbers(int from, int to, uint64_t limit)
{
	struct dirent **entries;
	int n = scandir(".", &entries, is_log, by_name);

	ck_assert_int_gt(n, 0);
	for (int i = 0; i < n; i++) {
		size_t size;
		char *text = play_read(entries[i]->d_name, &size);

		if (limit)
			ck_assert_uint_le(size, limit);
		for (char *at = text; *at; at += 16)
			ck_assert_int_eq(atoi(at + 7), from++);
		free(text);
		free(entries[i]);
	}
	free(entries);
	ck_assert_int_eq(from, to);
}

START_TEST(a_file_is_rotated_before_it_exceeds_its_size)
{
	struct logger_rules rules = play_file();

	rules.size = 1000;
	rules.keep = LOGGER_KEEP_MAX;
	play_add(0, &rules, "a", "log");
	write_numbers(0, 0, 2000);
	play_flush(0);
	expect_numbers(0, 2000, 1000);
	ck_assert_uint_ge(play_count_files("log."), 31);
}
END_TEST

START_TEST(rotated_files_beyond_the_limit_are_removed)
{
	struct logger_rules rules = play_file();

	rules.size = 320;
	rules.keep = 3;
	write_file("log.important", "", 0);
	play_add(0, &rules, "a", "log");
	for (int i = 0; i < 20; i++) {
		write_numbers(0, 20 * i, 20 * i + 20);
		play_flush(0);
	}
	ck_assert_uint_eq(play_count_files("log.2"), 3);
	ck_assert_uint_eq(play_count_files("log.important"), 1);
	(void)unlink("log.important");
	expect_numbers(20 * 16, 20 * 20, 320);
}
END_TEST

START_TEST(a_file_is_rotated_when_it_is_too_old)
{
	struct logger_rules rules = play_file();

	rules.age_usec = 1;
	play_add(0, &rules, "a", "log");
	write_numbers(0, 0, 1);
	play_flush(0);
	write_numbers(0, 1, 2);
	play_flush(0);
	ck_assert_uint_eq(play_count_files("log."), 1);
	expect_numbers(0, 2, 16);
}
END_TEST

START_TEST(missing_directories_are_made)
{
	struct logger_rules rules = play_file();
	struct stat st;

	play_add(0, &rules, "a", "var/log/web/nginx.log");
	play_write(0, "hello\n");
	play_flush(0);
	play_expect("var/log/web/nginx.log", "hello\n");
	ck_assert_int_eq(stat("var/log/web", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0755);
	ck_assert_int_eq(stat("var/log/web/nginx.log", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

static void make_what_is_refused(int i)
{
	static const char *const shared = "shared";

	ck_assert_int_eq(mkdir(shared, 0777), 0);
	ck_assert_int_eq(chmod(shared, 01777), 0);
	write_file("victim", "", 0);
	switch (i) {
	case 0:
		ck_assert_int_eq(mkdir("shared/log", 0755), 0);
		break;
	case 1:
		ck_assert_int_eq(mkfifo("shared/log", 0600), 0);
		break;
	case 2:
		ck_assert_int_eq(symlink("../victim", "shared/log"), 0);
		break;
	case 3:
		ck_assert_int_eq(link("victim", "shared/log"), 0);
		break;
	}
}

START_TEST(a_path_that_cannot_be_a_log_file_is_refused)
{
	static const int errors[] = { EISDIR, ENOTSUP, ELOOP, EMLINK, ENOTSUP };
	static const char *const paths[] = { "shared/log", "shared/log", "shared/log", "shared/log",
					     "/dev/null" };
	struct logger_rules rules = play_file();

	make_what_is_refused(_i);
	play_add(0, &rules, "a", paths[_i]);
	play_write(0, "hello\n");
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, errors[_i]);
	ck_assert_str_eq(play.packet.texts[0], play.streams[0].path);
	play_expect("victim", "");
}
END_TEST

START_TEST(a_symbolic_link_in_an_own_directory_is_followed)
{
	struct logger_rules rules = play_file();

	ck_assert_int_eq(symlink("target", "log"), 0);
	play_add(0, &rules, "a", "log");
	play_write(0, "hello\n");
	play_flush(0);
	play_expect("target", "hello\n");
}
END_TEST

START_TEST(a_reopened_file_is_that_of_the_path)
{
	struct logger_rules rules = play_file();
	struct logger_message m = { .type = LOGGER_REOPEN, .stream = LOGGER_ALL };

	play_add(0, &rules, "a", "log");
	play_write(0, "one\n");
	play_flush(0);
	ck_assert_int_eq(rename("log", "old"), 0);
	play_write(0, "two\n");
	play_flush(0);
	play_send(&m);
	play_write(0, "three\n");
	play_flush(0);
	play_expect("old", "one\ntwo\n");
	play_expect("log", "three\n");
}
END_TEST

START_TEST(a_reopened_stream_leaves_other_files_alone)
{
	struct logger_rules rules = play_file();
	struct logger_message m = { .type = LOGGER_REOPEN };

	play_add(0, &rules, "a", "log");
	play_add(1, &rules, "b", "log-b");
	for (int i = 0; i < 2; i++) {
		play_write(0, "a\n");
		play_flush(0);
		play_write(1, "b\n");
		play_flush(1);
		if (i > 0)
			break;
		ck_assert_int_eq(rename("log", "old"), 0);
		ck_assert_int_eq(rename("log-b", "old-b"), 0);
		play_send(&m);
	}
	play_expect("old", "a\n");
	play_expect("log", "a\n");
	play_expect("old-b", "b\nb\n");
}
END_TEST

/* As the daemon, after a reload. */
static void change_path(uint32_t stream, const struct logger_rules *rules, const char *path)
{
	struct logger_message m = { .type = LOGGER_CHANGE, .stream = stream, .rules = *rules };
	char whole[128];

	(void)snprintf(whole, sizeof(whole), "%s/%s", directory, path);
	ck_assert_int_eq(logger_send(play.control, &m, "a", whole, -1), 0);
}

START_TEST(a_changed_stream_writes_on_in_its_open_file)
{
	struct logger_rules rules = play_file();

	play_add(0, &rules, "a", "log");
	play_write(0, "one\n");
	play_flush(0);
	ck_assert_int_eq(rename("log", "old"), 0);
	rules.keep = 7;
	change_path(0, &rules, "log");
	play_write(0, "two\n");
	play_flush(0);
	/* A file at the path may be made already, for what follows. */
	play_expect("old", "one\ntwo\n");
}
END_TEST

START_TEST(a_stream_that_comes_back_to_its_path_opens_that)
{
	struct logger_rules rules = play_file();

	play_add(0, &rules, "a", "log");
	play_write(0, "one\n");
	play_flush(0);
	change_path(0, &rules, "other");
	play_write(0, "two\n");
	play_flush(0);
	ck_assert_int_eq(rename("log", "old"), 0);
	change_path(0, &rules, "log");
	play_write(0, "three\n");
	play_flush(0);
	play_expect("old", "one\n");
	play_expect("other", "two\n");
	play_expect("log", "three\n");
}
END_TEST

START_TEST(a_file_that_others_cut_is_written_on)
{
	struct logger_rules rules = play_file();

	play_add(0, &rules, "a", "log");
	play_write(0, "one\n");
	play_flush(0);
	ck_assert_int_eq(truncate("log", 0), 0);
	play_write(0, "two\n");
	play_flush(0);
	play_expect("log", "two\n");
}
END_TEST

/* Waits until a name that ends like this is moved to in the directory. */
static void wait_for_name(int watcher, const char *end)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct pollfd p = { .fd = watcher, .events = POLLIN };

	for (;;) {
		ck_assert_int_eq(poll(&p, 1, 30000), 1);

		ssize_t n = read(watcher, buf, sizeof(buf));

		for (char *at = buf; at < buf + n;) {
			struct inotify_event *event = (struct inotify_event *)(void *)at;
			size_t length = strlen(event->name);

			if (length > strlen(end) &&
			    strcmp(event->name + length - strlen(end), end) == 0)
				return;
			at += sizeof(*event) + event->len;
		}
	}
}

START_TEST(rotated_files_but_the_newest_are_compressed)
{
	struct logger_rules rules = play_file();
	int watcher = inotify_init1(IN_CLOEXEC);

	ck_assert_int_ge(inotify_add_watch(watcher, directory, IN_MOVED_TO), 0);
	rules.size = 16;
	rules.flags = LOGGER_COMPRESS;
	play_add(0, &rules, "a", "log");
	for (int i = 0; i < 3; i++) {
		write_numbers(0, i, i + 1);
		play_flush(0);
	}
	wait_for_name(watcher, ".zst");
	ck_assert_int_eq(system("test $(ls log.*.zst | wc -l) = 1 &&"
				"{ ! command -v zstd >/dev/null ||"
				"test \"$(zstd -dc log.*.zst)\" = 'number 00000000'; }"),
			 0);
	play_expect("log", "number 00000002\n");
	(void)close(watcher);
}
END_TEST

/* A rotated file of "log" with this end of its name. */
static void make_rotated(const char *end)
{
	char name[64];
	FILE *file;

	(void)snprintf(name, sizeof(name), "log.20200101T000000.00000%s", end);
	file = fopen(name, "we");
	ck_assert_ptr_nonnull(file);
	(void)fputs("line\n", file);
	(void)fclose(file);
}

static void compress_and_wait(uint32_t keep)
{
	pid_t pid = compress_start("log", keep);

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(a_file_that_cannot_be_compressed_is_passed_over)
{
	ck_assert_int_eq(mkdir("log.20200101T000000.000001", 0700), 0);
	make_rotated("2");
	make_rotated("3");
	make_rotated("4");
	compress_and_wait(5);
	ck_assert_int_eq(access("log.20200101T000000.000002.zst", F_OK), 0);
	ck_assert_int_eq(access("log.20200101T000000.000003.zst", F_OK), 0);
	ck_assert_int_eq(access("log.20200101T000000.000004", F_OK), 0);
}
END_TEST

START_TEST(a_compression_leaves_no_more_files_than_are_kept)
{
	for (char i[] = "1"; *i < '6'; ++*i)
		make_rotated(i);
	compress_and_wait(3);
	ck_assert_uint_eq(play_count_files("log."), 3);
	ck_assert_int_eq(access("log.20200101T000000.000003.zst", F_OK), 0);
	ck_assert_int_eq(access("log.20200101T000000.000005", F_OK), 0);
}
END_TEST

START_TEST(a_file_beside_its_compressed_one_counts_once)
{
	static const char *const ends[] = { "1.zst", "2", "2.zst", "3" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		make_rotated(ends[i]);
	ck_assert_int_eq(rotated_prune("log", 3), 0);
	ck_assert_uint_eq(play_count_files("log."), 4);
	ck_assert_int_eq(rotated_prune("log", 1), 0);
	ck_assert_uint_eq(play_count_files("log."), 1);
}
END_TEST

static size_t count_names(const char *pattern)
{
	glob_t found;
	size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;

	globfree(&found);
	return n;
}

/* The first compression takes so long that the other paths are rotated meanwhile. */
START_TEST(rotated_files_of_each_path_are_compressed)
{
	static const char *const paths[] = { "a", "b", "c" };
	struct logger_rules rules = play_file();
	int fd = open("a.20200101T000000.000001", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_eq(ftruncate(fd, 32 << 20), 0);
	(void)close(fd);
	rules.size = 16;
	rules.flags = LOGGER_COMPRESS;
	for (uint32_t i = 0; i < ARRAY_SIZE(paths); i++)
		play_add(i, &rules, paths[i], paths[i]);
	for (int n = 0; n < 3; n++)
		for (uint32_t i = 0; i < ARRAY_SIZE(paths); i++) {
			write_numbers(i, n, n + 1);
			play_flush(i);
		}
	for (int i = 0;
	     count_names("a.*.zst") < 2 || !count_names("b.*.zst") || !count_names("c.*.zst");
	     i++) {
		ck_assert_int_lt(i, 3000);
		(void)poll(NULL, 0, 10);
	}
}
END_TEST

/* Bytes of memory of the store. */
static off_t store_memory(void)
{
	struct stat st;

	ck_assert_int_eq(fstat(play.store, &st), 0);
	return (off_t)st.st_blocks * 512;
}

/* Its lines are more than the ring, in blocks that are written from there. */
START_TEST(a_loud_stream_gives_memory_back_when_it_is_quiet)
{
	struct logger_rules rules = play_file();
	char block[65536];
	int pipe_size;

	rules.flags = LOGGER_BLOCK;
	play_add(0, &rules, "a", "log");
	pipe_size = fcntl(play.streams[0].in, F_GETPIPE_SZ);
	for (int i = 0; i < 80; i++) {
		for (size_t n = 0; n < sizeof(block) / 16; n++) {
			char line[32];

			(void)snprintf(line, sizeof(line), "number %08zu\n",
				       (size_t)i * sizeof(block) / 16 + n);
			memcpy(block + n * 16, line, 16);
		}
		play_write_bytes(0, block, sizeof(block));
	}
	play_flush(0);
	expect_numbers(0, (int)(80 * sizeof(block) / 16), UINT64_MAX);
	for (int i = 0;
	     store_memory() > 512 * 1024 || fcntl(play.streams[0].in, F_GETPIPE_SZ) != pipe_size;
	     i++) {
		ck_assert_int_lt(i, 1000);
		(void)poll(NULL, 0, 10);
	}
}
END_TEST

void add_file_tests(Suite *suite)
{
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, play_begin, play_end);
	tcase_add_test(t, a_file_is_rotated_before_it_exceeds_its_size);
	tcase_add_test(t, rotated_files_beyond_the_limit_are_removed);
	tcase_add_test(t, a_file_is_rotated_when_it_is_too_old);
	tcase_add_test(t, missing_directories_are_made);
	tcase_add_loop_test(t, a_path_that_cannot_be_a_log_file_is_refused, 0, 5);
	tcase_add_test(t, a_symbolic_link_in_an_own_directory_is_followed);
	tcase_add_test(t, a_reopened_file_is_that_of_the_path);
	tcase_add_test(t, a_reopened_stream_leaves_other_files_alone);
	tcase_add_test(t, a_changed_stream_writes_on_in_its_open_file);
	tcase_add_test(t, a_stream_that_comes_back_to_its_path_opens_that);
	tcase_add_test(t, a_file_that_others_cut_is_written_on);
	tcase_add_test(t, rotated_files_but_the_newest_are_compressed);
	tcase_add_test(t, rotated_files_of_each_path_are_compressed);
	tcase_add_test(t, a_file_that_cannot_be_compressed_is_passed_over);
	tcase_add_test(t, a_compression_leaves_no_more_files_than_are_kept);
	tcase_add_test(t, a_file_beside_its_compressed_one_counts_once);
	tcase_add_test(t, a_loud_stream_gives_memory_back_when_it_is_quiet);
	suite_add_tcase(suite, t);
}
