#include "spawned.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/signals.h"

/* Our ends are out of the way of tests that place descriptors by number. */
#define OUT_OF_THE_WAY 30

static char *const cat[] = { (char[]){ "cat" }, NULL };
static char *const environment[] = { (char[]){ "PATH=/usr/bin:/bin" }, NULL };
static sigset_t no_signals;

void spawned_setup(void)
{
	struct signals was;

	signals_take_over(&was);
	(void)sigemptyset(&no_signals);
}

static int move_away(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);

	ck_assert_int_ge(moved, 0);
	(void)close(fd);
	return moved;
}

void spawned_init(struct spawned *s)
{
	int in[2], out[2];

	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	*s = (struct spawned){
		.in = move_away(in[1]),
		.out = move_away(out[0]),
		.spec = {
			.argv = cat,
			.envp = environment,
			.umask = -1,
			.share_descriptors = spawn_can_share(),
			.stdio = { move_away(in[0]), move_away(out[1]), 2 },
			.mask = &no_signals,
		},
	};
}

void spawned_file(struct spawned *s, int from, int to)
{
	s->file = (struct spawn_file){ .from = from, .to = to };
	s->spec.files = &s->file;
	s->spec.n_files = 1;
}

void spawned_start(struct spawned *s)
{
	struct spawn_failure failure = { 0 };
	int r = spawn(&s->spec, &s->pid, &failure);
	char answer = 0;

	ck_assert_msg(r == 0, "%d: cannot %s: %s", r, spawn_step_text(failure.step),
		      strerror(failure.error));
	ck_assert_int_eq(write(s->in, "\n", 1), 1);
	ck_assert_int_eq(read(s->out, &answer, 1), 1);
	ck_assert_int_eq(answer, '\n');
}

static int end_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void spawned_done(struct spawned *s)
{
	if (s->pid > 0) {
		(void)kill(s->pid, SIGKILL);
		(void)end_of(s->pid);
	}
	(void)close(s->in);
	(void)close(s->out);
	(void)close(s->spec.stdio[0]);
	(void)close(s->spec.stdio[1]);
}

char *const *spawned_words(const char *a, const char *b, const char *c)
{
	static char *argv[4];

	argv[0] = (char *)a;
	argv[1] = (char *)b;
	argv[2] = (char *)c;
	return argv;
}

int spawned_run(const struct spawn_spec *spec)
{
	struct spawn_failure failure;
	pid_t pid;

	ck_assert_int_eq(spawn(spec, &pid, &failure), 0);
	return end_of(pid);
}

char *spawned_field(char buf[static SPAWNED_FIELD_MAX], const struct spawned *s, const char *name)
{
	size_t length = strlen(name);
	char path[64], line[SPAWNED_FIELD_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	buf[0] = '\0';
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			(void)snprintf(buf, SPAWNED_FIELD_MAX, "%.*s",
				       (int)strcspn(line + length + 2, "\n"), line + length + 2);
	(void)fclose(file);
	return buf;
}

unsigned long long spawned_number(const struct spawned *s, const char *name, int base)
{
	char text[SPAWNED_FIELD_MAX];

	ck_assert_msg(*spawned_field(text, s, name) != '\0', "%s is not in /proc/PID/status", name);
	return strtoull(text, NULL, base);
}

char *spawned_link(char buf[static SPAWNED_LINK_MAX], pid_t pid, const char *name)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	n = readlink(path, buf, SPAWNED_LINK_MAX - 1);
	ck_assert_msg(n > 0, "%s", path);
	buf[n] = '\0';
	return buf;
}

unsigned spawned_count_descriptors(pid_t pid)
{
	const struct dirent *entry;
	unsigned n = 0;
	char path[64];
	DIR *directory;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory)))
		n += entry->d_name[0] != '.';
	(void)closedir(directory);
	return n;
}
