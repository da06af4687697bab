#include "tests/unit/logger/play.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "logger/loop/logger.h"

#define DEADLINE_MSEC 30000

struct play play;

static void play_tell(uint32_t id)
{
	const struct play_stream *s = &play.streams[id];
	struct logger_message m = { .type = LOGGER_ADD, .stream = id, .rules = s->rules };

	ck_assert_int_eq(logger_send(play.control, &m, s->name, s->path, s->in), 0);
}

void play_start(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	play.pid = fork();
	ck_assert_int_ge(play.pid, 0);
	if (play.pid == 0) {
		(void)close(fds[0]);
		for (int i = 0; i < PLAY_STREAMS; i++)
			if (play.streams[i].out) {
				(void)close(play.streams[i].in);
				(void)close(play.streams[i].out);
			}
		_exit(logger_run(fds[1], play.store) < 0);
	}
	(void)close(fds[1]);
	play.control = fds[0];
	play_wait(LOGGER_READY);
	for (uint32_t i = 0; i < PLAY_STREAMS; i++)
		if (play.streams[i].out)
			play_tell(i);
}

int play_start_with_output(void)
{
	int fds[2], saved = dup(STDOUT_FILENO);

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	play_kill();
	ck_assert_int_eq(dup2(fds[1], STDOUT_FILENO), STDOUT_FILENO);
	play_start();
	ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	(void)close(fds[1]);
	(void)close(saved);
	return fds[0];
}

void play_kill(void)
{
	(void)kill(play.pid, SIGKILL);
	ck_assert_int_eq(waitpid(play.pid, NULL, 0), play.pid);
	play.control = fd_close(play.control);
}

int play_signal_helpers(int signo)
{
	char path[64];
	FILE *children;
	int pid, n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)play.pid,
		       (int)play.pid);
	children = fopen(path, "re");
	ck_assert_ptr_nonnull(children);
	while (fscanf(children, "%d", &pid) == 1)
		n += kill(pid, signo) == 0;
	(void)fclose(children);
	return n;
}

void play_begin(void)
{
	make_directory();
	memset(&play, 0, sizeof(play));
	play.store = store_new();
	ck_assert_int_ge(play.store, 0);
	ck_assert_int_eq(store_map(play.store, PROT_READ, &play.mapped), 0);
	play_start();
}

void play_end(void)
{
	if (play.control >= 0)
		play_kill();
	for (int i = 0; i < PLAY_STREAMS; i++) {
		if (!play.streams[i].out)
			continue;
		(void)close(play.streams[i].in);
		(void)close(play.streams[i].out);
	}
	play.mapped = store_unmap(play.mapped);
	(void)close(play.store);
	remove_directory();
}

struct logger_rules play_file(void)
{
	return (struct logger_rules){
		.to = LOGGER_TO_FILE, .mode = 0640, .memory = 65536, .keep = 5
	};
}

void play_add(uint32_t id, const struct logger_rules *rules, const char *name, const char *path)
{
	struct play_stream *s = &play.streams[id];
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	*s = (struct play_stream){ .in = fds[0], .out = fds[1], .rules = *rules };
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	(void)snprintf(s->path, sizeof(s->path), "%s%s%s", *path == '/' ? "" : directory,
		       *path == '/' ? "" : "/", path);
	play_tell(id);
}

void play_run(uint32_t id, pid_t pid, uint64_t generation)
{
	const struct store_run run = { .pid = pid, .generation = generation };

	ck_assert_int_eq(store_set_run(play.store, id, &run), 0);
}

void play_close(uint32_t id)
{
	struct play_stream *s = &play.streams[id];

	s->in = fd_close(s->in);
	s->out = fd_close(s->out);
	*s = (struct play_stream){ 0 };
}

void play_write_bytes(uint32_t id, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(play.streams[id].out, at, size);

		ck_assert_int_gt(n, 0);
		at += n;
		size -= (size_t)n;
	}
}

void play_write(uint32_t id, const char *text)
{
	play_write_bytes(id, text, strlen(text));
}

void play_send(struct logger_message *message)
{
	ck_assert_int_eq(logger_send(play.control, message, NULL, NULL, -1), 0);
}

void play_wait(enum logger_type type)
{
	struct pollfd p = { .fd = play.control, .events = POLLIN };

	for (;;) {
		ck_assert_msg(poll(&p, 1, DEADLINE_MSEC) == 1, "no message of type %d", type);

		int r = logger_receive(play.control, &play.packet);

		if (r == -EAGAIN)
			continue;
		ck_assert_int_eq(r, 1);
		if (play.packet.message.type == type)
			return;
		ck_assert_msg(play.packet.message.type != LOGGER_REFUSED, "refused: %s",
			      play.packet.texts[0]);
	}
}

void play_flush(uint32_t id)
{
	struct logger_message m = { .type = LOGGER_FLUSH, .stream = id, .cookie = ++play.cookie };

	play_send(&m);
	do
		play_wait(LOGGER_FLUSHED);
	while (play.packet.message.cookie != m.cookie);
}

void play_remove(uint32_t id)
{
	struct logger_message m = { .type = LOGGER_REMOVE, .stream = id };

	play_send(&m);
	play_wait(LOGGER_ENDED);
	(void)close(play.streams[id].in);
	(void)close(play.streams[id].out);
	play.streams[id].out = 0;
}

struct store_counts play_counts(uint32_t id)
{
	struct store_counts counts;

	store_count(store_record(play.mapped, id), &counts);
	return counts;
}

char *play_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(fstat(fd, &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(read(fd, text, (size_t)st.st_size), st.st_size);
	*size = (size_t)st.st_size;
	(void)close(fd);
	return text;
}

void play_expect(const char *path, const char *expected)
{
	size_t size;
	char *text = play_read(path, &size);

	ck_assert_str_eq(text, expected);
	free(text);
}

size_t play_count_files(const char *prefix)
{
	DIR *stream = opendir(".");
	struct dirent *entry;
	size_t n = 0;

	ck_assert_ptr_nonnull(stream);
	while ((entry = readdir(stream)))
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(stream);
	return n;
}
