/*
 * Long random sequences of operations, on the library and on the model of it.
 *
 * Every loop of the test is one seed, and so the same sequence each time.
 */
#include "tests/unit/fixtures/swansong/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define STEPS 4000
#define DEPTH 6

/* ---- chance, and what it has led to ---- */

static uint64_t dice;
static uint64_t the_seed;
static unsigned int step;

static char last[32][64];
static unsigned int n_last;

/* Cases that the sequences must come to. */
static struct {
	unsigned int states[SWANSONG_COMPLETE + 1];
	unsigned int born_stopped, late_guards, outlived, gone, depth;
} seen;

/* splitmix64 */
static unsigned int below(unsigned int limit)
{
	uint64_t z = dice += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (unsigned int)((z ^ (z >> 31)) % limit);
}

static __attribute__((format(printf, 1, 2))) void note(const char *format, ...)
{
	char *line = last[n_last++ % 32];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof(last[0]), format, arguments);
	va_end(arguments);
}

static void expect(const char *what, int slot, uint64_t model, uint64_t real)
{
	if (model == real)
		return;
	fprintf(stderr, "seed %" PRIu64 ", step %u; the last operations:\n", the_seed, step);
	for (unsigned int i = n_last > 32 ? n_last - 32 : 0; i < n_last; i++)
		fprintf(stderr, "\t%s\n", last[i % 32]);
	ck_abort_msg("seed %" PRIu64 ", step %u: %s of %d: the model says %" PRIu64
		     ", the library %" PRIu64,
		     the_seed, step, what, slot, model, real);
}

/* Some node that there is a reference to, or NONE. */
static int some_node(void)
{
	int start = (int)below(NODES);

	for (int k = 0; k < NODES; k++) {
		int n = (start + k) % NODES;

		if (nodes[n].handles > 0)
			return n;
	}
	return NONE;
}

/* ---- the operations: each on the library and on the model ---- */

static void new_root(int n)
{
	note("new -> node %d", n);
	nodes[n] = (struct model_node){ .used = true, .alive = true, .parent = NONE, .handles = 1 };
	ck_assert_int_eq(swansong_new(&nodes[n].real), 0);
}

static void new_child(int n, int parent)
{
	if (depth_of(parent) >= DEPTH)
		return;
	note("child of %d -> node %d", parent, n);
	nodes[n] = (struct model_node){
		.used = true,
		.alive = true,
		.stopped = nodes[parent].stopped,
		.parent = parent,
		.handles = 1,
	};
	ck_assert_int_eq(swansong_child(nodes[parent].real, &nodes[n].real), 0);
	seen.born_stopped += nodes[n].stopped;
	if (depth_of(n) > seen.depth)
		seen.depth = depth_of(n);
}

static void unref(int n)
{
	note("unref node %d", n);
	(void)swansong_unref(nodes[n].real);
	if (--nodes[n].handles > 0)
		return;
	if (nodes[n].parent == NONE)
		model_stop(n);
	seen.outlived += is_kept(n);
}

static void shut_down(int n)
{
	note("shut_down node %d", n);
	swansong_shut_down(nodes[n].real);
	model_stop(n);
}

static void on_node(int n, bool taking)
{
	int other = some_node();

	if (!nodes[n].used && taking) {
		if (other == NONE || below(8) == 0)
			new_root(n);
		else
			new_child(n, other);
	} else if (nodes[n].handles > 0) {
		if (taking && nodes[n].handles < 3) {
			note("ref node %d", n);
			nodes[n].handles++;
			ck_assert_ptr_eq(swansong_ref(nodes[n].real), nodes[n].real);
		} else if (below(nodes[n].parent == NONE ? 16 : 6) == 0) {
			shut_down(n);
		} else if (nodes[n].parent != NONE || below(4) == 0) {
			unref(n);
		}
	}
}

static void hold(int g, int n)
{
	guards[g].held = true;
	guards[g].node = n;
	seen.late_guards += state_of(n) != SWANSONG_RUNNING;
}

static void take_guard(int g, int n)
{
	note("guard %d on node %d", g, n);
	guards[g].real = swansong_guard(nodes[n].real);
	hold(g, n);
}

/* A clone, or the same guard at another place. */
static void copy_guard(int g, int from)
{
	if (below(2)) {
		note("clone guard %d -> guard %d", from, g);
		guards[g].real = swansong_guard_clone(&guards[from].real);
		hold(g, guards[from].node);
	} else {
		note("move guard %d -> guard %d", from, g);
		guards[g] = guards[from];
		guards[from] = (struct model_guard){ 0 };
	}
}

static void drop_guard(int g)
{
	note("drop guard %d on node %d", g, guards[g].node);
	swansong_guard_drop(&guards[g].real);
	ck_assert_ptr_null(guards[g].real.node);
	guards[g].held = false;
}

static void on_guard(int g, bool taking)
{
	int from = (int)below(GUARDS);
	int n = some_node();

	if (guards[g].held && !taking)
		drop_guard(g);
	else if (!guards[g].held && taking && guards[from].held && below(4) == 0)
		copy_guard(g, from);
	else if (!guards[g].held && taking && n != NONE)
		take_guard(g, n);
}

static void on_resolved(void *arg)
{
	struct model_completion *c = arg;

	c->calls++;
}

static void new_completion(int c, int n)
{
	note("completion %d of node %d", c, n);
	completions[c] = (struct model_completion){ .used = true, .node = n };
	ck_assert_int_eq(swansong_completion_new(nodes[n].real, &completions[c].real), 0);
	ck_assert_int_eq(
		swansong_completion_notify(completions[c].real, on_resolved, &completions[c]), 0);
}

static void drop_completion(int c)
{
	note("unref completion %d of node %d", c, completions[c].node);
	completions[c].used = false;
	ck_assert_ptr_null(swansong_completion_unref(completions[c].real));
}

static void on_completion(int c, bool taking)
{
	int n = some_node();

	if (completions[c].used && !taking)
		drop_completion(c);
	else if (!completions[c].used && taking && n != NONE)
		new_completion(c, n);
}

static void new_interrupt(int i, int n)
{
	bool guarded = below(4) == 0;
	struct swansong_interrupt **real = &interrupts[i].real;

	note("%sinterrupt %d of node %d", guarded ? "guarded " : "", i, n);
	interrupts[i].used = true;
	interrupts[i].node = n;
	interrupts[i].guard = guarded ? GUARDS + i : NONE;
	if (!guarded) {
		ck_assert_int_eq(swansong_interrupt_new(nodes[n].real, real), 0);
		return;
	}
	ck_assert_int_eq(swansong_interrupt_new_guarded(nodes[n].real, real), 0);
	hold(GUARDS + i, n);
}

static void drop_interrupt(int i)
{
	note("unref interrupt %d of node %d", i, interrupts[i].node);
	interrupts[i].used = false;
	if (interrupts[i].guard != NONE)
		guards[interrupts[i].guard].held = false;
	ck_assert_ptr_null(swansong_interrupt_unref(interrupts[i].real));
}

static void on_interrupt(int i, bool taking)
{
	int n = some_node();

	if (interrupts[i].used && !taking)
		drop_interrupt(i);
	else if (!interrupts[i].used && taking && n != NONE)
		new_interrupt(i, n);
}

/* The counting of guards takes other ways with a report. */
static void enable_report(void)
{
	int n = some_node();

	if (n == NONE)
		return;
	note("report_enable node %d", n);
	ck_assert_int_eq(swansong_report_enable(nodes[n].real), 0);
}

static void operate(bool taking)
{
	switch (below(16)) {
	case 0 ... 5:
		on_node((int)below(NODES), taking);
		break;
	case 6 ... 10:
		on_guard((int)below(GUARDS), taking);
		break;
	case 11 ... 12:
		on_completion((int)below(COMPLETIONS), taking);
		break;
	case 13 ... 14:
		on_interrupt((int)below(INTERRUPTS), taking);
		break;
	default:
		if (below(20) == 0)
			enable_report();
	}
	model_settle();
}

/* ---- the comparison ---- */

static void compare_nodes(void)
{
	for each (n, nodes) {
		if (!nodes[n].handles)
			continue;
		expect("the state", n, state_of(n), swansong_state(nodes[n].real));
		expect("the guard count", n, guards_below(n), swansong_guard_count(nodes[n].real));
		seen.states[state_of(n)]++;
	}
}

static void compare_callbacks(void)
{
	for each (c, completions)
		if (completions[c].used)
			expect("the number of calls", c, completions[c].done, completions[c].calls);
}

static void compare_watchers(void)
{
	for each (c, completions)
		if (completions[c].used)
			expect("the completion", c, completions[c].done,
			       swansong_completion_done(completions[c].real));
	for each (i, interrupts) {
		const struct model_node *n = &nodes[interrupts[i].node];

		if (!interrupts[i].used)
			continue;
		expect("the interrupt", i, n->stopped || !n->alive,
		       swansong_interrupted(interrupts[i].real));
		seen.gone += !n->alive;
	}
}

static void compare(void)
{
	compare_nodes();
	compare_callbacks();
	compare_watchers();
}

/* Everything is given back, in any order; each step is compared, too. */
static void end_all(void)
{
	for (step = STEPS; step < 2 * STEPS; step++) {
		operate(false);
		compare();
	}
	for each (n, nodes)
		while (nodes[n].handles > 0) {
			unref(n);
			model_settle();
			compare();
		}
	for each (g, guards)
		if (guards[g].held && g < GUARDS)
			drop_guard(g);
	for each (c, completions)
		if (completions[c].used)
			drop_completion(c);
	model_settle();
	compare();
	for each (i, interrupts)
		if (interrupts[i].used)
			drop_interrupt(i);
}

START_TEST(the_library_does_what_the_model_does)
{
	unsigned int appetite = 50;

	dice = the_seed = (uint64_t)_i;
	for (step = 0; step < STEPS; step++) {
		if (step % 128 == 0)
			appetite = 30 + below(50);
		operate(below(100) < appetite);
		/* Half of the seeds look seldom, as looking may be what latches. */
		if (_i % 2 || below(32) == 0)
			compare();
		else
			compare_callbacks();
	}
	end_all();

	for (int s = 0; s <= SWANSONG_COMPLETE; s++)
		ck_assert_uint_gt(seen.states[s], 0);
	ck_assert_uint_gt(seen.born_stopped, 0);
	ck_assert_uint_gt(seen.late_guards, 0);
	ck_assert_uint_gt(seen.outlived, 0);
	ck_assert_uint_gt(seen.gone, 0);
	ck_assert_uint_gt(seen.depth, 3);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-property");
	TCase *tc = tcase_create("property");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, the_library_does_what_the_model_does, 0, 64);
	suite_add_tcase(suite, tc);
	return suite;
}
