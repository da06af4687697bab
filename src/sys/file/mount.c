/*
 * The fifth field of a line of mountinfo(5) is the mount point, with \040 for a blank; the type of
 * the file system comes after " - ".
 */
#include "sys/file/mount.h"

/* In place. */
static char *mount_parse_point(char *line)
{
	char *field = NULL, *rest = line;

	for (int i = 0; i < 5; i++)
		field = strtok_r(i ? NULL : line, " ", &rest);
	if (field)
		text_unescape_octal(field);
	return field;
}

static bool mount_is_below(const char *path, const char *point)
{
	return strcmp(point, "/") == 0 || text_is_within(path, point);
}

/* Common file systems on disks and in memory; others are asked for an answer, which takes longer. */
static bool mount_is_local(const char *type)
{
	static const char *const local[] = { "btrfs ",	 "ext2 ",  "ext3 ",  "ext4 ", "f2fs ",
					     "overlay ", "ramfs ", "tmpfs ", "xfs ",  "zfs " };

	for (size_t i = 0; type && i < ARRAY_SIZE(local); i++)
		if (strncmp(type, local[i], strlen(local[i])) == 0)
			return true;
	return false;
}

/* Finds the mount point above @path, "/" by default.  Returns true if its file system is local. */
static bool mount_find(const char *path, char **ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	cleanup(freep) char *best = strdup("/"), *line = NULL;
	bool local = true;
	size_t size = 0;

	while (file && best && getline(&line, &size, file) > 0) {
		const char *type = strstr(line, " - ");
		bool is_local = mount_is_local(type ? type + 3 : NULL);
		const char *point = mount_parse_point(line);

		if (!point || !mount_is_below(path, point) || strlen(point) < strlen(best))
			continue;
		free(best);
		best = strdup(point);
		local = is_local;
	}
	if (file)
		(void)fclose(file);
	*ret = take(best);
	return local;
}

int mount_point_of(const char *path, char **ret)
{
	(void)mount_find(path, ret);
	return *ret ? 0 : -ENOMEM;
}

bool mount_answers(const char *path)
{
	cleanup(freep) char *mount = NULL;
	struct pollfd end = { .events = POLLIN };
	bool answers;
	int pipe[2];
	pid_t pid;

	if (mount_find(path, &mount) || pipe2(pipe, O_CLOEXEC) < 0)
		return true;
	pid = fork();
	if (pid == 0) {
		struct stat st;

		(void)dup2(pipe[1], STDERR_FILENO + 1);
		fd_close_above(STDERR_FILENO + 1);
		_exit(lstat(path, &st) < 0);
	}
	(void)close(pipe[1]);
	end.fd = pipe[0];
	answers = pid < 0 || poll(&end, 1, MOUNT_ANSWER_MSEC) > 0;
	if (!answers)
		(void)kill(pid, SIGKILL);
	(void)close(pipe[0]);
	return answers;
}
