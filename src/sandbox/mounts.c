/*
 * A tree that has to stay is cloned before anything is covered or made read-only, and the clone put in its
 * place after that: so it keeps its own flags.  The notification socket is one of them.  Without CAP_SYS_ADMIN the namespaces are those of a user
 * namespace, in which the user is the same.
 */
#include "sandbox/mounts.h"

#include <linux/capability.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "sys/spawn/child-attributes.h"

/* A tmpfs over each path for which the key is yes. */
static const struct cover {
	const char *path;
	enum option option;
	const char *mode;
} covers[] = {
	{ "/home", HIDE_HOME, "mode=755" },	  { "/root", HIDE_HOME, "mode=755" },
	{ "/run/user", HIDE_HOME, "mode=755" },	  { "/tmp", PRIVATE_TMP, "mode=1777" },
	{ "/var/tmp", PRIVATE_TMP, "mode=1777" }, { "/dev", PRIVATE_DEVICES, "mode=755" },
};
/* A private /dev has these of the other one. */
static const char *const devices[] = {
	"/dev/null",  "/dev/zero",   "/dev/full",   "/dev/random", "/dev/urandom",   "/dev/tty",
	"/dev/ptmx",  "/dev/pts",    "/dev/shm",    "/dev/mqueue", "/dev/hugepages", "/dev/log",
	"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd",
};
static const struct protection {
	const char *word, *path;
	uint64_t attribute;
} protections[] = {
#define PATH_ROW(word, path, attribute) { word, path, attribute },
#include <base/protections.inc>
};
static const char *const interfaces[] = { "/dev", "/proc", "/sys" };
static const char *const systems[] = { "/usr", "/boot", "/efi", "/etc" };

bool mounts_are_needed(const struct options *o)
{
	bool needed = option_is_set(o, READ_ONLY_SYSTEM) || option_protects(o, "processes");

	for (size_t i = 0; i < ARRAY_SIZE(protections); i++)
		needed |= option_protects(o, protections[i].word);
	for (size_t i = 0; i < ARRAY_SIZE(covers); i++)
		needed |= option_is_set(o, covers[i].option);
	return needed;
}

bool mounts_has_right(void)
{
	return attributes_read_permitted() >> CAP_SYS_ADMIN & 1;
}

static int mounts_write(const char *path, const char *text)
{
	cleanup(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

int mounts_make_users(struct mounts *m)
{
	char users[32], groups[32];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (m->has_users)
		return 0;
	m->has_users = true;
	(void)snprintf(users, sizeof(users), "%u %u 1", uid, uid);
	(void)snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	r = mounts_write("/proc/self/setgroups", "deny");
	if (r == 0)
		r = mounts_write("/proc/self/uid_map", users);
	return r == 0 ? mounts_write("/proc/self/gid_map", groups) : r;
}

static int mounts_unshare(struct mounts *m, int flag)
{
	int r = 0;

	/* The namespace of a user would take the capabilities of root away from a container's files. */
	if (!mounts_has_right())
		r = geteuid() == 0 || option_number(m->options, CAPABILITIES, 0)
			    ? -EPERM
			    : mounts_make_users(m);
	return r < 0 ? r : unshare(flag) < 0 ? -errno : 0;
}

int mounts_make_network(struct mounts *m)
{
	struct ifreq loopback = { .ifr_name = "lo" };
	cleanup(closep) int fd = -1;
	int r = mounts_unshare(m, CLONE_NEWNET);

	if (r < 0)
		return r;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &loopback) < 0)
		return -errno;
	loopback.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &loopback) < 0 ? -errno : 0;
}

int mounts_enter(struct mounts *m)
{
	int r = mounts_unshare(m, CLONE_NEWNS);

	return r < 0 ? r : mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ? -errno : 0;
}

/* A recursive copy of the mounts at @path below @fd, which belong to no namespace yet. */
static int mounts_clone(int fd, const char *path)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
	int tree = open_tree(fd, path, flags);

	return tree < 0 ? -errno : tree;
}

static int mounts_place(int tree, int fd, const char *path)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;

	return move_mount(tree, "", fd, path, flags) < 0 ? -errno : 0;
}

static int mounts_protect(int fd, const char *path, unsigned flags, uint64_t attribute)
{
	struct mount_attr attr = { .attr_set = attribute };

	return mount_setattr(fd, path, flags | AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

/* A path of the configuration may lie below a directory of another user, which may put a link there. */
static int mounts_open(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* A missing path is passed over if @optional. */
static int mounts_keep_path(struct mounts *m, const char *path, bool optional)
{
	char *real = realpath(path, NULL);
	cleanup(closep) int fd = real ? mounts_open(real) : -errno;
	int tree = fd < 0 ? fd : mounts_clone(fd, "");

	if (tree == -ENOENT && optional)
		return 0;
	m->subject = path;
	if (tree < 0 || m->n_kept == MOUNTS_KEPT_MAX)
		return tree < 0 ? tree : -E2BIG;
	m->kept[m->n_kept++] = (struct kept){ real, tree, NULL };
	return 0;
}

static int mounts_keep_device(struct mounts *m, const char *path)
{
	char target[PATH_MAX] = "";

	if (readlink(path, target, sizeof(target) - 1) < 0)
		return mounts_keep_path(m, path, true);
	m->kept[m->n_kept++] = (struct kept){ strdup(path), -1, strdup(target) };
	return 0;
}

int mounts_keep(struct mounts *m)
{
	const char *socket = getenv("NOTIFY_SOCKET");
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(devices); i++)
		if (option_is_set(m->options, PRIVATE_DEVICES))
			r = mounts_keep_device(m, devices[i]);
	if (option_protects(m->options, "tunables") && !option_protects(m->options, "cgroups") &&
	    r == 0)
		r = mounts_keep_path(m, "/sys/fs/cgroup", true);
	for (char *const *path = m->options->words[WRITE_PATHS]; r == 0 && *path; path++)
		r = mounts_keep_path(m, *path + (**path == '-'), **path == '-');
	return r == 0 && socket && *socket == '/' ? mounts_keep_path(m, socket, true) : r;
}

static const struct cover *mounts_find_cover(const struct options *o, const char *path)
{
	for (const struct cover *c = covers; c < covers + ARRAY_SIZE(covers); c++)
		if (option_is_set(o, c->option) && text_is_within(path, c->path))
			return c;
	return NULL;
}

static bool mounts_is_hidden(const struct options *o, const char *path)
{
	const struct cover *cover = mounts_find_cover(o, path);

	return cover && option_is(o, cover->option, "yes");
}

/* The place of a tree below something that covers it: empty, with the directories above. */
static int mounts_make_place(const struct kept *kept)
{
	struct stat st;
	int fd;

	for (char *slash = strchr(kept->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(kept->path, 0755);
		*slash = '/';
	}
	if (kept->target)
		return symlink(kept->target, kept->path) < 0 ? -errno : 0;
	if (fstat(kept->tree, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return mkdir(kept->path, 0755) < 0 && errno != EEXIST ? -errno : 0;
	fd = open(kept->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	(void)fd_close(fd);
	return fd < 0 ? -errno : 0;
}

static int mounts_restore_tree(struct mounts *m, const struct kept *kept)
{
	int r = mounts_is_hidden(m->options, kept->path) ? mounts_make_place(kept) : 0;
	cleanup(closep) int fd = r < 0 || kept->target ? r : mounts_open(kept->path);

	m->subject = kept->path;
	if (fd < 0 || kept->target)
		return fd;
	if (option_is_set(m->options, PRIVATE_DEVICES) && strncmp(kept->path, "/dev/", 5) != 0)
		r = mounts_protect(kept->tree, "", AT_RECURSIVE, MOUNT_ATTR_NODEV);
	return r < 0 ? r : mounts_place(kept->tree, fd, "");
}

/* Puts trees back, but the first @n, and unless @covered those below a cover. */
static int mounts_restore_trees(struct mounts *m, size_t n, bool covered)
{
	size_t n_left = n;
	int r = 0;

	for (size_t i = n; r == 0 && i < m->n_kept; i++) {
		if (!covered && mounts_find_cover(m->options, m->kept[i].path)) {
			m->kept[n_left++] = m->kept[i];
			continue;
		}
		r = mounts_restore_tree(m, &m->kept[i]);
		(void)fd_close(m->kept[i].tree);
	}
	m->n_kept = n_left;
	return r;
}

/* Mounts the tree of @path once more, with the attribute. */
static int mounts_rebind(struct mounts *m, const char *path, uint64_t attribute)
{
	cleanup(closep) int tree = mounts_clone(AT_FDCWD, path);
	int r = tree;

	m->subject = path;
	if (r >= 0)
		r = mounts_protect(tree, "", AT_RECURSIVE, attribute);
	if (r == 0)
		r = mounts_place(tree, AT_FDCWD, path);
	return r == -ENOENT ? 0 : r;
}

int mounts_make_read_only(struct mounts *m)
{
	bool all = option_is(m->options, READ_ONLY_SYSTEM, "yes");
	const char *const *paths = all ? interfaces : systems;
	size_t n = all ? ARRAY_SIZE(interfaces) : ARRAY_SIZE(systems), before = m->n_kept;
	int r = 0;

	n -= option_is(m->options, READ_ONLY_SYSTEM, "usr");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = all ? mounts_keep_path(m, paths[i], true)
			: mounts_rebind(m, paths[i], MOUNT_ATTR_RDONLY);
	if (r == 0 && all)
		r = mounts_protect(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_RDONLY);
	return r == 0 ? mounts_restore_trees(m, before, true) : r;
}

int mounts_cover(struct mounts *m, enum option option)
{
	int r = 0;

	for (const struct cover *c = covers; r == 0 && c < covers + ARRAY_SIZE(covers); c++) {
		if (c->option != option || !option_is_set(m->options, option))
			continue;
		m->subject = c->path;
		if (option_is(m->options, option, "read-only"))
			r = mounts_rebind(m, c->path, MOUNT_ATTR_RDONLY);
		else if (mount("tmpfs", c->path, "tmpfs", MS_NOSUID | MS_NODEV, c->mode) < 0)
			r = errno == ENOENT ? 0 : -errno;
	}
	return r;
}

int mounts_protect_kernel(struct mounts *m)
{
	int r = 0;

	m->subject = "/proc";
	if (option_is_set(m->options, PRIVATE_DEVICES))
		r = mounts_protect(AT_FDCWD, "/", AT_RECURSIVE, MOUNT_ATTR_NODEV);
	if (r == 0 && option_protects(m->options, "processes") &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2") < 0)
		return -errno;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(protections); i++)
		if (option_protects(m->options, protections[i].word))
			r = mounts_rebind(m, protections[i].path, protections[i].attribute);
	return r;
}

int mounts_restore_above(struct mounts *m)
{
	return mounts_restore_trees(m, 0, false);
}

int mounts_restore(struct mounts *m)
{
	int r = mounts_restore_trees(m, 0, true);

	for (const struct cover *c = covers; r == 0 && c < covers + ARRAY_SIZE(covers); c++)
		if (c->option == HIDE_HOME && option_is(m->options, HIDE_HOME, "yes")) {
			m->subject = c->path;
			r = mounts_protect(AT_FDCWD, c->path, 0, MOUNT_ATTR_RDONLY);
			r = r == -ENOENT ? 0 : r;
		}
	return r;
}
