/*
 * Sends a descriptor of a file whose server does not answer a close: FUSE, in a user and mount
 * namespace of its own.
 *
 *	fuse-sender DEVICE MOUNTPOINT ADDRESS TYPE MESSAGE [pipe|pipes|output|hold]
 *
 * With "hold" it sends nothing, and has the file.
 * With "output" it sends nothing, but the kernel keeps the pipe locked that is its standard output, and "sent" goes to
 * standard error.  With "pipe" the descriptor is the only one for the reading end of a pipe, in the write to which the kernel waits for
 * a page of such a file, and keeps the pipe locked.  With "pipes" it sends nine such descriptors, and "sent" after
 * each.
 *
 * DEVICE is /dev/fuse.  ADDRESS is that of a UNIX socket, '@' for abstract, '-' for $NOTIFY_SOCKET;
 * TYPE is stream or datagram.  Writes "sent" or the error to standard output, and serves until it
 * is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define FILE_NODE 2
#define FILE_SIZE 4096
#define PIPES	  100

static _Noreturn void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void enter_namespaces(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	char map[64];

	if (unshare((uid ? CLONE_NEWUSER : 0) | CLONE_NEWNS) < 0)
		fail("unshare");
	if (uid == 0)
		return;
	snprintf(map, sizeof(map), "%d %d 1\n", (int)uid, (int)uid);
	write_file("/proc/self/uid_map", map);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%d %d 1\n", (int)gid, (int)gid);
	write_file("/proc/self/gid_map", map);
}

static void answer(int device, const struct fuse_in_header *in, const void *data, size_t size)
{
	struct fuse_out_header out = { .len = (unsigned)(sizeof(out) + size),
				       .unique = in->unique };
	struct iovec iov[] = { { &out, sizeof(out) }, { (void *)data, size } };

	(void)!writev(device, iov, 2);
}

static void refuse(int device, const struct fuse_in_header *in)
{
	struct fuse_out_header out = { .len = sizeof(out), .error = -ENOSYS, .unique = in->unique };

	(void)!write(device, &out, sizeof(out));
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1,
		.size = node == FUSE_ROOT_ID ? 0 : FILE_SIZE,
		.uid = getuid(),
		.gid = getgid(),
	};
}

static void serve_one(int device, int asked, const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_INIT: {
		struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
					     .minor = 31,
					     .max_write = 4096 };
		answer(device, in, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = { .nodeid = FILE_NODE,
					      .attr_valid = 1000,
					      .entry_valid = 1000,
					      .attr = attributes(FILE_NODE) };
		answer(device, in, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = { .attr_valid = 1000, .attr = attributes(in->nodeid) };
		answer(device, in, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN: {
		struct fuse_open_out out = { .fh = 1 };
		answer(device, in, &out, sizeof(out));
		break;
	}
	case FUSE_READ: /* a process that reads it as well */
		(void)!write(asked, "", 1);
		break;
	case FUSE_FLUSH: /* a process that closes the file waits */
	case FUSE_RELEASE:
	case FUSE_FORGET:
		break;
	default:
		refuse(device, in);
	}
}

static _Noreturn void serve(int device, int asked)
{
	static _Alignas(8) char buffer[1 << 17];

	for (;;) {
		ssize_t n = read(device, buffer, sizeof(buffer));

		if (n < 0 && errno == ENODEV)
			exit(0);
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve_one(device, asked, (const struct fuse_in_header *)buffer);
	}
}

static void mount_it(int device, const char *point)
{
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device,
		 (int)getuid(), (int)getgid());
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("hang", point, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		fail("mount");
}

static void send_it(const char *name, int type, const char *message, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)message, strlen(message) + (type == SOCK_STREAM) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int s = socket(AF_UNIX, type, 0);

	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	memcpy(address.sun_path, name, strlen(name));
	if (*name == '@')
		address.sun_path[0] = '\0';
	if (connect(s, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))) < 0)
		fail("connect");
	if (sendmsg(s, &msg, MSG_NOSIGNAL) < 0)
		fail("sendmsg");
}

/*
 * Writes a page of the file @fd to the pipe @to, of which @other is the other end, or -1, and returns when @asked has
 * a byte: it is locked then.
 */
static void lock_pipe(int fd, int asked, int to, int other)
{
	char byte;
	void *page = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		fail("mmap");
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(other);
		(void)!write(to, page, FILE_SIZE);
		_exit(0);
	}
	if (read(asked, &byte, 1) != 1)
		fail("read");
}

/* Each of @ret is a file of its own, of the pipe @end. */
static void open_again(int end, int ret[PIPES])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", end);
	for (int i = 0; i < PIPES; i++) {
		ret[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (ret[i] < 0)
			fail(path);
	}
}

int main(int argc, char **argv)
{
	char path[4096];
	const char *address;
	int device, fd, asked[2], ends[2], more[PIPES], n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 6 && argc != 7)
		return 2;
	address = strcmp(argv[3], "-") == 0 ? getenv("NOTIFY_SOCKET") : argv[3];
	enter_namespaces();
	device = open(argv[1], O_RDWR | O_CLOEXEC);
	if (device < 0)
		fail(argv[1]);
	mount_it(device, argv[2]);
	if (pipe(asked) < 0)
		fail("pipe");
	if (fork() > 0)
		serve(device, asked[1]);
	/* The end of the server ends all waiting for it, and this process. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(device);
	snprintf(path, sizeof(path), "%s/file", argv[2]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	if (argc == 7 && strcmp(argv[6], "output") == 0) {
		lock_pipe(fd, asked[0], STDOUT_FILENO, -1);
		(void)fprintf(stderr, "sent\n");
		pause();
	}
	if (argc == 7 && strcmp(argv[6], "hold") == 0) {
		printf("sent\n");
		pause();
	}
	if (argc == 7) {
		if (pipe(ends) < 0)
			fail("pipe");
		if (strcmp(argv[6], "pipes") == 0) {
			open_again(ends[0], more);
			n = PIPES;
		}
		lock_pipe(fd, asked[0], ends[1], ends[0]);
		(void)close(ends[1]);
		fd = ends[0];
	}
	send_it(address, strcmp(argv[4], "stream") == 0 ? SOCK_STREAM : SOCK_DGRAM, argv[5], fd);
	if (argc == 7)
		(void)close(fd);
	printf("sent\n");
	for (int i = 0; i < n; i++) {
		send_it(address, SOCK_DGRAM, argv[5], more[i]);
		printf("sent\n");
		(void)close(more[i]);
	}
	pause();
	return 0;
}
