/*
 * tcp-ready: listens late.
 *
 * usage: tcp-ready PORT FIFO
 *
 * Listens on 127.0.0.1:PORT as soon as there is something to read in FIFO.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd, fifo;
	char c;

	if (argc != 3)
		return EXIT_FAILURE;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	fifo = open(argv[2], O_RDWR | O_CLOEXEC);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fifo < 0 || read(fifo, &c, 1) != 1 || fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0) {
		perror("tcp-ready");
		return EXIT_FAILURE;
	}
	for (;;)
		(void)pause();
}
