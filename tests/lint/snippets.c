/* The objects, the two descriptors and the functions that examples of section 3 of the manual presume.
 * tests/lint/snippets.sh links each example with this file and runs it; the stop comes while it works. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "presumed.h"

#define SECOND_USEC 1000000

struct swansong *root, *node, *server, *connections, *soft, *hard;
struct swansong_interrupt *stop;
struct swansong_loop *loop;
struct swansong_pool *pool;
struct swansong_registry *registry;
struct swansong_report *report;
char *data, *text;
int fd, r;
size_t size;
ssize_t n;
uint64_t deadline;
void *db;

static struct swansong *whole; /* of which an example may release its reference */
static unsigned int steps;
static int peer; /* of fd */

int example(void) __attribute__((weak));
void on_request(struct server *s, struct request *request) __attribute__((weak));

int close_database(void *arg)
{
	steps++;
	return arg == db ? 0 : -EINVAL;
}

/* A service at work; its stop begins with SIGTERM. */
void serve(struct swansong *served)
{
	SWANSONG_GUARD_SCOPE(served);

	steps++;
	(void)raise(SIGTERM);
}

void work(void)
{
	if (++steps == 3)
		swansong_shut_down(node);
}

void answer(const void *to, ...)
{
	(void)to;
	work();
	if (steps < 3)
		(void)send(peer, "request", 7, 0);
}

static int objects_new(void)
{
	struct swansong **nodes[] = { &node, &server, &connections, &soft, &hard };
	static char memory[64];
	int ends[2];

	if (swansong_new(&root) < 0)
		return -1;
	whole = swansong_ref(root);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		if (swansong_child(root, nodes[i]) < 0)
			return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || send(ends[1], "hello", 5, 0) != 5)
		return -1;
	fd = ends[0];
	peer = ends[1];
	data = memory;
	size = sizeof(memory);
	db = memory;
	deadline = swansong_deadline_in(SECOND_USEC);
	return swansong_interrupt_new(node, &stop) < 0 || swansong_loop_new(root, &loop) < 0 ||
			       swansong_loop_start(loop) < 0 ||
			       swansong_pool_new(root, 1, &pool) < 0 ||
			       swansong_registry_new(&registry) < 0
		       ? -1
		       : 0;
}

int main(void)
{
	if (objects_new() < 0 || (example && example() != 0))
		return 1;
	if (on_request)
		on_request(&(struct server){ server }, NULL);
	if (swansong_registry_execute(registry, swansong_deadline_in(SECOND_USEC), NULL, NULL) < 0)
		return 1;
	swansong_shut_down(whole);
	return swansong_wait(whole, swansong_deadline_in(10 * SECOND_USEC)) < 0;
}
