/*
 * All bytes that a daemon, or a program in its place, sends on the control socket, as swansongctl
 * reads them; the first byte selects the command.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/fuzz/program.h"

#define WORDS_MAX 10

/* Commands that start no program and open no file that a reply names. */
#define COMMAND(...)                                                             \
	{                                                                        \
		"swansongctl", "--socket", "/", "--timeout", "50ms", __VA_ARGS__ \
	}
static const char *const commands[][WORDS_MAX] = {
	COMMAND("status"),
	COMMAND("status", "web"),
	COMMAND("status", "--json"),
	COMMAND("tree"),
	COMMAND("list", "*"),
	COMMAND("events"),
	COMMAND("health"),
	COMMAND("start", "web"),
	COMMAND("stop", "web"),
	COMMAND("restart", "*"),
	COMMAND("shutdown", "/"),
	COMMAND("wait", "web"),
	COMMAND("guards"),
	COMMAND("plan"),
	COMMAND("reload"),
	COMMAND("signal", "HUP", "web"),
	COMMAND("run", "web/a", "--", "true"),
};

static const struct fuzz_input *said;

/* A daemon that has sent everything by now, and has closed. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	int pair[2];

	(void)address;
	(void)length;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	(void)send(pair[1], said->data, said->size, MSG_NOSIGNAL);
	FUZZ_CHECK(dup3(pair[0], fd, O_CLOEXEC) == fd);
	(void)close(pair[0]);
	(void)close(pair[1]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t choice = fuzz_byte(&input) % ARRAY_SIZE(commands);

	said = &input;
	(void)fuzz_program((char *const *)commands[choice]);
	return 0;
}
