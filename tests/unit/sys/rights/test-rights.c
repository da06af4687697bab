/* System calls of a process that has given up the others. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
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

Suite *test_suite(void)
{
	Suite *s = suite_create("rights");
	TCase *tc = tcase_create("rights");

	suite_add_tcase(s, tc);
	tcase_add_test(tc, a_program_with_a_loop_makes_the_calls_of_one);
	if (CALLS_ARE_LIMITED)
		tcase_add_test(tc, without_a_loop_no_call_is_allowed_but_those_that_are_named);
	return s;
}
