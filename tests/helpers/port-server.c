/*
 * port-server: listens after a while, and reports that.
 *
 * usage: port-server PORT MSEC
 *
 * After MSEC milliseconds it listens on 127.0.0.1:PORT and sends READY=1.  Each connection is closed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (argc != 3 || fd < 0)
		return EXIT_FAILURE;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	(void)usleep((useconds_t)atoi(argv[2]) * 1000);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 64) < 0) {
		perror("port-server");
		return EXIT_FAILURE;
	}
	(void)sd_notify(0, "READY=1");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client >= 0)
			(void)close(client);
	}
}
