#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "logger/loop/sandbox.h"
#include "tests/unit/logger/play.h"

int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);

/* The journal is in the directory of the test. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un ours = { .sun_family = AF_UNIX, .sun_path = "journal" };

	return __real_connect(fd, (const struct sockaddr *)&ours, sizeof(ours));
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length);

/* Nor is its buffer enlarged, so that a large entry does not fit on any machine. */
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	return 0;
}

static int journal;
static char entry[8192];

static void open_journal(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "journal" };

	journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(journal, (const struct sockaddr *)&address, sizeof(address)), 0);
}

/* The next entry; a file that came instead, or -1. */
static int next_entry(void)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { entry, sizeof(entry) - 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = journal, .events = POLLIN };
	int fd = -1;
	ssize_t n;

	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	n = recvmsg(journal, &msg, MSG_CMSG_CLOEXEC);
	ck_assert_int_ge(n, 0);
	entry[n] = '\0';
	if (CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static void expect_field(const char *field)
{
	ck_assert_msg(strstr(entry, field) != NULL, "no %s in %s", field, entry);
}

static struct logger_rules journal_rules(void)
{
	return (struct logger_rules){ .to = LOGGER_TO_JOURNAL, .priority = 6, .memory = 65536 };
}

static struct logger_rules syslog_rules(void)
{
	return (struct logger_rules){ .to = LOGGER_TO_SYSLOG, .priority = 6, .memory = 65536 };
}

START_TEST(lines_become_entries_with_their_fields)
{
	struct logger_rules rules = journal_rules();

	open_journal();
	play_add(0, &rules, "web/app", "/tag");
	play_run(0, 42, 3);
	play_flush(0);
	play_write(0, "hello\n<3>bad\n");
	(void)next_entry();
	expect_field("PRIORITY=6\n");
	expect_field("SYSLOG_IDENTIFIER=/tag\n");
	expect_field("SWANSONG_NODE=web/app\n");
	expect_field("SWANSONG_GENERATION=3\n");
	expect_field("SYSLOG_PID=42\n");
	ck_assert_mem_eq(strstr(entry, "MESSAGE\n"), "MESSAGE\n\5\0\0\0\0\0\0\0hello\n", 22);
	(void)next_entry();
	expect_field("PRIORITY=3\n");
	ck_assert_mem_eq(strstr(entry, "MESSAGE\n"), "MESSAGE\n\3\0\0\0\0\0\0\0bad\n", 20);
	play_flush(0);
	ck_assert_uint_eq(play_counts(0).written_lines, 2);
	(void)close(journal);
}
END_TEST

/* The first line of a run may come before the daemon has noted its process. */
START_TEST(an_entry_waits_for_the_process_of_its_run)
{
	struct logger_rules rules = journal_rules();
	uint64_t begun;
	bool in_time;

	open_journal();
	play_add(0, &rules, "web", "");
	play_run(0, 0, 3);
	play_flush(0);
	begun = clock_now_usec();
	play_write(0, "hello\n");
	while (play_counts(0).came_bytes == 0)
		(void)poll(NULL, 0, 1);
	play_run(0, 42, 3);
	/* It waits for a second at most. */
	in_time = clock_now_usec() < begun + USEC_PER_SEC / 2;
	(void)next_entry();
	expect_field("SWANSONG_GENERATION=3\n");
	if (in_time)
		expect_field("SYSLOG_PID=42\n");
	(void)close(journal);
}
END_TEST

START_TEST(a_large_entry_is_a_file)
{
	struct logger_rules rules = journal_rules();
	size_t size = 1000000;
	char *line = malloc(size);
	int fd;

	open_journal();
	memset(line, 'x', size);
	line[size - 1] = '\n';
	play_add(0, &rules, "a", "/tag");
	play_write_bytes(0, line, size);
	fd = next_entry();
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(lseek(fd, 0, SEEK_END), (off_t)size);
	(void)close(fd);
	(void)close(journal);
	free(line);
}
END_TEST

START_TEST(a_journal_that_does_not_keep_up_loses_nothing)
{
	struct logger_rules rules = journal_rules();
	char line[16];

	open_journal();
	play_add(0, &rules, "a", "/tag");
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(line, sizeof(line), "%06d\n", i);
		play_write(0, line);
	}
	for (int i = 0; i < 5000; i++) {
		(void)next_entry();
		(void)snprintf(line, sizeof(line), "%06d\n", i);
		ck_assert_str_eq(strstr(entry, "MESSAGE\n") + 16, line);
	}
	play_flush(0);
	(void)close(journal);
}
END_TEST

START_TEST(without_a_journal_lines_wait)
{
	struct logger_rules rules = journal_rules();

	play_add(0, &rules, "a", "/tag");
	play_write(0, "hello\n");
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, ENOENT);
	open_journal();
	(void)next_entry();
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(play.packet.message.trouble.error, 0);
	(void)close(journal);
}
END_TEST

static void expect_message(const char *form)
{
	regex_t regex;

	(void)next_entry();
	ck_assert_int_eq(regcomp(&regex, form, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, entry, 0, NULL, 0) == 0, "%s is not as %s", entry, form);
	regfree(&regex);
}

#define STAMP "[A-Z][a-z]{2} [ 1-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}"

START_TEST(lines_become_messages_of_syslog)
{
	struct logger_rules rules = syslog_rules();
	char line[5001];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	open_journal();
	play_add(0, &rules, "web/app", "");
	play_write(0, "hello\n\n<3>bad\n");
	play_write(0, line);
	play_write(0, "\n");
	expect_message("^<30>" STAMP " web/app: hello$");
	expect_message("^<27>" STAMP " web/app: bad$");
	expect_message("^<30>" STAMP " web/app: x{255}x+$");
	expect_message("^<30>" STAMP " web/app: x+$");
	play_flush(0);
	(void)close(journal);
}
END_TEST

START_TEST(a_syslogd_that_comes_and_goes_loses_nothing)
{
	struct logger_rules rules = syslog_rules();
	char *text;
	size_t size;

	/* The helper of standard error is started by the first line. */
	ck_assert_int_eq(dup2(open("errors", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 2), 2);
	play_kill();
	play_start();
	play_add(0, &rules, "a", "");
	play_write(0, "one\n");
	play_flush(0);
	open_journal();
	play_write(0, "two\n");
	expect_message(" a: two$");
	play_flush(0);
	(void)close(journal);
	ck_assert_int_eq(unlink("journal"), 0);
	play_write(0, "three\n");
	play_flush(0);
	open_journal();
	play_write(0, "four\n");
	expect_message(" a: four$");
	text = play_read("errors", &size);
	ck_assert_str_eq(text, "one\nthree\n");
	free(text);
	(void)close(journal);
}
END_TEST

static int try_what_is_forbidden(void)
{
	char name[] = "true", *const argv[] = { name, NULL };

	if (sandbox_enter() < 0)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 2;
	if (execv("/bin/true", argv) == 0 || errno != EPERM)
		return 3;
	if (kill(1, 0) == 0 || setuid(1) == 0)
		return 4;
	return access("/", F_OK) < 0 || fork() < 0 ? 5 : 0;
}

START_TEST(the_sandbox_forbids_what_is_not_needed)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(try_what_is_forbidden());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

void add_out_tests(Suite *suite)
{
	TCase *t = tcase_create("out");

	tcase_add_checked_fixture(t, play_begin, play_end);
	tcase_add_test(t, lines_become_entries_with_their_fields);
	tcase_add_test(t, an_entry_waits_for_the_process_of_its_run);
	tcase_add_test(t, a_large_entry_is_a_file);
	tcase_add_test(t, a_journal_that_does_not_keep_up_loses_nothing);
	tcase_add_test(t, without_a_journal_lines_wait);
	tcase_add_test(t, lines_become_messages_of_syslog);
	tcase_add_test(t, a_syslogd_that_comes_and_goes_loses_nothing);
	if (HAS_FILTER)
		tcase_add_test(t, the_sandbox_forbids_what_is_not_needed);
	suite_add_tcase(suite, t);
}
