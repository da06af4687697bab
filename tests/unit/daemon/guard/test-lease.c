#include "tests/unit/daemon/guard/test-lease.h"

#include <unistd.h>

struct node *web;

unsigned lost;
static enum lease_end how_lost;

static void setup(void)
{
	begin("[web]\nshutdown-timeout = 10s\n");
	web = find("web");
	lost = 0;
}

static void teardown(void)
{
	finish();
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
	ck_assert(list_is_empty(&ctx.guards.users));
	ck_assert(list_is_empty(&ctx.guards.descriptors));
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
	const struct ucred peer = { .pid = getpid(), .uid = uid };
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

void wait_for_event(void)
{
	ck_assert_int_ge(sd_event_run(ctx.event, UINT64_MAX), 0);
	turns();
}

TCase *lease_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	return tc;
}

START_TEST(lease_holds_until_it_is_released)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	ck_assert_str_ne(lease->command, "");
	ck_assert(!lease_is_stopped(lease));
	stop("web");
	ck_assert(lease_is_stopped(lease));
	ck_assert(!web->complete);
	lease_free(lease);
	turns();
	ck_assert(web->complete);
	ck_assert(!web->forced);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(lease_expires_without_force)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, SEC, false, &lease), 0);
	stop("web");
	ck_assert(!web->complete);
	ck_assert_uint_eq(lost, 0);
	pass(SEC);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(how_lost, LEASE_EXPIRED);
	ck_assert(web->complete);
	ck_assert(!web->forced);
}
END_TEST

START_TEST(ttl_that_overflows_is_no_limit)
{
	struct lease *lease;

	ck_assert_int_eq(take_of(1, USEC_INFINITY - 1, false, &lease), 0);
	ck_assert_uint_eq(lease->until_usec, USEC_INFINITY);
	ck_assert_uint_eq(lease->expiry.usec, USEC_INFINITY);
	lease_free(lease);
}
END_TEST

START_TEST(stopped_node_takes_late_leases_until_it_is_complete)
{
	struct lease *first, *late, *no = NULL;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &first), 0);
	stop("web");
	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &no), LEASE_STOPPED);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &late), 0);
	ck_assert(lease_is_stopped(late));
	lease_free(first);
	lease_free(late);
	/* The node is Complete, and no update turn has processed that yet. */
	ck_assert(!web->complete);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &no), LEASE_STOPPED);
	ck_assert_ptr_null(no);
}
END_TEST

START_TEST(expired_budget_revokes_and_refuses_leases)
{
	struct lease *lease, *no;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	stop("web");
	force("web");
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(how_lost, LEASE_REVOKED);
	ck_assert(web->forced);
	ck_assert(!tree.root->forced); /* the root is not stopped */
	ck_assert_int_eq(take_of(1, USEC_INFINITY, true, &no), LEASE_STOPPED);
}
END_TEST

START_TEST(earlier_generation_keeps_its_budget)
{
	struct lease *lease, *next;
	uint64_t kill_usec;

	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &lease), 0);
	stop("web");
	kill_usec = web->kill_usec;
	ck_assert_uint_lt(kill_usec, USEC_INFINITY);
	ck_assert_int_eq(start("web"), 0);
	ck_assert_uint_eq(web->generation, 2);
	ck_assert_int_eq(take_of(1, USEC_INFINITY, false, &next), 0);
	ck_assert_uint_eq(lease_kill_time(lease), kill_usec);
	ck_assert_uint_eq(lease_kill_time(next), USEC_INFINITY);
	ck_assert_int_eq(web->draining, 1);
	pass(10 * SEC);
	ck_assert_uint_eq(lost, 1);
	ck_assert_int_eq(how_lost, LEASE_REVOKED);
	ck_assert_int_eq(web->draining, 0);
	ck_assert_uint_eq(ctx.guards.n_leases, 1);
	ck_assert_ptr_eq(next->node, web);
	lease_free(next);
}
END_TEST

START_TEST(leases_are_limited_for_each_user_and_for_all)
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

	tcase_add_test(tc, lease_holds_until_it_is_released);
	tcase_add_test(tc, lease_expires_without_force);
	tcase_add_test(tc, ttl_that_overflows_is_no_limit);
	tcase_add_test(tc, stopped_node_takes_late_leases_until_it_is_complete);
	tcase_add_test(tc, expired_budget_revokes_and_refuses_leases);
	tcase_add_test(tc, earlier_generation_keeps_its_budget);
	tcase_add_test(tc, leases_are_limited_for_each_user_and_for_all);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, lease_fd_tests());
	return s;
}
