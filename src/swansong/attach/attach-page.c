/*
 * The numbers come from the environment and may belong to other files: a program in between may
 * have closed the descriptors and opened others.  So nothing is done to them, not even a close,
 * before they are checked: a memfd whose size cannot change, with the page in it, and a socket of
 * the one type.
 *
 * The lock is a record lock, which the kernel drops when the process closes any descriptor of the
 * file.  Hence there is only one descriptor of it for as long as the program is attached.
 */
#include "swansong/attach/attach-page-private.h"

#include "swansong/base/fork-private.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* Parses two numbers, as in "5:6". */
static int passed_parse_pair(char *text, int *a, int *b)
{
	char *colon = strchr(text, ':');
	uint64_t left, right;

	if (!colon)
		return -EPROTO;
	*colon = '\0';
	if (parse_uint(text, INT32_MAX, &left) < 0 || parse_uint(colon + 1, INT32_MAX, &right) < 0)
		return -EPROTO;
	*a = (int)left;
	*b = (int)right;
	return 0;
}

static int passed_numbers(struct passed *p)
{
	const char *value = secure_getenv(PAGE_VARIABLE);
	char text[32];
	size_t length;

	if (!value)
		return 0;
	length = strnlen(value, sizeof(text) - 1);
	memcpy(text, value, length); /* a longer value is cut, and is no pair of numbers then */
	text[length] = '\0';
	(void)unsetenv(PAGE_VARIABLE);
	return passed_parse_pair(text, &p->fd, &p->socket) < 0 ? -EPROTO : 1;
}

static int passed_check_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return errno == EBADF ? -EBADF : -EPROTO;
	return type == SOCK_SEQPACKET ? 0 : -EPROTO;
}

static int passed_check_page(struct passed *p)
{
	int seals = fcntl(p->fd, F_GET_SEALS);
	struct page header;
	struct stat st;

	if (seals < 0)
		return errno == EBADF ? -EBADF : -EPROTO;
	if ((seals & SEALS) != SEALS || fstat(p->fd, &st) < 0)
		return -EPROTO;
	if (pread(p->fd, &header, sizeof(header), 0) != sizeof(header))
		return -EPROTO;
	if (header.magic != PAGE_MAGIC || header.version != PAGE_VERSION)
		return -EPROTO;
	p->n_lanes = header.n_lanes;
	p->size = PAGE_HEADER + (size_t)p->n_lanes * sizeof(struct page_lane);
	return (size_t)st.st_size < p->size ? -EPROTO : 0;
}

static int passed_lock_page(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

static int passed_map_page(struct passed *p)
{
	void *map = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	int r;

	if (map == MAP_FAILED)
		return -errno;
	if (madvise(map, p->size, MADV_DONTFORK) < 0) {
		r = -errno;
		(void)munmap(map, p->size);
		return r;
	}
	p->page = map;
	return 0;
}

/* Takes the descriptors, which have been checked. */
static int passed_prepare(struct passed *p)
{
	int r;

	if (fcntl(p->fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(p->socket, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	r = passed_lock_page(p->fd);
	return r < 0 ? r : passed_map_page(p);
}

int passed_take(struct passed *ret)
{
	struct passed p = PASSED_NONE;
	int r = passed_numbers(&p);

	if (r <= 0)
		return r;
	r = passed_check_socket(p.socket);
	if (r == 0)
		r = passed_check_page(&p);
	if (r < 0)
		return r;
	r = passed_prepare(&p);
	if (r < 0) {
		passed_close(&p);
		return r;
	}
	*ret = p;
	return 1;
}

int passed_close_in_fork(const struct passed *p)
{
	int r = fork_add_fd(p->fd, (struct owned){ CLOSED });

	return r < 0 ? r : fork_add_fd(p->socket, (struct owned){ CLOSED });
}

void passed_close(struct passed *p)
{
	fork_remove_fd(p->fd);
	fork_remove_fd(p->socket);
	p->fd = fd_close(p->fd);
	if (p->socket >= 0)
		(void)shutdown(p->socket, SHUT_RDWR);
	p->socket = fd_close(p->socket);
}

void passed_unmap(struct passed *p)
{
	(void)munmap(p->page, p->size);
}
