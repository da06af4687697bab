#include "main.h"
#include "tree-world.h"
#include "nomem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/order.h"
#include "daemon/plan.h"
#include "daemon/transient.h"

/*
 * Changes of the tree with ever more allocations allowed, until they go through: one that does not has
 * changed nothing, and the next one finds all as it was.
 */

static const char before[] =
	"[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\nfinal = x\n[g]\n[h]\ncommand = x\n";
static const char after[] =
	"[swansong]\nshutdown-timeout = 1s\n[a]\ncommand = y\nrestart-limit = 7/1s\n"
	"[b]\ncommand = x\nafter = g\nready = notify\nshutdown-timeout = 5s\n"
	"start-command = x\nreload-command = x\nfd-store-max = 2\nfinal = y\nattach = yes\n"
	"[g]\ncommand = x\nenvironment = A=1\nfinal = z\n[g/n/m]\ncommand = x\nrequires = a\n[i]\ncommand = x\n";

static void setup(void)
{
	begin_with(load(before));
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			order_want(n->service);
}

/* All that a change of the tree can change, as text. */
static char *picture(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	fprintf(file, "%p\n", (void *)tree.config);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		struct service *s = n->service;

		fprintf(file, "%s %p %u %d %d %d %u", node_name(n), (const void *)n->config,
			n->generation, node_is_stopped(n), n->retired, n->transient, n->services);
		for (size_t i = 0; node_edges(n, EDGE_REQUIRES) && node_edges(n, EDGE_REQUIRES)[i];
		     i++)
			fprintf(file, " requires %s", node_name(node_edges(n, EDGE_REQUIRES)[i]));
		for (size_t i = 0; node_edges(n, EDGE_AFTER) && node_edges(n, EDGE_AFTER)[i]; i++)
			fprintf(file, " after %s", node_name(node_edges(n, EDGE_AFTER)[i]));
		for (size_t i = 0;
		     node_edges(n, LIST_DEPENDENTS) && node_edges(n, LIST_DEPENDENTS)[i]; i++)
			fprintf(file, " before %s", node_name(node_edges(n, LIST_DEPENDENTS)[i]));
		if (s)
			fprintf(file, " %p %p %p", (const void *)s->config, (void *)s->next_setup,
				(void *)s->policy);
		fputc('\n', file);
	}
	(void)fclose(file);
	return text;
}

static int reload(void *arg)
{
	cleanup(plan_freep) struct plan *plan = NULL;
	int r = plan_new(&plan, &tree, arg);

	return r < 0 ? r : plan_apply(plan);
}

static int run(void *arg)
{
	char *properties[] = { (char[]){ "requires=a" }, (char[]){ "environment=A=1" }, NULL };
	char *argv[] = { (char[]){ "x" }, NULL };
	struct node *node;

	return transient_add(&tree, "g/t", properties, argv, false, arg, &node);
}

static void with_ever_more(int (*change)(void *arg), void *arg)
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
	ck_assert_int_gt(n, 20);
}

START_TEST(without_memory_a_reload_changes_nothing)
{
	cleanup(config_unrefp) struct config *config = load(after);

	with_ever_more(reload, config);
	ck_assert_ptr_nonnull(tree_find(&tree, "g/n/m")->service);
	ck_assert_ptr_nonnull(tree_find(&tree, "g")->service);
	ck_assert(tree_find(&tree, "h")->retired);
}
END_TEST

START_TEST(without_memory_nothing_is_run)
{
	FILE *reason = fopen("/dev/null", "we");

	ck_assert_ptr_nonnull(reason);
	with_ever_more(run, reason);
	ck_assert_ptr_eq(node_edges(tree_find(&tree, "g/t"), EDGE_REQUIRES)[0],
			 tree_find(&tree, "a"));
	(void)fclose(reason);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-nomem");
	TCase *tc = tcase_create("daemon-nomem");

	tcase_add_checked_fixture(tc, setup, finish);
	tcase_add_test(tc, without_memory_a_reload_changes_nothing);
	tcase_add_test(tc, without_memory_nothing_is_run);
	suite_add_tcase(s, tc);
	return s;
}
