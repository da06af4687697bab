/*
 * The exporter has one listening socket.  A socket that LISTEN_FDS passes has precedence over
 * --listen, which makes one of Unix, with mode 0660, or of TCP.
 */
#include "exporter/http/listen.h"

#include <systemd/sd-daemon.h>

#include "model/types/type.h"
#include "sys/ipc/inetsock.h"
#include "sys/ipc/unixsock.h"

#define SOCKET_MODE 0660

/* Return: the descriptor; 0: none was passed; -EINVAL. */
static int listen_passed(struct log *log)
{
	int n = sd_listen_fds(1);

	if (n <= 0)
		return 0;
	if (n == 1 && sd_is_socket(SD_LISTEN_FDS_START, AF_UNSPEC, SOCK_STREAM, 1) > 0) {
		unix_refuse_descriptors(SD_LISTEN_FDS_START);
		return SD_LISTEN_FDS_START;
	}
	log_line(log, LOG_ERR, "LISTEN_FDS: expected one listening stream socket");
	return -EINVAL;
}

static int listen_unix(const char *path)
{
	cleanup(closep) int fd = -1;

	if (*path != '/')
		return -EINVAL;
	fd = unix_bind(path, SOCK_STREAM, SOCKET_MODE, (uid_t)-1, (gid_t)-1);
	if (fd < 0)
		return fd;
	/* Connections inherit the option: libmicrohttpd would drop a descriptor in its thread. */
	unix_refuse_descriptors(fd);
	return listen(fd, SOMAXCONN) < 0 ? -errno : take_fd(fd);
}

int listen_open(const char *address, struct log *log)
{
	static const char prefix[] = "unix:";
	union inet_address inet;
	int r = listen_passed(log);

	if (r != 0)
		return r;
	if (strncmp(address, prefix, strlen(prefix)) == 0)
		r = listen_unix(address + strlen(prefix));
	else if (value_address(address, &inet) < 0)
		r = -EINVAL;
	else
		r = inet_listen(&inet.any,
				inet.any.sa_family == AF_INET6 ? sizeof(inet.in6) : sizeof(inet.in),
				SOCK_STREAM);
	if (r == -EINVAL)
		log_line(log, LOG_ERR,
			 "--listen: invalid address '%s': expected ADDRESS:PORT or unix:PATH, for "
			 "example " LISTEN_DEFAULT,
			 address);
	else if (r < 0)
		log_line(log, LOG_ERR, "--listen: cannot listen on %s: %s", address,
			 path_error_text(-r));
	return r;
}
