#include "tests/unit/fixtures/daemon/tree-world.h"

/*
 * Changes of the tree with ever more allocations allowed, until one succeeds.  A change that fails
 * has changed nothing, and the next attempt finds the tree as it was.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/reload/plan.h"
#include "daemon/reload/transient.h"
#include "daemon/reload/use.h"
#include "daemon/tree/goals.h"
#include "tests/unit/fixtures/nomem.h"

static const char before[] =
	"[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\nfinal = x\n[g]\n[h]\ncommand = x\n";
static const char after[] =
	"[swansong]\nshutdown-timeout = 1s\n[a]\ncommand = y\nrestart-limit = 7/1s\n"
	"[b]\ncommand = x\nafter = g\nready = notify\nshutdown-timeout = 5s\n"
	"start-command = x\nreload-command = x\nfd-store-max = 2\nfinal = y\nattach = yes\n"
	"[g]\ncommand = x\nenvironment = A=1\nfinal = z\n[g/n/m]\ncommand = x\nrequires = a\n[i]\ncommand = x\n";

/* Everything that a change of the tree can change, as text. */
static char *picture(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	fprintf(file, "%p\n", (void *)tree.config);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		struct service *s = n->service;

		fprintf(file, "%s %p %u %d %d %d %u", node_name(n), (const void *)n->config,
			n->generation, node_is_stopped(n), n->goal, n->transient,
			n->counts.services);
		for (size_t list = 0; list < N_LISTS; list++) {
			struct node *const *edges = node_edges(n, list);

			for (; edges && *edges; edges++)
				fprintf(file, " %zu: %s", list, node_name(*edges));
		}
		if (s)
			fprintf(file, " %p %p %p", (const void *)s->config, (void *)s->next_setup,
				(void *)s->policy);
		fputc('\n', file);
	}
	(void)fclose(file);
	return text;
}

static int apply_plan(void *arg)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	int r = plan_new(&plan, &tree, arg, false);

	return r < 0 ? r : plan_apply(plan);
}

static int run_transient(void *arg)
{
	char *properties[] = { (char[]){ "requires=a" }, (char[]){ "environment=A=1" }, NULL };
	char *argv[] = { (char[]){ "x" }, NULL };
	struct node *node;

	return transient_add(
		&tree,
		&(struct transient_run){ .path = "g/t", .properties = properties, .argv = argv },
		arg, &node);
}

/* Returns the number of allocations that the change takes. */
static long with_ever_more(int (*change)(void *arg), void *arg)
{
	int r = -ENOMEM;
	long n;

	for (n = 0; r < 0; n++) {
		char *was = picture(), *is;

		ck_assert_int_lt(n, 10000);
		allocations_left = n;
		r = change(arg);
		allocations_left = -1;
		is = picture();
		ck_assert_msg(r == 0 || r == -ENOMEM, "%ld allocations gave %d", n, r);
		ck_assert_msg((r == 0) == (strcmp(was, is) != 0), "after %ld allocations:\n%s%s", n,
			      was, is);
		free(was);
		free(is);
	}
	return n - 1;
}

START_TEST(reload_without_memory_changes_nothing)
{
	struct config *config = load(after);

	begin(before);
	ck_assert_int_ge(with_ever_more(apply_plan, config), 20);
	config_unref(config);
	ck_assert_ptr_nonnull(service("g/n/m"));
	ck_assert_ptr_nonnull(service("g"));
	ck_assert_int_eq(find("h")->goal, GOAL_GONE);
}
END_TEST

START_TEST(run_without_memory_changes_nothing)
{
	FILE *reason = fopen("/dev/null", "we");

	ck_assert_ptr_nonnull(reason);
	begin(before);
	ck_assert_int_ge(with_ever_more(run_transient, reason), 20);
	ck_assert_ptr_eq(node_edges(find("g/t"), EDGE_REQUIRES)[0], find("a"));
	(void)fclose(reason);
}
END_TEST

static int use_node(void *arg)
{
	struct node *node;

	return use_find(&tree, arg, &node);
}

START_TEST(guard_that_uses_a_node_without_memory_changes_nothing)
{
	begin(before);
	ck_assert_int_ge(with_ever_more(use_node, find("a")), 10);
	ck_assert_ptr_eq(node_edges(find("a+using"), EDGE_REQUIRES)[0], find("a"));
}
END_TEST

/* Nothing is checked meanwhile, as checks need memory as well. */
static void start_with(struct node *node, long allocations)
{
	allocations_left = allocations;
	(void)goals_start(node, CAUSE_OPERATOR, false);
	while (agenda_is_due(&ctx.agenda))
		turn();
	allocations_left = -1;
}

/* Also while the earlier generation is not Complete. */
START_TEST(node_that_cannot_be_renewed_stays_down)
{
	struct node *h;
	long n;

	begin(before);
	h = find("h");
	stop("h");
	if (_i > 0)
		end_asked();
	for (n = 0; start_with(h, n), node_is_stopped(h); n++) {
		ck_assert_int_eq(h->goal, GOAL_DOWN);
		ck_assert_int_eq(h->cause, CAUSE_FAILURE);
		ck_assert_uint_eq(h->generation, 1);
	}
	ck_assert_int_gt(n, 0);
	end_asked();
	expect("h up");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("nomem");
	TCase *tc = tree_case("nomem");

	tcase_add_test(tc, reload_without_memory_changes_nothing);
	tcase_add_test(tc, run_without_memory_changes_nothing);
	tcase_add_test(tc, guard_that_uses_a_node_without_memory_changes_nothing);
	tcase_add_loop_test(tc, node_that_cannot_be_renewed_stays_down, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
