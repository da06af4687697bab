#include "tests/unit/daemon/logger/fake-logger.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "daemon/logger/log-stream.h"
#include "daemon/logger/logging.h"

/* Processes of the tree have higher numbers, and no process of the machine has these. */
#define FIRST_PID 0x7fffe000

struct fake_logger fake = { .socket = -1 };

int __wrap_spawn_begin(const struct spawn_spec *spec, struct spawn_pool *pool, struct spawning *ret,
		       int *error);
int __wrap_spawn_begin(const struct spawn_spec *spec, struct spawn_pool *pool, struct spawning *ret,
		       int *error)
{
	(void)pool;
	*error = 0;
	if (fake.refused)
		return -fake.refused;
	(void)fd_close(fake.socket);
	fake.socket = fcntl(spec->files[0].from, F_DUPFD_CLOEXEC, 3);
	ck_assert_int_ge(fake.socket, 0);
	fake.pid = FIRST_PID + (pid_t)fake.started++;
	*ret = (struct spawning){ .pid = fake.pid, .fd = -1 };
	return 0;
}

int __real_spawn_check(struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
		       int *error);
int __wrap_spawn_check(struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
		       int *error);
int __wrap_spawn_check(struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
		       int *error)
{
	if (s->pid < FIRST_PID)
		return __real_spawn_check(s, pool, failure, error);
	*s = (struct spawning){ .pid = 0 };
	*failure = (struct spawn_failure){ .error = fake.failed };
	return fake.failed ? SPAWN_E_CHILD : 0;
}

int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo)
{
	if (pid != fake.pid)
		return __real_kill(pid, signo);
	ck_assert_int_eq(signo, SIGKILL);
	fake.killed++;
	return 0;
}

void fake_logger_begin(void)
{
	const struct credentials user = { .set = false };

	(void)setenv("SWANSONG_LOGGER", "/proc/self/exe", 1); /* it is opened, and not executed */
	fake = (struct fake_logger){ .socket = -1 };
	ck_assert_int_eq(logging_new(&ctx.logger, &ctx, &user), 0);
	logging_begin(ctx.logger);
}

void fake_logger_end(void)
{
	ctx.logger = logging_free(ctx.logger);
	fake.socket = fd_close(fake.socket);
}

void fake_logger_serve(void)
{
	int n = 0;

	while (sd_event_run(ctx.event, 0) > 0)
		ck_assert_int_lt(n++, 1000);
	turns();
}

void fake_logger_sends(enum logger_type type, uint32_t stream, uint64_t cookie)
{
	struct logger_message m = { .type = type, .stream = stream, .cookie = cookie };

	ck_assert_int_eq(logger_send(fake.socket, &m, NULL, NULL, -1), 0);
	fake_logger_serve();
}

void fake_logger_is_ready(void)
{
	fake_logger_sends(LOGGER_READY, LOGGER_ALL, 0);
}

void fake_logger_ends(void)
{
	fake.socket = fd_close(fake.socket);
	logger_child_died(&ctx.logger->child.process);
	turns();
}

const struct logger_packet *fake_logger_hears(enum logger_type type)
{
	static struct logger_packet packet;

	while (fake.socket >= 0 && logger_receive(fake.socket, &packet) > 0) {
		packet.fd = fd_close(packet.fd);
		if (packet.message.type == type)
			return &packet;
	}
	return NULL;
}

struct log_stream *fake_logger_stream(const char *node, enum logger_format format)
{
	const struct logger_rules rules = { .to = LOGGER_TO_ERROR, .format = format, .memory = 1 };
	struct log_stream *stream;

	ck_assert_int_eq(log_stream_get(&stream, ctx.logger, node, LOGGER_OUTPUT), 0);
	ck_assert_int_eq(log_stream_use(stream, &rules, ""), 0);
	return stream;
}
