/*
 * The packets between the daemon and swansong-logger, as either side reads them.  The input is
 * packets: a byte with flags for the packet, the size, and the bytes.  The logger acts on them, but
 * writes nothing: no helper starts.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "logger/loop/control.h"
#include "logger/loop/deliver.h"
#include "logger/loop/input.h"
#include "logger/loop/logger.h"
#include "proto/logger-message.h"

#define PACKETS_MAX 64

/* Bits of the first byte of a packet. */
#define WITH_HEAD 0x1 /* version and size are right */
#define WITH_FD	  0x2 /* with the read end of a pipe that has lines */
#define TO_DAEMON 0x4

int __wrap_helper_start(struct helper *helper);
int __wrap_helper_start(struct helper *helper)
{
	(void)helper;
	return -EAGAIN;
}

int __wrap_journal_open_entries(void);
int __wrap_journal_open_entries(void)
{
	return -ENOENT;
}

static int make_pipe(struct fuzz_input *input)
{
	const uint8_t *lines;
	size_t n = fuzz_bytes(input, fuzz_byte(input), &lines);
	int fds[2];

	FUZZ_CHECK(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	FUZZ_CHECK(write(fds[1], lines, n) == (ssize_t)n);
	FUZZ_CHECK(write(fds[1], "end\n", 4) == 4);
	(void)close(fds[1]);
	return fds[0];
}

static void send_packet(struct fuzz_input *input, int to, uint8_t with)
{
	struct {
		struct logger_message message;
		char texts[LOGGER_MESSAGE_MAX];
	} packet = { .texts = "" };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	size_t want = fuzz_byte(input) | (size_t)fuzz_byte(input) << 8;
	const uint8_t *bytes;
	size_t n = fuzz_bytes(input, MIN(want, sizeof(packet)), &bytes);
	struct iovec iov = { .iov_base = &packet };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd = with & WITH_FD ? make_pipe(input) : -1;

	if (n > 0)
		memcpy(&packet, bytes, n);
	if (with & WITH_HEAD) {
		n = MAX(n, sizeof(packet.message));
		packet.message.version = LOGGER_VERSION;
		packet.message.size = (uint32_t)n;
	}
	iov.iov_len = MAX(n, (size_t)1);
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
							 .cmsg_type = SCM_RIGHTS,
							 .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	(void)sendmsg(to, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)fd_close(fd);
}

/* Checks the promises of logger_receive() to the daemon. */
static void receive_as_daemon(int fd)
{
	struct logger_packet packet;
	int r = logger_receive(fd, &packet);

	if (r <= 0) {
		FUZZ_CHECK(packet.fd == -1);
		return;
	}
	FUZZ_CHECK(packet.message.type < LOGGER_TYPES);
	FUZZ_CHECK(packet.message.stream < LOGGER_STREAMS || packet.message.stream == LOGGER_ALL);
	for (size_t i = 0; i < LOGGER_TEXTS; i++)
		FUZZ_CHECK(!packet.texts[i] || strlen(packet.texts[i]) < sizeof(packet.text));
	(void)fd_close(packet.fd);
}

static struct logger *logger_new(int control)
{
	struct logger *l = calloc(1, sizeof(*l));

	FUZZ_CHECK(l);
	FUZZ_CHECK(logger_init(l, control, store_new()) == 0);
	return l;
}

static void logger_free(struct logger *l)
{
	for (uint32_t i = 0; i < l->n_used; i++)
		stream_free(l->streams[i]);
	(void)logger_done(l);
	(void)fd_close(l->area.fd);
	free(l);
}

static void turn(struct logger *l)
{
	(void)control_receive(l);
	for (uint32_t i = 0; i < l->n_used; i++)
		if (l->streams[i])
			input_event(l, l->streams[i]);
	input_resume(l);
	deliver_all(l);
	control_update(l);
	input_show(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct logger *l;
	int pair[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) ==
		   0);
	l = logger_new(pair[1]);
	for (int i = 0; input.size > 0 && i < PACKETS_MAX; i++) {
		uint8_t with = fuzz_byte(&input);

		if (with & TO_DAEMON) {
			send_packet(&input, pair[1], with);
			receive_as_daemon(pair[0]);
		} else {
			send_packet(&input, pair[0], with);
			turn(l);
		}
	}
	(void)close(pair[0]);
	logger_free(l);
	(void)close(pair[1]);
	return 0;
}
