/*
 * The walk holds a descriptor of the directory that it has reached, and opens the next name in it with
 * O_NOFOLLOW, so that no rename meanwhile leads it elsewhere.  The owner of each directory decides, so
 * each is opened by itself: openat2(2) with RESOLVE_NO_SYMLINKS would do for one name what O_NOFOLLOW does.  A link
 * that is followed is read, and its target takes the place of its name in the rest of the path.
 */
#include "sys/file/path.h"

#ifndef RENAME_NOREPLACE /* some C libraries lack the wrapper of renameat2(2), too */
#define RENAME_NOREPLACE 1
#endif

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define FILE_FLAGS	(O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define LINKS_MAX	40 /* as the kernel */

enum walk_last { WALK_KEEP, WALK_FOLLOW };

struct walk {
	struct path *path; /* its directory is the one that the walk has reached */
	enum path_make make;
	unsigned links;
	char at[PATH_MAX], rest[PATH_MAX];
};

static bool path_trusts(const struct path *p, uid_t uid)
{
	return uid == 0 || uid == p->ours || uid == p->top;
}

/* Returns true if only trusted users can rename @entry, or, if it is NULL, a file in the directory. */
static bool path_is_fixed(const struct path *p, const struct stat *entry)
{
	if (!path_trusts(p, p->st.st_uid))
		return false;
	if (!(p->st.st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	/* A file may be a hard link that another user has made; a directory cannot. */
	return p->st.st_mode & S_ISVTX && entry && S_ISDIR(entry->st_mode) &&
	       path_trusts(p, entry->st_uid);
}

/* Notes the directory if it is the first one that lets another user rename @entry. */
static void path_judge(struct walk *w, const struct stat *entry)
{
	struct path_doubt *doubt = &w->path->doubt;
	const struct stat *st = &w->path->st;

	if (*doubt->at || path_is_fixed(w->path, entry))
		return;
	(void)strcpy(doubt->at, *w->at ? w->at : "/");
	doubt->uid = st->st_uid;
	doubt->gid = st->st_gid;
	doubt->mode = st->st_mode;
	if (path_trusts(w->path, st->st_uid))
		doubt->mode &= ~(mode_t)S_IWUSR;
}

/* Enters the directory @fd, which it takes. */
static int path_enter(struct walk *w, int fd, const struct stat *st)
{
	fd_close(w->path->directory);
	w->path->directory = fd;
	w->path->st = *st;
	return 0;
}

static int path_enter_top(struct walk *w)
{
	cleanup(closep) int fd = open("/", DIRECTORY_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* In a user namespace, root of the machine has another number, or none. */
	w->path->top = st.st_uid;
	*w->at = '\0';
	return path_enter(w, take_fd(fd), &st);
}

/* Puts @target in front of the rest of the path. */
static int path_prepend(struct walk *w, const char *target)
{
	size_t length = strlen(target), rest = strlen(w->rest) + 1;

	if (length + 1 + rest > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + length + (rest > 1), w->rest, rest);
	if (rest > 1)
		w->rest[length] = '/';
	memcpy(w->rest, target, length);
	if (rest == 1)
		w->rest[length] = '\0';
	return *target == '/' ? path_enter_top(w) : 0;
}

/* Return: -ENOTDIR if @name is no link. */
static int path_follow(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(w->path->directory, name, target, sizeof(target) - 1);

	/* A link of another process cannot be read by each process. */
	if (n < 0 && errno != EACCES)
		return errno == EINVAL ? -ENOTDIR : -errno;
	path_judge(w, NULL);
	if (*w->path->doubt.at || ++w->links > LINKS_MAX)
		return -ELOOP;
	if (n <= 0)
		return n < 0 ? -EACCES : -ENOENT;
	target[n] = '\0';
	return path_prepend(w, target);
}

static int path_open_directory(struct walk *w, const char *name)
{
	int fd = openat(w->path->directory, name, DIRECTORY_FLAGS);

	if (fd >= 0 || errno != ENOENT || w->make == PATH_FIND)
		return fd < 0 ? -errno : fd;
	if (mkdirat(w->path->directory, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(w->path->directory, name, DIRECTORY_FLAGS);
	return fd < 0 ? -errno : fd;
}

/* After a rename of the directory meanwhile, ".." is any other directory. */
static int path_climb(struct walk *w, const struct stat *st, int fd)
{
	char *slash = strrchr(w->at, '/');

	if (slash)
		*slash = '\0';
	return path_enter(w, fd, st);
}

static int path_step(struct walk *w, const char *name)
{
	cleanup(closep) int fd = path_open_directory(w, name);
	size_t length = strlen(w->at);
	struct stat st;
	bool is_mount;
	int r;

	if (fd == -ENOTDIR || fd == -ELOOP)
		return path_follow(w, name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (strcmp(name, "..") == 0)
		return *w->path->doubt.at ? -ELOOP : path_climb(w, &st, take_fd(fd));
	is_mount = st.st_dev != w->path->st.st_dev;
	if (is_mount && path_trusts(w->path, st.st_uid) && (r = mount_correct_owner(&st)) < 0)
		return r;
	/* The owner of the directory below a mount point may rename that. */
	path_judge(w, is_mount ? NULL : &st);
	if (length + 1 + strlen(name) >= sizeof(w->at))
		return -ENAMETOOLONG;
	w->at[length] = '/';
	(void)strcpy(w->at + length + 1, name);
	return path_enter(w, take_fd(fd), &st);
}

/* Takes the next name of the rest.  Return: 1: it is the last one; 0; -EISDIR: there is none; -errno. */
static int path_take_name(struct walk *w)
{
	const char *name = w->rest;
	size_t length;

	do {
		name += strspn(name, "/");
		length = strcspn(name, "/");
	} while (length == 1 && *name == '.' && name++);
	if (length == 0)
		return -EISDIR;
	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(w->path->name, name, length);
	w->path->name[length] = '\0';
	memmove(w->rest, name + length, strlen(name + length) + 1);
	return !*w->rest && strcmp(w->path->name, "..") != 0;
}

static int path_run(struct walk *w, enum walk_last last)
{
	struct path *p = w->path;
	struct stat st;

	for (;;) {
		int r = path_take_name(w);

		if (r == 1 && (last == WALK_KEEP ||
			       fstatat(p->directory, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			       !S_ISLNK(st.st_mode)))
			break;
		if (r >= 0)
			r = r == 1 ? path_follow(w, p->name) : path_step(w, p->name);
		if (r < 0)
			return r;
	}
	path_judge(w, NULL);
	return 0;
}

static int path_walk(struct path *ret, const char *text, uid_t uid, enum path_make make,
		     enum walk_last last)
{
	struct walk w = { .path = ret, .make = make };
	int r;

	*ret = (struct path){ .directory = -1, .ours = uid };
	if (strlen(text) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	(void)strcpy(w.rest, text);
	/* A relative path is that of the working directory. */
	if (*text != '/' && !getcwd(w.at, sizeof(w.at)))
		return -errno;
	r = path_prepend(&w, *text == '/' ? "/" : w.at);
	return r < 0 ? r : path_run(&w, last);
}

int path_find(struct path *ret, const char *text, enum path_make make)
{
	return path_walk(ret, text, geteuid(), make, WALK_KEEP);
}

void path_done(struct path *p)
{
	p->directory = fd_close(p->directory);
}

bool path_is_ours(const struct path *p)
{
	return path_is_fixed(p, NULL);
}

/* --- files --- */

static int path_check(const struct path *p, const struct stat *st, int flags)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (!S_ISREG(st->st_mode) && (!(flags & O_NONBLOCK) || S_ISSOCK(st->st_mode)))
		return -ENOTSUP;
	if (!*p->doubt.at)
		return 0;
	if (st->st_nlink > 1)
		return -EMLINK;
	/* In other directories a user that could put a file of another user there can replace the file anyway. */
	if (p->st.st_mode & S_IWOTH && st->st_uid != p->st.st_uid && !path_trusts(p, st->st_uid))
		return -EUSERS;
	return 0;
}

/* Without an open, which alone has effects on a device.  Return: -ENOENT if there is none. */
static int path_check_name(const struct path *p, const char *name, int flags)
{
	struct stat st;

	if (fstatat(p->directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return path_check(p, &st, flags);
}

int path_open_in(const struct path *p, const char *name, int flags, mode_t mode)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	int r = path_check_name(p, name, flags);

	if (r < 0 && r != -ENOENT)
		return r;
	fd = openat(p->directory, name, flags | FILE_FLAGS, mode);
	if (fd < 0)
		return errno == ENXIO || errno == ENODEV ? -ENOTSUP : -errno;
	/* Between the check and the opening it may have been replaced. */
	r = fstat(fd, &st) < 0 ? -errno : path_check(p, &st, flags);
	return r < 0 ? r : take_fd(fd);
}

int path_open(const char *text, int flags, mode_t mode)
{
	cleanup(path_done) struct path p;
	int r = path_walk(&p, text, geteuid(), flags & O_CREAT ? PATH_MAKE : PATH_FIND,
			  WALK_FOLLOW);

	return r < 0 ? r : path_open_in(&p, p.name, flags, mode);
}

int path_rename_in(const struct path *p, const char *from, const char *to, enum path_rename how)
{
	const unsigned flags = how == PATH_KEEP ? RENAME_NOREPLACE : 0;

	if (syscall(SYS_renameat2, p->directory, from, p->directory, to, flags) == 0)
		return 0;
	/* Not every file system supports RENAME_NOREPLACE. */
	if (errno != EINVAL || how != PATH_KEEP)
		return -errno;
	if (faccessat(p->directory, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(p->directory, from, p->directory, to) < 0 ? -errno : 0;
}

int path_unlink_in(const struct path *p, const char *name)
{
	return unlinkat(p->directory, name, 0) < 0 ? -errno : 0;
}

int path_unlink(const char *text)
{
	cleanup(path_done) struct path p;
	int r = path_find(&p, text, PATH_FIND);

	return r < 0 ? r : path_unlink_in(&p, p.name);
}

int path_make_directory(const char *text, mode_t mode)
{
	cleanup(path_done) struct path p;
	int r = path_find(&p, text, PATH_FIND);

	return r < 0 ? r : mkdirat(p.directory, p.name, mode) < 0 ? -errno : 0;
}

int path_give_directory(const char *text, mode_t mode, uid_t uid, gid_t gid)
{
	cleanup(path_done) struct path p;
	cleanup(closep) int fd = -1;
	struct stat st;
	int r = path_walk(&p, text, geteuid(), PATH_MAKE, WALK_FOLLOW);

	if (r < 0)
		return r;
	if (mkdirat(p.directory, p.name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(p.directory, p.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (*p.doubt.at && !path_trusts(&p, st.st_uid) && st.st_uid != uid)
		return -EUSERS;
	/* Nothing is written without need: the file system may be read-only. */
	if (((uid != (uid_t)-1 && st.st_uid != uid) || (gid != (gid_t)-1 && st.st_gid != gid)) &&
	    fchown(fd, uid, gid) < 0)
		return -errno;
	return (st.st_mode & 07777) != mode && fchmod(fd, mode) < 0 ? -errno : 0;
}

static int path_empty(int fd, int top);

/* A directory with names is emptied at the top, where @top is -1; one below it is moved up first. */
static int path_remove_name(int directory, const char *name, int top)
{
	char moved[64];
	struct stat st;
	int r;

	if (unlinkat(directory, name, 0) == 0 || errno == ENOENT ||
	    (errno == EISDIR && unlinkat(directory, name, AT_REMOVEDIR) == 0))
		return 0;
	if (errno != ENOTEMPTY)
		return -errno;
	if (top < 0) {
		r = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = r < 0 ? -errno : path_empty(r, directory);
		return r == 0 && unlinkat(directory, name, AT_REMOVEDIR) < 0 ? -errno : r;
	}
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	for (unsigned n = 0;; n++) {
		(void)snprintf(moved, sizeof(moved), "%ju.%u", (uintmax_t)st.st_ino, n);
		if (syscall(SYS_renameat2, directory, name, top, moved, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
}

/* Takes @fd.  A tree of any depth needs no memory, as it calls itself once. */
static int path_empty(int fd, int top)
{
	cleanup(closedirp) DIR *directory = fdopendir(fd);
	const struct dirent *entry;
	bool again = true;
	int r = 0;

	if (!directory) {
		(void)fd_close(fd);
		return -ENOMEM;
	}
	while (again && r == 0) {
		again = false;
		rewinddir(directory);
		while (r == 0 && (entry = readdir(directory))) {
			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			again = true;
			r = path_remove_name(fd, entry->d_name, top);
		}
	}
	return r;
}

int path_remove_tree(const char *text)
{
	cleanup(path_done) struct path p;
	int r = path_find(&p, text, PATH_FIND);

	if (r == 0)
		r = openat(p.directory, p.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == -1)
		r = -errno;
	if (r >= 0)
		r = path_empty(r, -1);
	if (r == 0 && unlinkat(p.directory, p.name, AT_REMOVEDIR) < 0)
		r = -errno;
	return r == -ENOENT ? 0 : r;
}

int path_remove_directory(const char *text)
{
	cleanup(path_done) struct path p;
	int r = path_find(&p, text, PATH_FIND);

	return r < 0 ? r : unlinkat(p.directory, p.name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int path_refusal(const char *text, int flags, uid_t uid, struct path_doubt *doubt)
{
	cleanup(path_done) struct path p;
	int r = path_walk(&p, text, uid, PATH_FIND, flags & O_PATH ? WALK_KEEP : WALK_FOLLOW);

	if (r == 0 && !(flags & O_PATH))
		r = path_check_name(&p, p.name, flags);
	*doubt = p.doubt;
	return r == -ENOENT || r == -EACCES ? 0 : r;
}

const char *path_error_text(int error)
{
	switch (error) {
	case ENOTSUP:
		return "it is a FIFO, a socket or a device";
	case ETIMEDOUT:
		return "the file system does not answer";
	case ELOOP:
		return "it leads through a symbolic link, or .., below a directory that another "
		       "user may change";
	case EMLINK:
		return "it has a second name in a directory that another user may change";
	case EUSERS:
		return "it belongs to another user, in a directory that every user may write to";
	case EISDIR:
		return "it is a directory";
	default:
		return strerror(error);
	}
}
