/*
 * The fifth field of a line of mountinfo(5) is the mount point, with \040 for a blank; the type of
 * the file system comes after " - ", and its options, without blanks, at the end.  A path is followed
 * name by name, up to the first mount point of a file system that is not local: nothing is looked up there.
 */
#include "sys/file/mount.h"

#include <linux/openat2.h>
#include <sys/sysmacros.h>

#define TURNS_MAX 40

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

/* Common file systems on disks and in memory. */
static bool mount_has_local_type(const char *type)
{
	static const char *const local[] = { "btrfs ", "devtmpfs ", "ext2 ",	"ext3 ",
					     "ext4 ",  "f2fs ",	    "overlay ", "ramfs ",
					     "tmpfs ", "xfs ",	    "zfs " };

	for (size_t i = 0; type && i < ARRAY_SIZE(local); i++)
		if (strncmp(type, local[i], strlen(local[i])) == 0)
			return true;
	return false;
}

/* Finds the mount point above @path, "/" by default.  Returns true if its file system is local. */
static bool mount_find(const char *path, char **ret)
{
	cleanup(fclosep) FILE *file = fopen("/proc/self/mountinfo", "re");
	cleanup(freep) char *best = strdup("/"), *line = NULL;
	bool local = true;
	size_t size = 0;

	while (file && best && getline(&line, &size, file) > 0) {
		const char *type = strstr(line, " - ");
		bool is_local = mount_has_local_type(type ? type + 3 : NULL);
		const char *point = mount_parse_point(line);

		if (!point || !mount_is_below(path, point) || strlen(point) < strlen(best))
			continue;
		free(best);
		best = strdup(point);
		local = is_local;
	}
	*ret = take(best);
	return local;
}

int mount_point_of(const char *path, char **ret)
{
	(void)mount_find(path, ret);
	return *ret ? 0 : -ENOMEM;
}

int mount_correct_owner(struct stat *st)
{
	cleanup(fclosep) FILE *file = fopen("/proc/self/mountinfo", "re");
	cleanup(freep) char *line = NULL;
	unsigned major, minor;
	size_t size = 0;

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while (getline(&line, &size, file) > 0) {
		const char *type = strstr(line, " - ");
		const char *user = type ? strstr(strrchr(type, ' '), ",user_id=") : NULL;

		if (!type || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2 ||
		    makedev(major, minor) != st->st_dev)
			continue;
		if (user)
			st->st_uid = (uid_t)strtoul(user + strlen(",user_id="), NULL, 10);
		st->st_mode |= user ? S_IWUSR : strncmp(type, " - proc ", 8) == 0 ? S_IWOTH : 0;
	}
	return feof(file) ? 0 : -EIO;
}

/* Opens @name in @dir, or a link itself; @real is its path, without links.  Return: a descriptor or -errno. */
static int mount_open_next(int dir, const char *name, const char *real)
{
	const struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				      .resolve = RESOLVE_NO_XDEV };
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	cleanup(freep) char *point = NULL;

	if (fd < 0 && errno == EXDEV) {
		if (!mount_find(real, &point) || !point || strcmp(point, real) != 0)
			return -EXDEV;
		fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

enum walk {
	WALK_AGAIN, /* by another path */
	WALK_LOCAL,
	WALK_OTHER,
	WALK_BLIND, /* a kernel, or a container, without openat2(2) */
};

/* @target is that of a link in the directory @real. */
static enum walk mount_turn(char again[static PATH_MAX], const char *real, const char *target,
			    const char *rest)
{
	int n = snprintf(again, PATH_MAX, "%s/%s/%s", *target == '/' ? "" : real, target, rest);

	return n < PATH_MAX ? WALK_AGAIN : WALK_OTHER;
}

static enum walk mount_walk(const char *path, char again[static PATH_MAX])
{
	cleanup(closep) int dir = open("/", O_PATH | O_CLOEXEC);
	char real[PATH_MAX] = "", name[NAME_MAX + 1], target[PATH_MAX], *last;

	while (*(path += strspn(path, "/"))) {
		size_t n = strcspn(path, "/"), length = strlen(real);
		ssize_t link;
		int fd;

		if (n > NAME_MAX || length + n + 2 > sizeof(real))
			return WALK_OTHER;
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, path);
		path += n;
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			last = strrchr(real, '/');
			real[last ? last - real : 0] = '\0';
			return mount_turn(again, real, ".", path);
		}
		(void)snprintf(real + length, sizeof(real) - length, "/%s", name);
		fd = mount_open_next(dir, name, real);
		if (fd == -ENOSYS || fd == -EPERM)
			return WALK_BLIND;
		if (fd < 0)
			return fd == -ENOENT || fd == -ENOTDIR ? WALK_LOCAL : WALK_OTHER;
		(void)fd_close(dir);
		dir = fd;
		link = readlinkat(dir, "", target, sizeof(target) - 1);
		if (link < 0)
			continue;
		target[link] = real[length] = '\0';
		return mount_turn(again, real, target, path);
	}
	return WALK_LOCAL;
}

bool mount_is_local(const char *path)
{
	char paths[2][PATH_MAX];
	cleanup(freep) char *point = NULL;
	enum walk walk = mount_turn(paths[0], "", path, "");

	for (int i = 0; i < TURNS_MAX && walk == WALK_AGAIN; i++)
		walk = mount_walk(paths[i % 2], paths[(i + 1) % 2]);
	/* The text of the path has to do. */
	return walk == WALK_BLIND ? mount_find(path, &point) : walk == WALK_LOCAL;
}

/* --- calls that may wait --- */

/* The answer of the child: the result, which may be a descriptor, and the argument. */
struct answer {
	int r;
	struct iovec parts[2];
	struct msghdr message;
	union fd_room room;
};

static void mount_answer_init(struct answer *answer, void *arg, size_t size)
{
	*answer = (struct answer){ .parts = { { &answer->r, sizeof(answer->r) }, { arg, size } } };
	answer->message = (struct msghdr){ .msg_iov = answer->parts, .msg_iovlen = 2 };
}

static _Noreturn void mount_run_child(int socket, int (*fn)(void *arg), struct answer *answer)
{
	(void)prctl(PR_SET_NAME, MOUNT_NAME);
	(void)dup2(socket, STDERR_FILENO + 1);
	fd_close_above(STDERR_FILENO + 1);
	answer->r = fn(answer->parts[1].iov_base);
	if (answer->r > STDERR_FILENO)
		fd_pass(&answer->message, &answer->room, answer->r);
	_exit(sendmsg(STDERR_FILENO + 1, &answer->message, MSG_NOSIGNAL) < 0);
}

static int mount_take_answer(int socket, struct answer *answer)
{
	int fd;

	answer->message.msg_control = &answer->room;
	answer->message.msg_controllen = sizeof(answer->room);
	if (recvmsg(socket, &answer->message, MSG_CMSG_CLOEXEC) <= 0)
		return -EIO;
	fd = fd_take_passed(&answer->message);
	return answer->r > STDERR_FILENO ? fd : answer->r;
}

static int mount_look(void *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? -errno : 0;
}

bool mount_answers(const char *path)
{
	return mount_is_local(path) || mount_call(path, MOUNT_ANSWER_MSEC, mount_look,
						  (void *)(uintptr_t)path, 0) != -ETIMEDOUT;
}

int mount_call(const char *path, unsigned msec, int (*fn)(void *arg), void *arg, size_t size)
{
	struct pollfd end = { .events = POLLIN };
	struct answer answer;
	int pair[2], r = -ETIMEDOUT;
	pid_t pid;

	if (mount_is_local(path))
		return fn(arg);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	mount_answer_init(&answer, arg, size);
	pid = fork();
	if (pid == 0)
		mount_run_child(pair[1], fn, &answer);
	(void)close(pair[1]);
	end.fd = pair[0];
	if (pid < 0)
		r = -errno;
	else if (poll(&end, 1, (int)msec) > 0)
		r = mount_take_answer(pair[0], &answer);
	else
		(void)kill(pid, SIGKILL);
	(void)close(pair[0]);
	return r;
}
