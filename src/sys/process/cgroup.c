/*
 * The mount point of cgroup2 comes from /proc/self/mountinfo, the group of a process from
 * /proc/PID/cgroup.  Every other access is openat() below the descriptor of an open group.
 *
 * A tree of groups is removed from its leaves upward, without recursion and without a list: after
 * each removal the walk begins again at the parent.
 */
#include "sys/process/cgroup.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "sys/process/proc.h"

/* A group and a file of it, below a directory that is open. */
#define FILE_PATH_MAX 1024

int cgroup_of(pid_t pid, char buf[static CGROUP_PATH_MAX])
{
	char text[2 * CGROUP_PATH_MAX], *rest = text, *line;
	int r = proc_read_text(pid, "cgroup", text, sizeof(text));

	if (r < 0)
		return r;
	/* The other lines are of version 1. */
	while ((line = strsep(&rest, "\n"))) {
		if (!rest || strncmp(line, "0::/", 4) != 0 || strlen(line) - 3 >= CGROUP_PATH_MAX)
			continue;
		(void)stpcpy(buf, line + 3);
		return 0;
	}
	return -ENOENT;
}

/* --- the mount point --- */

/* Returns the part of @path below @root, or NULL if it is not below. */
static const char *cgroup_path_below(const char *path, const char *root)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

static int cgroup_open_on_mount(const char *mount, const char *below)
{
	cleanup(freep) char *path = text_format("%s%s", mount, below);
	cleanup(closep) int fd = -1;
	struct statfs fs;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	/* Another file system may be mounted over it. */
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOENT;
	return take_fd(fd);
}

/* "31 23 0:28 ROOT MOUNT OPTIONS … - cgroup2 …" */
static int cgroup_open_by_line(char *line, const char *path)
{
	char *rest = line, *root = NULL, *mount = NULL;
	const char *below;

	if (!strstr(line, " - cgroup2 "))
		return -ENOENT;
	for (int i = 0; i < 3 && rest; i++)
		(void)strsep(&rest, " ");
	root = strsep(&rest, " ");
	mount = strsep(&rest, " ");
	if (!root || !mount)
		return -ENOENT;
	text_unescape_octal(root);
	text_unescape_octal(mount);
	below = cgroup_path_below(path, root);
	return below ? cgroup_open_on_mount(mount, below) : -ENOENT;
}

int cgroup_open(const char *path)
{
	cleanup(fclosep) FILE *file = NULL;
	cleanup(freep) char *line = NULL;
	size_t size = 0;
	int r = -ENOENT;

	/* The group is outside of the cgroup namespace. */
	if (strncmp(path, "/..", 3) == 0)
		return -ENOENT;
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return -errno;
	while (r < 0 && getline(&line, &size, file) >= 0)
		r = cgroup_open_by_line(line, path);
	return r;
}

static bool cgroup_has_mark(int group, const char *name)
{
	char value[2];

	return fgetxattr(group, name, value, sizeof(value)) >= 1 && value[0] == '1';
}

static bool cgroup_path_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

bool cgroup_is_delegated(int group, const char *path)
{
	if (faccessat(group, ".", W_OK, AT_EACCESS) < 0 ||
	    faccessat(group, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return false;
	if (!cgroup_path_ends_with(path, ".service") && !cgroup_path_ends_with(path, ".scope") &&
	    !cgroup_path_ends_with(path, ".slice"))
		return true;
	return cgroup_has_mark(group, "trusted.delegate") ||
	       cgroup_has_mark(group, "user.delegate");
}

bool cgroup_is_machine_root(int group)
{
	return faccessat(group, "cgroup.type", F_OK, 0) < 0;
}

/* --- one group --- */

int cgroup_make(int top, const char *path)
{
	return mkdirat(top, path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int cgroup_open_below(int top, const char *path)
{
	int fd = openat(top, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int cgroup_open_file(int top, const char *path, const char *file, int flags)
{
	char name[FILE_PATH_MAX];
	int n = snprintf(name, sizeof(name), "%s/%s", path, file);
	int fd;

	if ((size_t)n >= sizeof(name))
		return -ENAMETOOLONG;
	fd = openat(top, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_read(int top, const char *path, const char *file, char *buf, size_t size)
{
	cleanup(closep) int fd = cgroup_open_file(top, path, file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return 0;
}

int cgroup_write(int top, const char *path, const char *file, const char *value)
{
	cleanup(closep) int fd = cgroup_open_file(top, path, file, O_WRONLY);

	if (fd < 0)
		return fd;
	return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

int cgroup_is_populated(int top, const char *path)
{
	char events[256];
	int r = cgroup_read(top, path, "cgroup.events", events, sizeof(events));

	/* ENODEV: removed after it was opened. */
	if (r == -ENOENT || r == -ENODEV)
		return 0;
	return r < 0 ? r : strstr(events, "populated 1") != NULL;
}

bool cgroup_lists(int top, const char *path, const char *file, const char *word)
{
	char list[1024], *rest = list, *item;

	if (cgroup_read(top, path, file, list, sizeof(list)) < 0)
		return false;
	while ((item = strsep(&rest, " \n")))
		if (strcmp(item, word) == 0)
			return true;
	return false;
}

int cgroup_processes(int top, const char *path, void (*each)(pid_t pid, void *arg), void *arg)
{
	cleanup(closep) int fd = cgroup_open_file(top, path, "cgroup.procs", O_RDONLY);

	return fd < 0 ? fd : proc_read_pids(fd, each, arg);
}

void cgroup_signal(pid_t pid, const char *full_path, int signo)
{
	cleanup(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[CGROUP_PATH_MAX];

	/* The group is read after the pidfd was opened: from then on the pid cannot be reused. */
	if (fd >= 0 && cgroup_of(pid, path) == 0 && strcmp(path, full_path) == 0)
		(void)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
}

static void cgroup_kill_one(pid_t pid, void *arg)
{
	(void)kill(pid, SIGKILL);
}

int cgroup_kill(int top, const char *path)
{
	int r = cgroup_write(top, path, "cgroup.kill", "1");

	return r == -ENOENT ? cgroup_processes(top, path, cgroup_kill_one, NULL) : r;
}

/* --- a tree of groups --- */

static const char *cgroup_next_child(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			return entry->d_name;
	return NULL;
}

static int cgroup_open_directory(int top, const char *path, DIR **ret)
{
	int fd = cgroup_open_below(top, path);

	if (fd < 0)
		return fd;
	*ret = fdopendir(fd);
	if (*ret)
		return 0;
	(void)close(fd);
	return -ENOMEM;
}

int cgroup_children(int top, void (*each)(const char *name, void *arg), void *arg)
{
	cleanup(closedirp) DIR *dir = NULL;
	int r = cgroup_open_directory(top, ".", &dir);
	const char *name;

	while (r == 0 && (name = cgroup_next_child(dir)))
		each(name, arg);
	return r;
}

/* The first group in @path, appended to it.  Return: 1, 0 if there is none, or -errno. */
static int cgroup_append_child(int top, char path[static FILE_PATH_MAX])
{
	cleanup(closedirp) DIR *dir = NULL;
	size_t length = strlen(path);
	int r = cgroup_open_directory(top, path, &dir);
	const char *name = r < 0 ? NULL : cgroup_next_child(dir);

	if (!name)
		return r;
	if (length + strlen(name) + 2 > FILE_PATH_MAX)
		return -ENAMETOOLONG;
	return snprintf(path + length, FILE_PATH_MAX - length, "/%s", name) > 0;
}

/* Descends to a group without groups, removes it, and continues with the group above. */
int cgroup_remove(int top, const char *path)
{
	char at[FILE_PATH_MAX];
	size_t length = strlen(path);
	int r;

	if (unlinkat(top, path, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;
	if (length >= sizeof(at))
		return -ENAMETOOLONG;
	(void)snprintf(at, sizeof(at), "%s", path);
	for (;;) {
		while ((r = cgroup_append_child(top, at)) > 0)
			;
		if (r < 0)
			return r;
		if (unlinkat(top, at, AT_REMOVEDIR) < 0)
			return -errno;
		if (strlen(at) == length)
			return 0;
		*strrchr(at, '/') = '\0';
	}
}
