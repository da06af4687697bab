#include "timed-tree.h"

#include "daemon/deadline.h"
#include "daemon/order.h"
#include "daemon/service-hook.h"
#include "daemon/service-timeout.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"

/* No process has such a number, or a higher one. */
#define NO_PID 0x7ffff000

static pid_t next_pid;

void run(struct service *s)
{
	s->parts = service_configured_parts(s);
	process_add(&processes, &s->main, next_pid, -1);
	s->main.group = next_pid++;
	s->started_usec = clock_now_usec();
	run_service(s);
	ck_assert_int_eq(s->state, STATE_UP);
}

void begin_within(const char *text, uint64_t grace)
{
	begin_with(load(text));
	ctx.grace_usec = grace;
	next_pid = NO_PID;
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		ck_assert_int_eq(deadline_watch(n, n->config), 0);
		if (n->service)
			run(n->service);
	}
}

void begin(const char *text)
{
	begin_within(text, USEC_INFINITY);
}

void stop(const char *path)
{
	shutdown_stop(&tree, find(path), "test");
}

void turn(void)
{
	service_settle_guards(&ctx);
	order_release(&ctx);
	(void)shutdown_follow(&tree);
}

void end(const char *path)
{
	struct service *s = service(path);

	s->main.alive = false;
	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
	turn();
}

struct lease *hold(const char *path)
{
	const struct unix_peer peer = { .pid = 0 };
	const struct lease_wish wish = {
		.peer = &peer,
		.why = "test",
		.ttl_usec = USEC_INFINITY,
		.late = true,
	};
	struct lease *lease;

	ck_assert_int_eq(lease_new(&lease, find(path), &wish), 0);
	turn();
	return lease;
}

void release(struct lease *lease)
{
	lease_free(lease);
	turn();
}

uint64_t left(const char *path)
{
	uint64_t now = clock_now_usec(), usec = service(path)->timeout_usec;

	if (usec == USEC_INFINITY)
		return usec;
	return usec > now ? usec - now : 0;
}

void has_about(const char *path, uint64_t usec)
{
	uint64_t got = left(path);

	ck_assert_msg(got <= usec && got + 3 * SEC / 2 > usec, "%s has %llu ms, not %llu", path,
		      (unsigned long long)got / 1000, (unsigned long long)usec / 1000);
}

TCase *timed_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, NULL, finish);
	return tc;
}
