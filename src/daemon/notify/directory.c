/*
 * Directories are numbered; the first one that no other daemon has locked is taken.  The sockets in
 * it are numbered as well, and never reused, also not after a fault, so that a message cannot reach
 * another service.
 */
#include "daemon/notify/directory.h"

#include <dirent.h>
#include <sys/file.h>

#include "proto/address.h"
#include "sys/ipc/unixsock.h"

#define DIRECTORIES_MAX 64 /* daemons of one user */

struct notify_directory {
	int fd; /* holds the lock */
	unsigned last;
	char path[64];
};

DEFINE_CLEANUP(struct notify_directory *, notify_directory_free)

/* Returns the greatest number of a socket that is there. */
static unsigned directory_read(int fd, bool empty)
{
	unsigned last = 0;
	uint64_t n;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!dir) {
		(void)fd_close(copy);
		return 0;
	}
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (parse_uint(entry->d_name, UINT32_MAX / 2, &n) == 0)
			last = MAX(last, (unsigned)n);
		if (empty)
			(void)unlinkat(fd, entry->d_name, 0);
	}
	(void)closedir(dir);
	return last;
}

/*
 * Return: the descriptor; -EADDRINUSE if the directory belongs to another daemon or user; -errno.
 */
static int directory_open(const char *path, mode_t mode, bool empty, unsigned *last)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	int r;

	r = path_make_directory(path, 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -EADDRINUSE;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    st.st_nlink == 0)
		return -EADDRINUSE;
	if (fchmod(fd, mode) < 0)
		return -errno;
	*last = directory_read(fd, empty);
	return take_fd(fd);
}

static int directory_find(struct notify_directory *d, bool empty)
{
	cleanup(freep) char *top = NULL;
	int r = address_directory(&top);

	if (r < 0)
		return r;
	if (*top != '/' || strlen(top) + sizeof("/notify.63") > sizeof(d->path))
		return -ENAMETOOLONG;
	r = path_make_directory(top, address_directory_mode(top));
	if (r < 0 && r != -EEXIST)
		return r;
	(void)snprintf(d->path, sizeof(d->path), "%s/", top);
	r = address_check(d->path);
	if (r < 0)
		return r;
	r = -EADDRINUSE;
	for (int i = 0; i < DIRECTORIES_MAX && r == -EADDRINUSE; i++) {
		(void)snprintf(d->path, sizeof(d->path), "%s/notify.%d", top, i);
		r = d->fd = directory_open(d->path, geteuid() == 0 ? 0711 : 0700, empty, &d->last);
	}
	return r;
}

int notify_directory_new(struct notify_directory **ret, bool after_fault)
{
	cleanup(notify_directory_freep) struct notify_directory *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->fd = -1;
	r = directory_find(d, !after_fault);
	if (r < 0)
		return r;
	*ret = take(d);
	return 0;
}

struct notify_directory *notify_directory_free(struct notify_directory *d)
{
	if (!d)
		return NULL;
	if (d->fd >= 0) {
		(void)directory_read(d->fd, true);
		(void)path_remove_directory(d->path);
		(void)fd_close(d->fd);
	}
	return free_memory(d);
}

int notify_directory_bind(struct notify_directory *d, uid_t owner, mode_t mode,
			  char **ret_path)
{
	cleanup(freep) char *path = text_format("%s/%u", d->path, ++d->last);
	cleanup(closep) int fd = -1;
	int r;

	if (!path)
		return -ENOMEM;
	if (geteuid() != 0)
		owner = (uid_t)-1;
	fd = unix_bind(path, SOCK_DGRAM | SOCK_NONBLOCK, mode, owner, (gid_t)-1);
	if (fd < 0)
		return fd;
	r = unix_pass_credentials(fd);
	if (r < 0)
		return r;
	*ret_path = take(path);
	return take_fd(fd);
}
