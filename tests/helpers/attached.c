/*
 * attached: a program that speaks src/base/page.h by hand, well or badly.
 *
 * usage: attached FIFO LOG [COMMAND...]
 *
 * Carries out the commands, then those that are written to FIFO, a line each; LOG has a line for each
 * command that it has carried out ("done lane 0 1"), each message ("got STOP 1", with a word of the
 * page) and SIGTERM ("TERM"), which ends it.
 *
 *	attach			takes the lock; "refused" if another process has it
 *	lane CPU N		N guards there; "void" instead of a number is just that
 *	elsewhere N		N guards there
 *	gathered		no lane counts any more
 *	report TEXT		its answer to REPORT from now on: "|" for a newline
 *	"say" TEXT		a message, now
 *	flood N			so many messages of the greatest size, as fast as they are taken
 *	descriptors		a message with a descriptor
 *	scribble SEED		writes nonsense over all of the page
 *	shorten			tries to change the size of the page
 *	spoil			forbids every process to write to the page by its descriptor
 *	close			closes the socket
 *	ready FD		a newline for "ready = fd:FD"
 *	ignore			does not end by SIGTERM any more
 *	rival			a process of its own does "attach" as well, then ends
 *	prefork			leaves the lock and the rest of its life to a process of its own
 *	prefork stay		the same, but has the socket and lives on when that has ended
 *	exit STATUS		ends, with its guards
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/page.h"

static int page_fd, socket_fd, log_fd;
static size_t page_size;
static struct page *page;
static char answer[PAGE_MESSAGE_MAX] = "REPORT\n";
static bool ignores_term;

static void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void find_page(void)
{
	const char *value = getenv(PAGE_VARIABLE);
	struct stat st;

	if (!value || sscanf(value, "%d:%d", &page_fd, &socket_fd) != 2) {
		(void)fprintf(stderr, "%s is %s\n", PAGE_VARIABLE, value ? value : "not set");
		exit(EXIT_FAILURE);
	}
	if (fstat(page_fd, &st) < 0)
		fail("page");
	page_size = (size_t)st.st_size;
	page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (page == MAP_FAILED)
		fail("mmap");
	if (page->magic != PAGE_MAGIC || page->version != PAGE_VERSION ||
	    page_size != PAGE_HEADER + (size_t)page->n_lanes * PAGE_LANE) {
		errno = EPROTO;
		fail("page");
	}
}

static bool say(const char *text)
{
	return send(socket_fd, text, strlen(text), MSG_NOSIGNAL) >= 0;
}

static void attach(const char *text)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	(void)text;
	if (fcntl(page_fd, F_SETLK, &lock) < 0)
		dprintf(log_fd, "refused\n");
	else
		(void)say("ATTACHED");
}

static void set_lane(const char *text)
{
	unsigned cpu;
	int64_t n;

	if (sscanf(text, "%u %" SCNd64, &cpu, &n) == 2)
		page_lanes(page)[cpu % page->n_lanes].count = PAGE_BIAS + (uint64_t)n;
	else if (sscanf(text, "%u void", &cpu) == 1)
		page_lanes(page)[cpu % page->n_lanes].count |= PAGE_VOID;
}

static void set_elsewhere(const char *text)
{
	page->elsewhere = (int64_t)strtoll(text, NULL, 10);
}

static void gather(const char *text)
{
	(void)text;
	page->gathered = 1;
}

static void set_report(const char *text)
{
	(void)snprintf(answer, sizeof(answer), "REPORT\n%s", text);
	for (char *c = answer; *c; c++)
		if (*c == '|')
			*c = '\n';
}

static void say_text(const char *text)
{
	(void)say(text);
}

static void flood(const char *text)
{
	char message[PAGE_MESSAGE_MAX + 1];
	struct pollfd fds = { .fd = socket_fd, .events = POLLOUT };

	memset(message, '7', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	memcpy(message, "REPORT\n", 7);
	for (long n = strtol(text, NULL, 10); n > 0;) {
		if (say(message))
			n--;
		else if (errno != EAGAIN || poll(&fds, 1, -1) < 0)
			break;
	}
}

static void say_descriptors(const char *text)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (char[]){ "ATTACHED" }, .iov_len = 8 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	(void)text;
	memcpy(CMSG_DATA(&control.header), &page_fd, sizeof(page_fd));
	(void)sendmsg(socket_fd, &msg, MSG_NOSIGNAL);
}

static void scribble(const char *text)
{
	uint64_t *words = (uint64_t *)page;

	srandom((unsigned)strtoul(text, NULL, 10));
	for (size_t i = 0; i < page_size / sizeof(*words); i++)
		words[i] = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
}

static void shorten(const char *text)
{
	(void)text;
	if (ftruncate(page_fd, 0) == 0 || ftruncate(page_fd, (off_t)page_size * 2) == 0)
		dprintf(log_fd, "changed\n");
}

static void spoil(const char *text)
{
	(void)text;
	/* The daemon has the same open file. */
	(void)fcntl(page_fd, F_SETFL, O_APPEND);
}

static void close_socket(const char *text)
{
	(void)text;
	(void)close(socket_fd);
	socket_fd = -1;
}

static void be_ready(const char *text)
{
	dprintf((int)strtol(text, NULL, 10), "\n");
}

static void ignore(const char *text)
{
	(void)text;
	ignores_term = true;
}

static void rival(const char *text)
{
	pid_t pid = fork();

	if (pid == 0) {
		attach(text);
		_exit(EXIT_SUCCESS);
	}
	(void)waitpid(pid, NULL, 0);
}

static void prefork(const char *text)
{
	struct flock none = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1 };
	pid_t pid;
	int status;

	(void)fcntl(page_fd, F_SETLK, &none);
	pid = fork();
	if (pid == 0) {
		attach(text);
		return;
	}
	if (*text) {
		for (;;)
			(void)pause();
	}
	(void)close(socket_fd);
	(void)waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

static void leave(const char *text)
{
	_exit((int)strtol(text, NULL, 10));
}

static const struct {
	const char *name;
	void (*follow)(const char *text);
} commands[] = {
	{ "attach", attach },
	{ "lane", set_lane },
	{ "elsewhere", set_elsewhere },
	{ "gathered", gather },
	{ "report", set_report },
	{ "say", say_text },
	{ "flood", flood },
	{ "descriptors", say_descriptors },
	{ "scribble", scribble },
	{ "shorten", shorten },
	{ "spoil", spoil },
	{ "close", close_socket },
	{ "ready", be_ready },
	{ "ignore", ignore },
	{ "rival", rival },
	{ "prefork", prefork },
	{ "exit", leave },
};

static void follow(const char *line)
{
	size_t n = strcspn(line, " ");

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strlen(commands[i].name) == n && strncmp(line, commands[i].name, n) == 0)
			commands[i].follow(line + n + (line[n] == ' '));
	dprintf(log_fd, "done %s\n", line);
}

/* Lines may come in pieces. */
static void read_commands(int fd)
{
	static char buf[PAGE_MESSAGE_MAX];
	static size_t used;
	ssize_t n = read(fd, buf + used, sizeof(buf) - 1 - used);
	char *end;

	if (n <= 0)
		return;
	used += (size_t)n;
	buf[used] = '\0';
	while ((end = strchr(buf, '\n'))) {
		*end = '\0';
		follow(buf);
		used -= (size_t)(end + 1 - buf);
		memmove(buf, end + 1, used + 1);
	}
}

static void read_message(void)
{
	char text[PAGE_MESSAGE_MAX + 1];
	ssize_t n = recv(socket_fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n <= 0) {
		dprintf(log_fd, "hung up\n");
		close_socket("");
		return;
	}
	text[n] = '\0';
	if (strcmp(text, "REPORT") == 0)
		(void)say(answer);
	dprintf(log_fd, "got %s %u\n", text, page->stop);
}

static void on_signal(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		fail("signalfd");
	dprintf(log_fd, "TERM\n");
	if (!ignores_term)
		exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	struct pollfd fds[3];
	sigset_t term;

	if (argc < 3)
		return EXIT_FAILURE;
	find_page();
	log_fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	fds[0] = (struct pollfd){ .fd = open(argv[1], O_RDWR | O_CLOEXEC), .events = POLLIN };
	if (log_fd < 0 || fds[0].fd < 0)
		fail("open");
	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &term, NULL);
	fds[1] = (struct pollfd){ .fd = signalfd(-1, &term, SFD_CLOEXEC), .events = POLLIN };
	fds[2] = (struct pollfd){ .events = POLLIN };
	for (int i = 3; i < argc; i++)
		follow(argv[i]);
	for (;;) {
		fds[2].fd = socket_fd;
		if (poll(fds, 3, -1) < 0)
			fail("poll");
		if (fds[2].revents)
			read_message();
		if (fds[0].revents)
			read_commands(fds[0].fd);
		if (fds[1].revents)
			on_signal(fds[1].fd);
	}
}
