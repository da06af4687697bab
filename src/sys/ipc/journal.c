/*
 * The socket is non-blocking while it is connected and the header is sent, and blocking for the
 * service that gets it.
 */
#include "sys/ipc/journal.h"

#include <sys/un.h>

#include "base/std.h"

#define JOURNAL_SOCKET RUNDIR "/systemd/journal/stdout"
#define ENTRY_SOCKET   RUNDIR "/systemd/journal/socket"

/* The bytes that may be queued while journald is busy; the kernel has its own limit. */
#define SEND_BUFFER (8 * 1024 * 1024)

/* The first lines are the attributes of all entries; the entries follow. */
static int journal_send_header(int fd, const char *identifier, int priority)
{
	const int level_prefix = 1;
	char header[512];
	int n = snprintf(header, sizeof(header), "%s\n\n%d\n%d\n0\n0\n0\n", identifier, priority,
			 level_prefix);

	if (n < 0 || (size_t)n >= sizeof(header))
		return -EINVAL;
	/* The socket is empty, so the whole header fits. */
	return send(fd, header, (size_t)n, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Return: a descriptor that does not block, or -errno. */
static int journal_connect(const struct sockaddr_un *address, int type)
{
	cleanup(closep) int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int size = SEND_BUFFER;

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return take_fd(fd);
}

int journal_open(const char *identifier, int priority)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	cleanup(closep) int fd = journal_connect(&address, SOCK_STREAM);
	int r = fd < 0 ? fd : journal_send_header(fd, identifier, priority);

	if (r < 0)
		return r;
	if (shutdown(fd, SHUT_RD) < 0 || fcntl(fd, F_SETFL, 0) < 0)
		return -errno;
	return take_fd(fd);
}

int journal_open_entries(void)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = ENTRY_SOCKET };

	return journal_connect(&address, SOCK_DGRAM);
}

char *journal_stream_text(char buf[static JOURNAL_STREAM_MAX], int fd)
{
	struct stat st;

	*buf = '\0';
	if (fstat(fd, &st) == 0)
		(void)snprintf(buf, JOURNAL_STREAM_MAX, "%ju:%ju", (uintmax_t)st.st_dev,
			       (uintmax_t)st.st_ino);
	return buf;
}
