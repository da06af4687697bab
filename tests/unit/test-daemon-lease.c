#include "test-daemon-lease.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/lease-fd.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/tree.h"

struct node *web;

unsigned lost;
static enum lease_end how_lost;

static void setup(void)
{
	struct node_config *node;
	struct config *config;

	ck_assert_int_eq(config_new(&config), 0);
	ck_assert_int_eq(config_add_node(config, "web", (struct place){ .file = NULL }, &node), 0);
	begin_with(config);
	web = tree_find(&tree, "web");
	lost = 0;
}

static void teardown(void)
{
	tree_done(&tree);
	ck_assert_uint_eq(ctx.n_leases, 0);
	ck_assert(list_is_empty(&ctx.lease_users));
	ck_assert(list_is_empty(&ctx.lease_fds));
	context_done(&ctx);
}

static void note_lost(struct lease *lease, enum lease_end how, void *arg)
{
	ck_assert_ptr_null(lease->node);
	ck_assert_ptr_null(arg);
	lost++;
	how_lost = how;
	lease_free(lease);
}

int take_of(uid_t uid, uint64_t ttl_usec, bool late, struct lease **ret)
{
	const struct unix_peer peer = { .pid = getpid(), .uid = uid };
	int r = lease_new(ret, web,
			  &(struct lease_wish){
				  .peer = &peer,
				  .why = "test",
				  .ttl_usec = ttl_usec,
				  .late = late,
			  });

	if (r == 0)
		(*ret)->lost = note_lost;
	return r;
}

void settle(void)
{
	(void)shutdown_follow(&tree);
}

void turn(void)
{
	ck_assert_int_ge(sd_event_run(ctx.event, UINT64_MAX), 0);
	settle();
}

TCase *lease_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	return tc;
}

START_TEST(a_lease_holds_until_it_is_released)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	ck_assert_str_ne(lease->command, "");
	ck_assert(!lease_is_stopped(lease));
	shutdown_stop(&tree, web, "test");
	settle();
	ck_assert(lease_is_stopped(lease));
	ck_assert(!web->complete);
	lease_free(lease);
	settle();
	ck_assert(web->complete);
	ck_assert(!web->forced);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(a_lease_expires_and_nothing_was_forced)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, 20 * USEC_PER_MSEC, false, &lease), 0);
	shutdown_stop(&tree, web, "test");
	settle();
	ck_assert(!web->complete);
	while (lost == 0)
		turn();
	ck_assert_int_eq(how_lost, LEASE_EXPIRED);
	ck_assert(web->complete);
	ck_assert(!web->forced);
}
END_TEST

START_TEST(a_ttl_beyond_all_time_is_none)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, USEC_INFINITY - 1, false, &lease), 0);
	ck_assert_uint_eq(lease->until_usec, USEC_INFINITY);
	ck_assert_ptr_null(lease->expiry);
	lease_free(lease);
}
END_TEST

START_TEST(a_stopped_node_is_for_the_late_only_and_a_complete_one_for_nobody)
{
	struct lease *first, *late, *no = NULL;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &first), 0);
	shutdown_stop(&tree, web, "test");
	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &no), LEASE_STOPPED);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &late), 0);
	ck_assert(lease_is_stopped(late));
	lease_free(first);
	lease_free(late);
	/* It is complete, though nobody has followed that up yet. */
	ck_assert(!web->complete);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &no), LEASE_STOPPED);
	ck_assert_ptr_null(no);
}
END_TEST

START_TEST(a_budget_that_is_spent_is_for_nobody)
{
	struct lease *lease, *no;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	shutdown_stop(&tree, web, "test");
	shutdown_force(web);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(how_lost, LEASE_REVOKED);
	ck_assert(web->forced);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &no), LEASE_STOPPED);
}
END_TEST

START_TEST(an_earlier_generation_keeps_its_budget)
{
	struct lease *lease, *next;
	uint64_t kill_usec;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	shutdown_stop(&tree, web, "test");
	web->kill_usec = kill_usec = clock_now_usec() + 20 * USEC_PER_MSEC;
	ck_assert_int_eq(starting_begin(web), 0);
	ck_assert_uint_eq(web->generation, 2);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &next), 0);
	ck_assert_uint_eq(lease_kill_time(lease), kill_usec);
	ck_assert_uint_eq(lease_kill_time(next), USEC_INFINITY);
	ck_assert(node_is_draining(web));
	while (lost == 0)
		turn();
	ck_assert_int_eq(how_lost, LEASE_REVOKED);
	ck_assert_uint_ge(clock_now_usec(), kill_usec);
	ck_assert(!node_is_draining(web));
	ck_assert_uint_eq(ctx.n_leases, 1);
	ck_assert_ptr_eq(next->node, web);
	lease_free(next);
}
END_TEST

START_TEST(each_user_has_so_many_and_all_have_so_many)
{
	static struct lease *leases[LEASES_MAX];
	struct lease *no;
	size_t n = 0;

	for (uid_t uid = 0; n < LEASES_MAX; uid++) {
		for (size_t i = 0; i < LEASES_PER_USER; i++)
			ck_assert_int_eq(take_of(uid, USEC_INFINITY, false, &leases[n++]), 0);
		if (n < LEASES_MAX)
			ck_assert_int_eq(take_of(uid, USEC_INFINITY, false, &no), LEASE_USER_FULL);
	}
	ck_assert_int_eq(take_of(1000, USEC_INFINITY, false, &no), LEASE_FULL);
	lease_free(leases[--n]);
	ck_assert_int_eq(take_of(1000, USEC_INFINITY, false, &leases[n++]), 0);
	while (n > 0)
		lease_free(leases[--n]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-lease");
	TCase *tc = lease_case("lease");

	tcase_add_test(tc, a_lease_holds_until_it_is_released);
	tcase_add_test(tc, a_lease_expires_and_nothing_was_forced);
	tcase_add_test(tc, a_ttl_beyond_all_time_is_none);
	tcase_add_test(tc, a_stopped_node_is_for_the_late_only_and_a_complete_one_for_nobody);
	tcase_add_test(tc, a_budget_that_is_spent_is_for_nobody);
	tcase_add_test(tc, an_earlier_generation_keeps_its_budget);
	tcase_add_test(tc, each_user_has_so_many_and_all_have_so_many);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, lease_fd_tests());
	return s;
}
