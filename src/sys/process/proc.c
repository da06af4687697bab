/*
 * The name in /proc/PID/stat may contain any byte, also blanks and brackets, so fields are counted
 * from the last ')'. An environment may be larger than any buffer: it is read in pieces and
 * compared while it is read.
 */
#include "sys/process/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"

static int open_file(pid_t pid, const char *file)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int proc_read_text(pid_t pid, const char *file, char *buf, size_t size)
{
	cleanup(closep) int fd = open_file(pid, file);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	buf[n] = '\0';
	return 0;
}

/* " S PPID PGRP SESSION …" */
static int parse_relations(const char *text, struct proc_info *info)
{
	pid_t *const numbers[] = { &info->parent, &info->group, &info->session };

	if (text[0] != ' ' || !text[1])
		return -EIO;
	info->state = text[1];
	text += 2;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		char *end;

		*numbers[i] = (pid_t)strtol(text, &end, 10);
		if (end == text)
			return -EIO;
		text = end;
	}
	return 0;
}

int proc_read(pid_t pid, struct proc_info *ret)
{
	struct proc_info info = { 0 };
	char text[1024];
	char *open, *close;
	int r = proc_read_text(pid, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	/* "PID (NAME) …"; the name may contain any byte. */
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || parse_relations(close + 1, &info) < 0)
		return -EIO;
	*close = '\0';
	(void)snprintf(info.name, sizeof(info.name), "%.*s", (int)sizeof(info.name) - 1, open + 1);
	*ret = info;
	return 0;
}

int proc_uid(pid_t pid, uid_t *ret)
{
	char text[1024];
	const char *line;
	int r = proc_read_text(pid, "status", text, sizeof(text));

	if (r < 0)
		return r;
	line = strstr(text, "\nUid:\t");
	if (!line)
		return -EIO;
	*ret = (uid_t)strtoul(line + 6, NULL, 10);
	return 0;
}

int proc_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

void proc_pids(const char *buf, size_t n, pid_t *rest, void (*each)(pid_t pid, void *arg),
	       void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (buf[i] >= '0' && buf[i] <= '9') {
			*rest = *rest * 10 + (buf[i] - '0');
			continue;
		}
		if (*rest > 0)
			each(*rest, arg);
		*rest = 0;
	}
}

/* Reads an environment of any size in pieces, matching from the start of each variable. */
int proc_environment(pid_t pid, const char *name, char *buf, size_t size)
{
	cleanup(closep) int fd = open_file(pid, "environ");
	size_t name_length = strlen(name);
	size_t column = 0, used = 0;
	bool matching = true, blank = true;
	char piece[4096];
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		blank = false;
		for (ssize_t i = 0; i < n; i++) {
			char c = piece[i];

			if (c == '\0') {
				if (matching && column > name_length && used < size) {
					buf[used] = '\0';
					return 0;
				}
				column = used = 0;
				matching = true;
				continue;
			}
			if (matching && column < name_length)
				matching = c == name[column];
			else if (matching && column == name_length)
				matching = c == '=';
			else if (matching && used < size)
				buf[used++] = c;
			column++;
		}
	}
	if (n < 0)
		return -errno;
	/* An exec frees the memory, which then reads as empty: check that the process exists. */
	return blank || pread(fd, piece, 1, 0) != 1 ? -ENODATA : -ENOENT;
}

/* The start is the 22nd field, in ticks since the boot; the third one follows the name. */
int proc_age(pid_t pid, uint64_t *ret_usec)
{
	uint64_t tick_usec = USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t started_usec, now_usec;
	struct timespec now;
	char text[1024];
	char *field;
	int r = proc_read_text(pid, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	field = strrchr(text, ')');
	for (int i = 2; i < 22 && field; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return -EIO;
	started_usec = (strtoull(field, NULL, 10) + 1) * tick_usec;
	if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return -errno;
	now_usec = (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / 1000;
	*ret_usec = now_usec > started_usec ? now_usec - started_usec : 0;
	return 0;
}
