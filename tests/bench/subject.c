#include "subject.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "report.h"

/* Room for as many pids as there may be children: no child is to wait for us to read. */
#define PIPE_SIZE (1 << 20)
/* Nothing takes so long, unless it does not come at all. */
#define PATIENCE_MSEC 20000

extern char **environ;

void subject_start(struct subject *s, const char *const *argv, size_t n)
{
	posix_spawn_file_actions_t files;
	int fds[2];

	*s = (struct subject){ .n = n, .children = calloc(n, sizeof(pid_t)) };
	if (!s->children || pipe2(fds, O_CLOEXEC) < 0)
		err(EXIT_FAILURE, "%s", argv[0]);
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
	s->births = fds[0];
	errno = posix_spawn_file_actions_init(&files);
	if (errno == 0)
		errno = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	if (errno == 0)
		errno = posix_spawn_file_actions_adddup2(&files, fds[1], 1);
	if (errno == 0)
		errno = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	if (errno == 0)
		errno = posix_spawnp(&s->pid, argv[0], &files, NULL, (char *const *)argv, environ);
	if (errno != 0)
		err(EXIT_FAILURE, "%s", argv[0]);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)close(fds[1]);
}

static void await_readable(int fd, const char *what)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	if (poll(&readable, 1, PATIENCE_MSEC) <= 0)
		errx(EXIT_FAILURE, "%s does not come", what);
}

static pid_t next_birth(struct subject *s)
{
	pid_t pid;

	await_readable(s->births, "a child");
	/* Pids are written whole. */
	if (read(s->births, &pid, sizeof(pid)) != sizeof(pid))
		errx(EXIT_FAILURE, "the supervisor has ended");
	return pid;
}

void subject_await(struct subject *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->children[i] = next_birth(s);
}

uint64_t subject_restart(struct subject *s, size_t child)
{
	uint64_t begun = now_nsec();

	if (kill(s->children[child], SIGKILL) < 0)
		err(EXIT_FAILURE, "kill %d", (int)s->children[child]);
	s->children[child] = next_birth(s);
	return now_nsec() - begun;
}

uint64_t subject_count_births(struct subject *s, unsigned seconds)
{
	uint64_t end = now_nsec() + seconds * UINT64_C(1000000000), n = 0;
	pid_t pids[1024];

	while (now_nsec() < end) {
		ssize_t size;

		await_readable(s->births, "a child");
		size = read(s->births, pids, sizeof(pids));
		if (size <= 0)
			errx(EXIT_FAILURE, "the supervisor has ended");
		n += (uint64_t)size / sizeof(pids[0]);
	}
	return n;
}

static uint64_t usec_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * USEC_PER_SEC + (uint64_t)time.tv_usec;
}

uint64_t subject_stop(struct subject *s)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	struct rusage usage;
	uint64_t begun, took;
	int status;

	begun = now_nsec();
	if (pidfd < 0 || kill(s->pid, SIGTERM) < 0)
		err(EXIT_FAILURE, "the supervisor");
	await_readable(pidfd, "the end of the supervisor");
	if (wait4(s->pid, &status, 0, &usage) < 0)
		err(EXIT_FAILURE, "the supervisor");
	took = now_nsec() - begun;
	(void)close(pidfd);
	if (status != 0)
		errx(EXIT_FAILURE, "the supervisor ended with wait status 0x%x", (unsigned)status);
	for (size_t i = 0; i < s->n; i++)
		if (s->children[i] > 0 && kill(s->children[i], 0) == 0)
			errx(EXIT_FAILURE, "a child was left behind");
	s->cpu_usec = usec_of(usage.ru_utime) + usec_of(usage.ru_stime);
	s->births = fd_close(s->births);
	free(s->children);
	s->children = NULL;
	return took;
}

size_t subject_count_descriptors(const struct subject *s)
{
	const struct dirent *entry;
	char path[64];
	size_t n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)s->pid);
	dir = opendir(path);
	if (!dir)
		err(EXIT_FAILURE, "%s", path);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	return n;
}

uint64_t subject_read(const struct subject *s, const char *file, const char *key)
{
	char path[64], line[256];
	size_t length = strlen(key);
	uint64_t value = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)s->pid, file);
	f = fopen(path, "re");
	if (!f)
		err(EXIT_FAILURE, "%s", path);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			value = strtoull(line + length + 1, NULL, 10);
	(void)fclose(f);
	return value;
}
