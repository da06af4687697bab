/*
 * The file of the history begins with struct crash_history; what is behind it belongs to the handler and to
 * the owner of the program.
 */
#include "sys/spawn/crash-history.h"

int crash_history_new(const struct signals *signals)
{
	const struct crash_history history = {
		.magic = CRASH_MAGIC,
		.format = CRASH_FORMAT,
		.size = sizeof(history),
		.signals = *signals,
	};
	cleanup(closep) int fd = memfd_create("swansong-crashes", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &history, sizeof(history), 0) != sizeof(history))
		return -errno;
	return take_fd(fd);
}

int crash_history_read(int fd, struct crash_history *ret)
{
	if (pread(fd, ret, sizeof(*ret), 0) != sizeof(*ret) || ret->magic != CRASH_MAGIC ||
	    ret->format != CRASH_FORMAT || ret->size != sizeof(*ret))
		return -EBADMSG;
	return 0;
}

void crash_history_spare(int fd, pid_t pid)
{
	const int64_t spared = pid;

	(void)!pwrite(fd, &spared, sizeof(spared), offsetof(struct crash_history, spared));
}

int crash_take(struct crash_history *ret)
{
	const char *value = getenv(CRASH_VARIABLE);
	enum crash_reason reason = getenv(CRASH_REHEARSAL_VARIABLE) ? CRASH_REHEARSAL : CRASH_NONE;
	uint64_t fd;
	int r = !value				      ? -ENOENT
		: parse_uint(value, INT_MAX, &fd) < 0 ? -EBADMSG
						      : crash_history_read((int)fd, ret);

	/* The next image knows by it a child that has executed no program. */
	(void)prctl(PR_SET_NAME, program_invocation_short_name);
	if (r < 0 || reason == CRASH_REHEARSAL)
		ret->reason = reason;
	if (r < 0)
		return r;
	(void)unsetenv(CRASH_VARIABLE);
	(void)unsetenv(CRASH_REHEARSAL_VARIABLE);
	(void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	if (ret->reason == CRASH_REPLACED)
		(void)fcntl(ret->former, F_SETFD, FD_CLOEXEC);
	return (int)fd;
}

const struct crash *crash_latest(const struct crash_history *history)
{
	return &history->last[(history->n - 1) % CRASHES_KEPT];
}
