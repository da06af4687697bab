/* Capabilities and system calls of a process that has given up the others. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/rights/rights.h"

/* A sanitizer makes calls of its own. */
#ifdef __SANITIZE_ADDRESS__
#define CALLS_ARE_LIMITED 0
#else
#define CALLS_ARE_LIMITED 1
#endif

static const uint32_t few[] = { SYS_exit_group, SYS_write };

/* In a new process: returns the error of a call that only a program with a loop makes, as an exit status. */
static int error_of_connect(bool loop)
{
	const struct rights rights = { .calls = few, .n_calls = ARRAY_SIZE(few), .loop = loop };
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/nowhere" };
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (fd < 0 || rights_keep(&rights) < 0)
			_exit(99);
		(void)connect(fd, (const struct sockaddr *)&address, sizeof(address));
		_exit(errno);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(a_program_with_a_loop_makes_the_calls_of_one)
{
	ck_assert_int_eq(error_of_connect(true), ENOENT);
}
END_TEST

START_TEST(without_a_loop_no_call_is_allowed_but_those_that_are_named)
{
	ck_assert_int_eq(error_of_connect(false), EPERM);
}
END_TEST

/* --- capabilities --- */

#define KEPT_CAPABILITIES (1U << CAP_CHOWN | 1U << CAP_NET_BIND_SERVICE)

#define NO_CAPABILITY 63

static const uint32_t reading[] = { SYS_exit_group, SYS_write, SYS_read };

/* Programs that are executed get them, too. */
static void pass_on_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		_exit(96);
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		data[i].inheritable = data[i].permitted;
	if (syscall(SYS_capset, &header, data) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_FOWNER, 0, 0) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0) < 0)
		_exit(97);
}

/* In a new process, which keeps two capabilities and waits to be read; @before: without some at first. */
static pid_t keep_capabilities(bool before, int *to)
{
	const struct rights rights = {
		.capabilities = KEPT_CAPABILITIES,
		.calls = reading,
		.n_calls = ARRAY_SIZE(reading),
	};
	int up[2], down[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(up), 0);
	ck_assert_int_eq(pipe(down), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)close(down[1]);
		pass_on_capabilities();
		if (before && (prctl(PR_CAPBSET_DROP, CAP_KILL, 0, 0, 0) < 0 ||
			       prctl(PR_CAPBSET_DROP, CAP_SETUID, 0, 0, 0) < 0))
			_exit(98);
		if (rights_keep(&rights) < 0 || write(up[1], "x", 1) != 1)
			_exit(99);
		_exit(read(down[0], &c, 1) != 0);
	}
	(void)close(up[1]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	(void)close(up[0]);
	(void)close(down[0]);
	*to = down[1];
	return pid;
}

static unsigned long long number_of(pid_t pid, const char *name)
{
	char path[64], line[256];
	unsigned long long number = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			number = strtoull(line + strlen(name), NULL, 16);
	(void)fclose(f);
	return number;
}

/* Also if the process, or its parent, has given up others before. */
START_TEST(no_capability_is_left_but_those_that_are_named)
{
	unsigned long long bound = number_of(getpid(), "CapBnd:\t");
	pid_t pid;
	int to, status;

	/* The right to drop one comes before the refusal of a number that is none. */
	if ((bound & KEPT_CAPABILITIES) != KEPT_CAPABILITIES ||
	    prctl(PR_CAPBSET_DROP, NO_CAPABILITY, 0, 0, 0) == 0 || errno != EINVAL ||
	    number_of(getpid(), "CapEff:\t") != bound) {
		(void)puts("# SKIP machine: not root with capabilities");
		return;
	}
	pid = keep_capabilities(_i, &to);
	ck_assert_uint_eq(number_of(pid, "CapBnd:\t"), KEPT_CAPABILITIES);
	ck_assert_uint_eq(number_of(pid, "CapPrm:\t"), KEPT_CAPABILITIES);
	ck_assert_uint_eq(number_of(pid, "CapEff:\t"), KEPT_CAPABILITIES);
	ck_assert_uint_eq(number_of(pid, "CapInh:\t"), 0);
	ck_assert_uint_eq(number_of(pid, "CapAmb:\t"), 0);
	ck_assert_uint_eq(number_of(pid, "NoNewPrivs:\t"), 1);
	(void)close(to);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* --- system calls --- */

static int open_for(int flags)
{
	return open("/dev/null", flags | O_CLOEXEC) < 0 ? errno : 0;
}

static int open_for_reading(void)
{
	return open_for(O_RDONLY);
}

static int open_for_writing(void)
{
	return open_for(O_WRONLY);
}

static int open_for_both(void)
{
	return open_for(O_RDWR);
}

static int truncate_file(void)
{
	return open_for(O_TRUNC);
}

static int make_file(void)
{
	return open("/nowhere/file", O_RDONLY | O_CREAT | O_CLOEXEC, 0600) < 0 ? errno : 0;
}

static int make_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int make_internet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int call_clone3(void)
{
	return syscall(SYS_clone3, NULL, 0) < 0 ? errno : 0;
}

static int call_named(void)
{
	return syscall(SYS_getppid) < 0 ? errno : 0;
}

static int call_unnamed(void)
{
	return syscall(SYS_getuid) < 0 ? errno : 0;
}

static const struct call {
	int (*make)(void);
	int error, writing; /* the second is for a program that writes files */
} calls[] = {
	{ open_for_reading, 0, 0 },
	{ open_for_writing, EPERM, 0 },
	{ open_for_both, EPERM, 0 },
	{ truncate_file, EPERM, 0 },
	{ make_file, EPERM, ENOENT },
	{ make_unix_socket, 0, 0 },
	{ make_internet_socket, EPERM, EPERM },
	{ call_clone3, ENOSYS, ENOSYS },
	{ call_named, 0, 0 },
	{ call_unnamed, EPERM, EPERM },
};

static const uint32_t named[] = { SYS_exit_group, SYS_getppid };
static const uint32_t named_to_write[] = {
	SYS_exit_group,
	SYS_getppid,
	SYS_openat,
#ifdef SYS_open
	SYS_open,
#endif
};

static int error_of(const struct call *call, bool writes)
{
	const struct rights rights = {
		.calls = writes ? named_to_write : named,
		.n_calls = writes ? ARRAY_SIZE(named_to_write) : ARRAY_SIZE(named),
		.writes = writes,
	};
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(rights_keep(&rights) < 0 ? 99 : call->make());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(call_is_allowed_or_refused)
{
	ck_assert_int_eq(error_of(&calls[_i], false), calls[_i].error);
	ck_assert_int_eq(error_of(&calls[_i], true), calls[_i].writing);
}
END_TEST

START_TEST(more_calls_than_there_is_room_for_are_refused)
{
	uint32_t many[RIGHTS_CALLS_MAX + 1];
	struct rights rights = { .calls = many, .n_calls = ARRAY_SIZE(many) };
	int status;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = SYS_exit_group;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (rights_keep(&rights) != -E2BIG)
			_exit(1);
		rights.n_calls--;
		_exit(rights_keep(&rights) == 0 ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("rights");
	TCase *tc = tcase_create("rights");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, a_program_with_a_loop_makes_the_calls_of_one);
	tcase_add_loop_test(tc, no_capability_is_left_but_those_that_are_named, 0, 2);
	if (!CALLS_ARE_LIMITED)
		return s;
	tcase_add_test(tc, without_a_loop_no_call_is_allowed_but_those_that_are_named);
	tcase_add_loop_test(tc, call_is_allowed_or_refused, 0, (int)ARRAY_SIZE(calls));
	tcase_add_test(tc, more_calls_than_there_is_room_for_are_refused);
	return s;
}
