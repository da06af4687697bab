/*
 * The address is that of the socket: a web server in front of the exporter is the client of all its
 * requests.
 */
#include "exporter/limits/client.h"

#include <arpa/inet.h>

struct client_address {
	int family;
	char text[INET6_ADDRSTRLEN];
	unsigned port;
	struct ucred peer; /* of a socket of Unix */
};

static void client_read_in6(struct client_address *ret, const struct sockaddr_in6 *address,
			    bool network)
{
	struct in6_addr ip = address->sin6_addr;
	bool mapped = IN6_IS_ADDR_V4MAPPED(&ip);

	if (network && !mapped)
		memset(ip.s6_addr + 8, 0, 8);
	(void)inet_ntop(mapped ? AF_INET : AF_INET6, ip.s6_addr + (mapped ? 12 : 0), ret->text,
			sizeof(ret->text));
	ret->port = ntohs(address->sin6_port);
}

static void client_read(struct client_address *ret, struct MHD_Connection *connection, bool network)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address), peer_size = sizeof(ret->peer);

	*ret = (struct client_address){ .family = AF_UNSPEC };
	if (!info || getpeername(info->connect_fd, (struct sockaddr *)&address, &size) < 0)
		return;
	ret->family = address.ss_family;
	if (ret->family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&address;

		(void)inet_ntop(AF_INET, &in->sin_addr, ret->text, sizeof(ret->text));
		ret->port = ntohs(in->sin_port);
	} else if (ret->family == AF_INET6) {
		client_read_in6(ret, (const struct sockaddr_in6 *)&address, network);
	} else if (getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &ret->peer, &peer_size) <
		   0) {
		ret->family = AF_UNSPEC;
	}
}

const char *client_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

char *client_text(char buf[static CLIENT_TEXT_MAX], struct MHD_Connection *connection)
{
	struct client_address client;

	client_read(&client, connection, false);
	if (client.family == AF_UNIX)
		(void)snprintf(buf, CLIENT_TEXT_MAX, "uid %u, pid %d", client.peer.uid,
			       client.peer.pid);
	else
		(void)snprintf(buf, CLIENT_TEXT_MAX,
			       client.family == AF_UNSPEC ? "an unknown client" : "%s, port %u",
			       client.text, client.port);
	return buf;
}

uint32_t client_hash(struct MHD_Connection *connection)
{
	struct client_address client;

	client_read(&client, connection, true);
	return client.family == AF_UNIX ? (uint32_t)client.peer.uid : text_hash(client.text);
}
