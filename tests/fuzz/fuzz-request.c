/*
 * All bytes that a client with every permission sends on the control socket.  The daemon carries
 * the requests out, without processes.  Each reply is one that swansongctl can read.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "proto/client.h"
#include "proto/frame.h"
#include "tests/fuzz/world.h"

#define ROUNDS_MAX 200

static const char config[] = "[swansong]\ncontrol-socket = none\n"
			     "[web]\nshutdown-timeout = 1min\n"
			     "[web/a]\ncommand = a\nhealth = exec:a\nattach = yes\nlog = null\n"
			     "[web/b]\ncommand = b\nrequires = web/a\nready = notify\n"
			     "[web/once]\ncommand = c\ntype = oneshot\nautostart = no\n"
			     "[db]\ncommand = d\nfinal = f\n";

static int connect_to(struct world *world)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct control_config socket_config = {
		.path = address.sun_path,
		.mode = 0600,
		.group = (gid_t)-1,
		.run_group = (gid_t)-1,
	};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "fuzz-%d.sock", (int)getpid());
	FUZZ_CHECK(control_new(&world->control, &world->tree, &world->reload) == 0);
	FUZZ_CHECK(control_listen(world->control, &socket_config) == 0);
	FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	world_run(world);
	return fd;
}

/* The daemon leaves its lock, for the next one. */
static void remove_lock(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "fuzz-%d.sock.lock", (int)getpid());
	(void)unlink(path);
}

/* Reads the replies.  Returns their bytes. */
static ssize_t hear(int fd, struct frame_reader *reader)
{
	struct message_reply reply;
	const char *text;
	char *space;
	size_t size;
	ssize_t n;

	FUZZ_CHECK(frame_reader_space(reader, &space, &size) == 0);
	n = recv(fd, space, size, MSG_DONTWAIT);
	if (n <= 0)
		return n;
	frame_reader_commit(reader, (size_t)n);
	while (frame_next(reader, &text, NULL) > 0) {
		FUZZ_CHECK(message_parse_reply(text, &reply) == 0);
		message_reply_done(&reply);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;
	struct frame_reader reader;
	int fd;

	world_begin(&world, config);
	frame_reader_init(&reader, CLIENT_MESSAGE_MAX);
	fd = connect_to(&world);
	if (size > 0)
		(void)send(fd, data, size, MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
	for (int i = 0; i < ROUNDS_MAX; i++) {
		world_run(&world);
		if (hear(fd, &reader) <= 0)
			break;
	}
	(void)fd_close(fd);
	world_run(&world);
	frame_reader_done(&reader);
	world_end(&world);
	remove_lock();
	return 0;
}
