#pragma once

/*
 * Runs the whole of swansongctl against a fake daemon, for which each test has a script of replies.
 * The program and the daemon are processes of their own; the requests that the daemon gets come back
 * through a file.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "tests/unit/fixtures/main.h"

#define OUTPUT_MAX 65536

/* Of the last run(): the output of the program, and the requests to the daemon, a line each. */
extern char out[OUTPUT_MAX], err[OUTPUT_MAX], asked[OUTPUT_MAX];

/* The answer to a request: some bytes, and an action after them. */
struct answer {
	const char *text; /* NULL: none */
	size_t size;	  /* 0: the whole text, with its NUL */
	enum { THEN_NEXT, THEN_CLOSE, THEN_MORE } then;
	int passed;	   /* a descriptor that goes with it; 0: none */
	const char *after; /* it comes when SOCKET.AFTER, a FIFO, was written to; NULL: at once */
};

/* A folder for the socket, which $SWANSONG_SOCKET names, and a known environment. */
extern char directory[64], socket_path[100];
void ctl_fixture(TCase *tc);

/* The daemon; it answers one connection after the other, and stays until the last one is closed. */
void start_server(const struct answer *answers, size_t n);
bool server_is_running(void);
void await_server(void);
void end_server(void);

/* The surroundings of the program; a test sets them before it starts the program. */
struct surroundings {
	/* In place of poll(2); NULL: that. */
	int (*on_poll)(struct pollfd *fds, nfds_t n, int timeout);
	uint64_t skipped_usec; /* its clock is ahead by so much */
	long allocations;      /* as many succeed; -1, the default: all */
	bool fails_once;       /* only one allocation fails after these */
};
extern struct surroundings around;

int real_poll(struct pollfd *fds, nfds_t n, int timeout);

/* The program; it has its three standard descriptors and no other. */
pid_t start_program(char **argv, int out_fd, int err_fd);
int end_program(pid_t pid);
int run_argv(char **argv);

/* Runs "swansongctl LINE", words split at blanks; without answers there is no daemon. */
int run(const char *line, const struct answer *answers, size_t n);

/* Likewise "swansongctl LINE sh -c SCRIPT". */
int run_shell(const char *line, const char *script, const struct answer *answers, size_t n);

/* Returns false under qemu-user, whose vfork(2) is a fork(2): the caller does not see that a program cannot be executed. */
bool spawn_reports_failures(void);

/* Reads on into out until @part has come.  Return: false at the end. */
bool read_until(int fd, const char *part);
void read_back(int fd, char *text);

/* A small generator, so that each run is the same. */
unsigned next_random(unsigned *state);

#define SAY(what)            \
	{                    \
		.text = what \
	}
#define RUN(line, ...)                                    \
	run(line, (const struct answer[]){ __VA_ARGS__ }, \
	    sizeof((const struct answer[]){ __VA_ARGS__ }) / sizeof(struct answer))

#define assert_has(text, part)	 ck_assert_msg(strstr(text, part), "no \"%s\" in:\n%s", part, text)
#define assert_lacks(text, part) ck_assert_msg(!strstr(text, part), "\"%s\" in:\n%s", part, text)

#define OK			SAY("{\"parameters\":{}}")
#define ERROR(name, parameters) SAY("{\"error\":\"" name "\",\"parameters\":" parameters "}")

#define SERVICE(state, more)                                                                       \
	"{\"state\":\"" state "\",\"since_usec\":259200000000,\"command\":\"nginx -g \\\"x\\\"\"," \
	"\"ready\":true,\"restarts\":0,\"waiting\":[]" more "}"
#define NODE(path, state, guards, more)                                                            \
	"{\"path\":\"" path "\",\"generation\":1,\"state\":\"" state "\",\"since_usec\":12000000," \
	"\"guards\":" guards ",\"ready\":true,\"forced\":false" more "}"
#define GUARD(id, node, kind, more)                                                    \
	"{\"id\":" id ",\"node\":\"" node "\",\"generation\":1,\"kind\":\"" kind "\"," \
	"\"age_usec\":41000000" more "}"

/* Of a tree of six nodes, and of two guards. */
extern const char tree[], guards[];

TCase *ctl_check_tests(void);
TCase *ctl_session_tests(void);
TCase *ctl_hostile_tests(void);
TCase *ctl_report_tests(void);
TCase *ctl_shutdown_tests(void);
TCase *ctl_reload_tests(void);
TCase *ctl_guard_tests(void);
TCase *ctl_interrupt_tests(void);
TCase *ctl_plan_tests(void);
TCase *ctl_logs_tests(void);
TCase *ctl_lines_tests(void);
TCase *ctl_settings_tests(void);
