/*
 * The name in /proc/PID/stat may contain any byte, also blanks and brackets, so fields are counted
 * from the last ')'. An environment may be larger than any buffer: it is read in pieces and
 * compared while it is read.
 */
#include "sys/process/proc.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/sysmacros.h>

int proc_read_text(pid_t pid, const char *file, char *buf, size_t size)
{
	cleanup(closep) int fd = -1;
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	buf[n] = '\0';
	return 0;
}

static void proc_closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* Calls @each for the names that begin with a digit. */
static int proc_each_number(const char *path, int (*each)(int dir, const char *name, void *arg),
			    void *arg)
{
	cleanup(proc_closedirp) DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = readdir(dir)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			r = each(dirfd(dir), entry->d_name, arg);
	return r;
}

struct each_process {
	int (*each)(pid_t pid, void *arg);
	void *arg;
};

static int proc_call_each_process(int dir, const char *name, void *arg)
{
	const struct each_process *p = arg;

	return p->each((pid_t)strtol(name, NULL, 10), p->arg);
}

int proc_each(int (*each)(pid_t pid, void *arg), void *arg)
{
	struct each_process p = { .each = each, .arg = arg };

	return proc_each_number("/proc", proc_call_each_process, &p);
}

int proc_each_descriptor(pid_t pid, int (*each)(int dir, const char *name, void *arg), void *arg)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return proc_each_number(path, each, arg);
}

struct each_child {
	void (*each)(pid_t pid, void *arg);
	void *arg;
};

static int proc_each_child_of_thread(int dir, const char *name, void *arg)
{
	const struct each_child *c = arg;
	cleanup(closep) int fd = -1;
	char path[32];

	(void)snprintf(path, sizeof(path), "%.16s/children", name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : proc_read_pids(fd, c->each, c->arg);
}

int proc_each_child(pid_t pid, void (*each)(pid_t pid, void *arg), void *arg)
{
	struct each_child c = { .each = each, .arg = arg };
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return proc_each_number(path, proc_each_child_of_thread, &c);
}

/*
 * "S PPID PGRP SESSION TTY TPGID FLAGS MINFLT CMINFLT MAJFLT CMAJFLT UTIME STIME CUTIME CSTIME
 * PRIORITY NICE THREADS 0 START VSIZE RSS", times in ticks, RSS in pages.
 */
#define FORKED_NOT_EXECUTED 0x40 /* PF_FORKNOEXEC of the kernel */

static int proc_parse_fields(const char *text, struct proc_info *info)
{
	uint64_t tick_usec = USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t user, system, children_user, children_system, start, pages;
	unsigned flags;

	if (sscanf(text,
		   " %c %d %d %d %*d %*d %u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %*d %*d %*d %*d %" SCNu64 " %*u %" SCNu64,
		   &info->state, &info->parent, &info->group, &info->session, &flags, &user,
		   &system, &children_user, &children_system, &start, &pages) != 11)
		return -EIO;
	/* Another process, such as the keeper, is collecting it. */
	if (info->state == 'X')
		info->state = 'Z';
	info->executed = !(flags & FORKED_NOT_EXECUTED);
	info->cpu_usec = (user + system + children_user + children_system) * tick_usec;
	info->memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	info->started_usec = (start + 1) * tick_usec;
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
	if (!open || !close || proc_parse_fields(close + 1, &info) < 0)
		return -EIO;
	*close = '\0';
	(void)snprintf(info.name, sizeof(info.name), "%.*s", (int)sizeof(info.name) - 1, open + 1);
	*ret = info;
	return 0;
}

int proc_read_child(pid_t pid, struct proc_info *ret)
{
	siginfo_t info;

	*ret = (struct proc_info){ .parent = getpid(), .group = pid };
	return getpgid(pid) == pid && waitid(P_PID, (id_t)pid, &info,
					     WEXITED | WNOHANG | WNOWAIT | __WALL) == 0
		       ? 0
		       : -ECHILD;
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

bool proc_would_end(pid_t pid, int signo)
{
	static const char *const masks[] = { "\nSigBlk:\t", "\nSigIgn:\t", "\nSigCgt:\t" };
	bool handled = signo == SIGCHLD || signo == SIGCONT || signo == SIGURG || signo == SIGWINCH;
	char text[4096];

	if (proc_read_text(pid, "status", text, sizeof(text)) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		const char *line = strstr(text, masks[i]);

		if (!line)
			return false;
		handled |= strtoull(line + strlen(masks[i]), NULL, 16) >> (signo - 1) & 1;
	}
	return !handled;
}

int proc_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

/* A number may be cut at the end of a piece: *rest, 0 at first, keeps its beginning. */
static void proc_parse_pids(const char *buf, size_t n, pid_t *rest,
			    void (*each)(pid_t pid, void *arg), void *arg)
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

int proc_read_pids(int fd, void (*each)(pid_t pid, void *arg), void *arg)
{
	char buf[4096];
	pid_t rest = 0;
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		proc_parse_pids(buf, (size_t)n, &rest, each, arg);
	return n < 0 ? -errno : 0;
}

int proc_age(pid_t pid, uint64_t *ret_usec)
{
	struct proc_info info;
	struct timespec now;
	uint64_t now_usec;
	int r = proc_read(pid, &info);

	if (r < 0)
		return r;
	if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return -errno;
	now_usec = (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / 1000;
	*ret_usec = now_usec > info.started_usec ? now_usec - info.started_usec : 0;
	return 0;
}

/* --- its files --- */

/* Removes " (deleted)", with which the kernel marks a removed file.  Returns true if it was there. */
static bool proc_cut_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	char *end = path + strlen(path) - MIN(strlen(path), strlen(mark));

	if (strcmp(end, mark) != 0)
		return false;
	*end = '\0';
	return true;
}

int proc_program(pid_t pid, char ret[static PATH_MAX])
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret, PATH_MAX - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	(void)proc_cut_deleted(ret);
	return 0;
}

/* Returns true if the file that was removed from @path was a program or a library that had been installed. */
static bool proc_was_installed(const char *path, const char *program)
{
	static const char *const others[] = { "/tmp/",	   "/var/tmp/", "/run/",
					      "/var/run/", "/dev/",	"/memfd:" };
	const char *name = strrchr(path, '/') + 1, *suffix = strstr(name, ".so");

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strncmp(path, others[i], strlen(others[i])) == 0)
			return false;
	return *name != '#' && ((suffix && strchr(".", suffix[3])) || strcmp(path, program) == 0);
}

/*
 * @line: of /proc/PID/maps.  The path is from the root of the mount namespace, or from the reader's own root in the same
 * one.  A file that another machine has replaced, or a server in user space, has no mark.  stat(2) has another device for
 * overlayfs and btrfs: it is compared only where there is no mark.
 *
 * Return: 1, with *path in @line; 0; -errno.
 */
static int proc_is_replaced(int root, const char *program, char *line, char **path)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	unsigned major, minor;
	cleanup(closep) int fd = -1;
	uint64_t inode;
	bool deleted;
	struct stat st;
	char execute;
	int at = 0;

	if (sscanf(line, "%*s %*2c%c%*c %*s %x:%x %" SCNu64 " %n", &execute, &major, &minor, &inode,
		   &at) < 4 ||
	    execute != 'x' || line[at] != '/')
		return 0;
	*path = line + at;
	(*path)[strcspn(*path, "\n")] = '\0';
	deleted = proc_cut_deleted(*path);
	fd = root < 0 ? open(*path, O_PATH | O_CLOEXEC)
		      : (int)syscall(SYS_openat2, root, *path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return deleted && proc_was_installed(*path, program);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_ino != inode &&
	       (deleted || st.st_dev == makedev(major, minor));
}

int proc_find_replaced(pid_t pid, char **ret)
{
	cleanup(freep) char *line = NULL;
	cleanup(closep) int dir = -1, root = -1;
	char name[32], program[PATH_MAX], *path = NULL;
	struct stat own, its;
	size_t size = 0;
	FILE *maps;
	int r = 0, fd;

	(void)snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || stat("/proc/self/ns/mnt", &own) < 0 || fstatat(dir, "ns/mnt", &its, 0) < 0 ||
	    (own.st_ino != its.st_ino && (root = openat(dir, "root", O_PATH | O_CLOEXEC)) < 0))
		return -errno;
	if (proc_program(pid, program) < 0)
		*program = '\0';
	fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
	maps = fd < 0 ? NULL : fdopen(fd, "r");
	if (!maps)
		return -errno;
	/* A file that cannot be looked at does not hide another one. */
	while (r < 1 && getline(&line, &size, maps) >= 0) {
		int one = proc_is_replaced(root, program, line, &path);

		r = one ? one : r;
	}
	(void)fclose(maps);
	if (r == 1)
		r = (*ret = strdup(path)) ? 1 : -ENOMEM;
	return r;
}
