/* Each allocation of each function that makes something fails in turn. */
#include "tests/unit/swansong/test-nomem.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/fake-daemon.h"
#include "tests/unit/fixtures/nomem-counted.h"
#include "tests/unit/fixtures/swansong/pair.h"

/* ---- functions that allocate ---- */

static struct swansong_registry *registry;
static struct swansong_guard guards[5];

static int make_root(void **ret)
{
	return swansong_new((struct swansong **)ret);
}

static int make_child(void **ret)
{
	return swansong_child(child, (struct swansong **)ret);
}

static bool drop_node(void *made)
{
	return !swansong_unref(made);
}

static int make_completion(void **ret)
{
	return swansong_completion_new(child, (struct swansong_completion **)ret);
}

static bool drop_completion(void *made)
{
	return !swansong_completion_unref(made);
}

static int make_interrupt(void **ret)
{
	return swansong_interrupt_new(child, (struct swansong_interrupt **)ret);
}

static int make_guarded_interrupt(void **ret)
{
	return swansong_interrupt_new_guarded(child, (struct swansong_interrupt **)ret);
}

static bool drop_interrupt(void *made)
{
	return !swansong_interrupt_unref(made);
}

static void note_nothing(void *arg)
{
	(void)arg;
}

static int make_interrupt_notify(void **ret)
{
	struct swansong_interrupt *i = NULL;
	int r = swansong_interrupt_new(child, &i);

	if (r >= 0)
		r = swansong_interrupt_notify(i, note_nothing, NULL);
	if (r >= 0)
		*ret = i;
	else
		(void)swansong_interrupt_unref(i);
	return r;
}

/* On a root of its own, so that its descriptor is also made, and registered for forks. */
static int make_interrupt_fd(void **ret)
{
	struct swansong_interrupt *i = NULL;
	struct swansong *s;
	int r = swansong_new(&s);

	if (r < 0)
		return r;
	r = swansong_interrupt_new(s, &i);
	if (r >= 0)
		r = swansong_interrupt_fd(i);
	(void)swansong_unref(s);
	if (r >= 0)
		*ret = i;
	else
		(void)swansong_interrupt_unref(i);
	return r < 0 ? r : 0;
}

/* More than fit on the stack, of which the last one is readable; the others are not used. */
static struct pollfd polled[20];
static int ends[2];

static int poll_many(void **ret)
{
	struct swansong_interrupt *i = NULL;
	long left = allocations_left;
	int r;

	(void)ret;
	allocations_left = -1;
	if (swansong_interrupt_new(child, &i) < 0)
		return -EINVAL;
	allocations_left = left;
	for (size_t k = 0; k < ARRAY_SIZE(polled); k++)
		polled[k] = (struct pollfd){ .fd = -1, .events = POLLIN, .revents = POLLNVAL };
	polled[ARRAY_SIZE(polled) - 1].fd = ends[0];
	r = swansong_interrupt_poll(i, polled, ARRAY_SIZE(polled), UINT64_MAX);
	(void)swansong_interrupt_unref(i);
	if (r == -ENOMEM && polled[0].revents != POLLNVAL)
		return -EINVAL;
	return r == 1 ? 0 : r;
}

static bool polled_well(void *made)
{
	(void)made;
	return polled[0].revents == 0 && polled[ARRAY_SIZE(polled) - 1].revents == POLLIN;
}

static void open_ends(void)
{
	ck_assert_int_ge(swansong_stopped_fd(child), 0); /* the node's, for its time */
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

static int make_registry(void **ret)
{
	return swansong_registry_new((struct swansong_registry **)ret);
}

static bool drop_registry(void *made)
{
	return !swansong_registry_unref(made);
}

static unsigned int acted;

static int act(void *arg)
{
	(void)arg;
	acted++;
	return 0;
}

static int add_worker(void **ret)
{
	const struct swansong_worker worker = { .name = "worker", .notify = act };

	(void)ret;
	return swansong_registry_add_worker(registry, &worker);
}

static int add_action(void **ret)
{
	(void)ret;
	return swansong_registry_add_action(registry, "action", act, NULL);
}

/* Only the accepted entries are executed, once; and there is an empty registry again. */
static bool execute(void *made)
{
	bool once;

	(void)made;
	acted = 0;
	once = swansong_registry_execute(registry, UINT64_MAX, NULL, NULL) == 0 && acted == 1;
	(void)swansong_registry_unref(registry);
	return swansong_registry_new(&registry) == 0 && once;
}

static long live_before; /* the attachment */

/* The descriptors that were passed are closed when it fails. */
static int attach(void **ret)
{
	struct fake_daemon daemon;
	int r;

	live_before = atomic_load(&live);

	if (!fake_daemon_make(&daemon, 2, FAKE_DAEMON_SEALS))
		return -errno;
	r = swansong_attach((struct swansong **)ret);
	if (r < 0 && fcntl(daemon.passed, F_GETFD) >= 0)
		r = -EMFILE;
	fake_daemon_end(&daemon);
	return r > 0 ? 0 : r;
}

/* The thread frees it, in its own time. */
static bool drop_attached(void *made)
{
	uint64_t deadline = clock_now_usec() + 30 * USEC_PER_SEC;

	(void)swansong_unref(made);
	while (atomic_load(&live) != live_before && clock_now_usec() < deadline)
		sched_yield();
	return true; /* the caller compares the memory that is left */
}

static int enable_percpu(void **ret)
{
	(void)ret;
	return swansong_percpu_enable(child);
}

static int enable(void **ret)
{
	(void)ret;
	return swansong_report_enable(child);
}

/* These two end only with the tree. */
static bool disable(void *made)
{
	(void)made;
	drop_pair();
	return swansong_new(&root) == 0 && swansong_child(root, &child) == 0;
}

static int make_report(void **ret)
{
	return swansong_report(root, (struct swansong_report **)ret);
}

static bool drop_report(void *made)
{
	const struct swansong_report *report = made;
	bool whole = report->guards == ARRAY_SIZE(guards) && report->unknown == 0;

	return !swansong_report_free(made) && whole;
}

/* A text that grows again and again. */
static int make_text(void **ret)
{
	struct swansong_report_site sites[100];
	struct swansong_report report = { .guards = 300, .unknown = 200, .n = 100, .sites = sites };

	for (size_t k = 0; k < ARRAY_SIZE(sites); k++)
		sites[k] = (struct swansong_report_site){ "some/file.c", "serve", 100, 1, 0 };
	return swansong_report_text(&report, (char **)ret);
}

static bool drop_text(void *made)
{
	static const char begin[] = "300 outstanding guards: 1 x some/file.c:100 (oldest ";
	const char *end = made ? strstr(made, "), 200 x unknown") : NULL;
	bool whole = end && strlen(end) == 16 && strncmp(made, begin, sizeof(begin) - 1) == 0;

	free(made);
	return whole;
}

static int make_loop(void **ret)
{
	return swansong_loop_new(NULL, (struct swansong_loop **)ret);
}

static int make_loop_below(void **ret)
{
	return swansong_loop_new(child, (struct swansong_loop **)ret);
}

static bool drop_loop(void *made)
{
	return !swansong_loop_unref(made);
}

static int make_pool(void **ret)
{
	return swansong_pool_new(NULL, 2, (struct swansong_pool **)ret);
}

static int make_pool_below(void **ret)
{
	return swansong_pool_new(child, 2, (struct swansong_pool **)ret);
}

static bool drop_pool(void *made)
{
	return !swansong_pool_unref(made);
}

static void hold_guards(void)
{
	ck_assert_int_eq(swansong_report_enable(root), 0);
	for (size_t k = 0; k < ARRAY_SIZE(guards); k++)
		guards[k] = swansong_guard(child);
}

static void drop_guards(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(guards); k++)
		swansong_guard_drop(&guards[k]);
}

/* Each returns what the function does; @ret is written by it, or left alone if it has none. */
static const struct allocating {
	const char *name;
	int (*make)(void **ret);
	bool (*drop)(void *made); /* returns true if @made was as it should be */
	void (*before)(void);
	void (*after)(void);
} functions[] = {
	{ "swansong_new", make_root, drop_node, NULL, NULL },
	{ "swansong_attach", attach, drop_attached, NULL, NULL },
	{ "swansong_child", make_child, drop_node, NULL, NULL },
	{ "swansong_percpu_enable", enable_percpu, disable, NULL, NULL },
	{ "swansong_completion_new", make_completion, drop_completion, NULL, NULL },
	{ "swansong_interrupt_new", make_interrupt, drop_interrupt, NULL, NULL },
	{ "swansong_interrupt_new_guarded", make_guarded_interrupt, drop_interrupt, NULL, NULL },
	{ "swansong_interrupt_notify", make_interrupt_notify, drop_interrupt, NULL, NULL },
	{ "swansong_interrupt_fd", make_interrupt_fd, drop_interrupt, NULL, NULL },
	{ "swansong_interrupt_poll", poll_many, polled_well, open_ends, close_ends },
	{ "swansong_registry_new", make_registry, drop_registry, NULL, NULL },
	{ "swansong_registry_add_worker", add_worker, execute, NULL, NULL },
	{ "swansong_registry_add_action", add_action, execute, NULL, NULL },
	{ "swansong_report_enable", enable, disable, NULL, NULL },
	{ "swansong_report", make_report, drop_report, hold_guards, drop_guards },
	{ "swansong_report_text", make_text, drop_text, NULL, NULL },
	{ "swansong_loop_new of a root", make_loop, drop_loop, NULL, NULL },
	{ "swansong_loop_new", make_loop_below, drop_loop, NULL, NULL },
	{ "swansong_pool_new of a root", make_pool, drop_pool, NULL, NULL },
	{ "swansong_pool_new", make_pool_below, drop_pool, NULL, NULL },
};

/* ---- the tests ---- */

static void set_up(void)
{
	make_pair();
	ck_assert_int_eq(swansong_registry_new(&registry), 0);
}

static void tear_down(void)
{
	registry = swansong_registry_unref(registry);
	drop_pair();
}

/* Live memory is never compared across a call of libcheck, which has memory of its own. */
static int try_with(const struct allocating *f, long allocations, void **made, long *leaked)
{
	long before = atomic_load(&live);
	int r;

	allocations_left = allocations;
	r = f->make(made);
	allocations_left = -1;
	*leaked = atomic_load(&live) - before;
	return r;
}

static void works(const struct allocating *f)
{
	long before = atomic_load(&live);
	void *made = NULL;
	long taken, left;
	int r = try_with(f, -1, &made, &taken);
	bool good = r == 0 && f->drop(made);

	left = atomic_load(&live) - before;
	ck_assert_msg(good, "%s does not work", f->name);
	ck_assert_msg(left == 0, "%s: %ld allocations are left", f->name, left);
}

START_TEST(a_call_without_memory_has_done_nothing_and_can_be_tried_again)
{
	const struct allocating *f = &functions[_i];
	int untouched;
	void *made;
	long n, leaked;
	bool good;
	int r;

	if (f->before)
		f->before();
	works(f);
	for (n = 0;; n++) {
		made = &untouched;
		r = try_with(f, n, &made, &leaked);
		if (r == 0)
			break;
		ck_assert_msg(r == -ENOMEM, "%s: %d at allocation %ld", f->name, r, n);
		ck_assert_msg(made == &untouched, "%s: written at allocation %ld", f->name, n);
		ck_assert_msg(leaked == 0, "%s: %ld lost at allocation %ld", f->name, leaked, n);
		ck_assert_uint_eq(swansong_guard_count(root),
				  f->before == hold_guards ? ARRAY_SIZE(guards) : 0);
		works(f);
	}
	good = f->drop(made); /* before libcheck is called: drop_attached() compares what lives */
	ck_assert_msg(n > 0, "%s allocates nothing", f->name);
	ck_assert_msg(good, "%s does not work", f->name);
	if (f->after)
		f->after();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-nomem");
	TCase *tc = tcase_create("nomem");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, a_call_without_memory_has_done_nothing_and_can_be_tried_again, 0,
			    ARRAY_SIZE(functions));
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, nomem_use_case());
	return suite;
}
