/*
 * The name in /proc/PID/stat may contain any byte, also blanks and brackets, so fields are counted
 * from the last ')'. An environment may be larger than any buffer: it is read in pieces and
 * compared while it is read.
 */
#include "sys/process/proc.h"

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

/* Calls @each for the names that begin with a digit. */
static int proc_each_number(const char *path, int (*each)(int dir, const char *name, void *arg),
			    void *arg)
{
	cleanup(closedirp) DIR *dir = opendir(path);
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

/* A path, as it leads in the mount namespace of this process. */
struct proc_file {
	struct stat st;
	int error; /* of stat(2) */
	char path[];
};

DEFINE_DICT_NAME(proc_file_path, struct proc_file, path)

/* @root: of another mount namespace, or -1.  Return: 0 or -errno. */
static int proc_stat_file(struct proc_files *files, int root, const char *path, struct stat *ret)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	cleanup(closep) int fd = -1;
	struct proc_file *file;

	if (root >= 0) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		return fd < 0 || fstat(fd, ret) < 0 ? -errno : 0;
	}
	file = dict_find(&files->by_path, path);
	if (!file) {
		file = calloc(1, sizeof(*file) + strlen(path) + 1);
		if (!file)
			return -ENOMEM;
		(void)strcpy(file->path, path);
		file->error = stat(path, &file->st) < 0 ? errno : 0;
		(void)dict_add(&files->by_path, file);
	}
	*ret = file->st;
	return -file->error;
}

/*
 * @line: of /proc/PID/maps.  The path is from the root of the mount namespace, or from the reader's own root in the same
 * one.  A file that another machine has replaced, or a server in user space, has no mark.  stat(2) has another device for
 * overlayfs and btrfs: it is compared only where there is no mark.
 *
 * Return: 1, with *path in @line; 0; -errno.
 */
static int proc_is_replaced(struct proc_files *files, pid_t pid, int root, char *line, char **path)
{
	const char *rights = strchrnul(line, ' ');
	char program[PATH_MAX];
	unsigned major, minor;
	uint64_t inode;
	bool deleted;
	struct stat st;
	int at = 0, r;

	if (strnlen(rights, 4) < 4 || rights[3] != 'x' ||
	    sscanf(rights, " %*s %*s %x:%x %" SCNu64 " %n", &major, &minor, &inode, &at) < 3 ||
	    rights[at] != '/')
		return 0;
	*path = line + (rights - line) + at;
	(*path)[strcspn(*path, "\n")] = '\0';
	deleted = proc_cut_deleted(*path);
	r = proc_stat_file(files, root, *path, &st);
	if (r == -ENOENT || r == -ENOTDIR) {
		if (proc_program(pid, program) < 0)
			*program = '\0';
		return deleted && proc_was_installed(*path, program);
	}
	if (r < 0)
		return r;
	return S_ISREG(st.st_mode) && st.st_ino != inode &&
	       (deleted || st.st_dev == makedev(major, minor));
}

/* Opens the root of @pid, if that is in another mount namespace; else *ret is -1.  Return: 0 or -errno. */
static int proc_open_root(struct proc_files *files, pid_t pid, int *ret)
{
	char path[64], its[sizeof(files->namespace)] = "";

	*ret = -1;
	if (!files->by_path.name_of) {
		if (readlink("/proc/self/ns/mnt", files->namespace, sizeof(its) - 1) < 0)
			return -errno;
		dict_init(&files->by_path, proc_file_path);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (readlink(path, its, sizeof(its) - 1) < 0)
		return -errno;
	if (strcmp(its, files->namespace) == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	*ret = open(path, O_PATH | O_CLOEXEC);
	return *ret < 0 ? -errno : 0;
}

int proc_find_replaced(struct proc_files *files, pid_t pid, char **ret)
{
	cleanup(freep) char *line = NULL;
	cleanup(closep) int root = -1;
	cleanup(fclosep) FILE *maps = NULL;
	char name[32], buf[4096], *path = NULL;
	size_t size = 0;
	int r = proc_open_root(files, pid, &root);

	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (!maps)
		return -errno;
	(void)setvbuf(maps, buf, _IOFBF, sizeof(buf)); /* saves an fstat(2) */
	/* A file that cannot be looked at does not hide another one. */
	while (r < 1 && getline(&line, &size, maps) >= 0) {
		int one = proc_is_replaced(files, pid, root, line, &path);

		r = one ? one : r;
	}
	if (r == 1)
		r = (*ret = strdup(path)) ? 1 : -ENOMEM;
	return r;
}
