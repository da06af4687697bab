#include "exporter/limits/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/exporter/test-exporter.h"

static bool is_denied(int r)
{
	return r < 0 && errno == EPERM;
}

/* Return: 0, or the number of the attempt that has another result than it should. */
static int try_what_is_forbidden(void)
{
	char name[] = "true", *const argv[] = { name, NULL };

	if (sandbox_enter() < 0)
		return 1;
	if (!is_denied(socket(AF_INET, SOCK_STREAM, 0)) ||
	    !is_denied(socket(AF_NETLINK, SOCK_RAW, 0)))
		return 2;
	if (!is_denied(execv("/bin/true", argv)) || !is_denied(fork()))
		return 3;
	if (!is_denied(kill(getpid(), 0)) || !is_denied(setuid(1)))
		return 4;
	if (!is_denied(open("/dev/null", O_WRONLY)) || !is_denied(open("/dev/null", O_RDWR)) ||
	    !is_denied(open("/nothing", O_RDONLY | O_CREAT, 0600)) ||
	    !is_denied(open("/nothing", O_RDONLY | O_TRUNC)))
		return 5;
	if (!is_denied(unlink("/nothing")) || !is_denied(rename("/nothing", "/none")) ||
	    !is_denied(chmod("/nothing", 0777)) || !is_denied(link("/nothing", "/none")))
		return 6;
	if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 || socket(AF_UNIX, SOCK_STREAM, 0) < 0)
		return 7;
	return 0;
}

START_TEST(the_sandbox_leaves_reading_and_the_sockets_of_unix)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(try_what_is_forbidden());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

TCase *sandbox_tests(void)
{
	TCase *tests = tcase_create("sandbox");

#ifndef __SANITIZE_ADDRESS__ /* which makes system calls of its own */
	tcase_add_test(tests, the_sandbox_leaves_reading_and_the_sockets_of_unix);
#endif
	return tests;
}
