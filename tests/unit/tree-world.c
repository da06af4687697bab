#include "tree-world.h"

#include "config-of.h"
#include "daemon/order.h"
#include "main.h"

struct context ctx;
struct process_table processes;
struct tree tree;

struct config *load(const char *text)
{
	static const struct config_names names = { NULL, NULL };

	return config_of(text, &names);
}

void begin_with(struct config *config)
{
	static struct log log = { .fd = -1, .level = LOG_EMERG, .name = "test" };
	static struct signals signals;
	static char *environment[] = { NULL };

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	process_table_init(&processes);
	ctx.processes = &processes;
	ctx.environment = environment;
	ck_assert_int_eq(tree_init(&tree, &ctx, config), 0);
	config_unref(config);
}

void finish(void)
{
	tree_done(&tree);
	context_done(&ctx);
}

struct node *find(const char *path)
{
	struct node *node = tree_find(&tree, path);

	ck_assert_msg(node != NULL, "%s", path);
	return node;
}

struct service *service(const char *path)
{
	ck_assert_ptr_nonnull(find(path)->service);
	return find(path)->service;
}

void run_service(struct service *s)
{
	bool was_settled;

	order_want(s);
	list_remove(&s->in_waiting);
	was_settled = service_is_settled(s);
	s->main.guard = swansong_guard(s->node->work);
	s->main.generation = s->node->generation;
	s->state = STATE_STARTING;
	node_count(s->node, 0, 0, service_is_settled(s) - was_settled);
	service_handle(s, EVENT_READY);
}

void check_counts(void)
{
	for (struct node *top = tree.root; top; top = node_next(top, tree.root)) {
		unsigned services = 0, ready = 0, settled = 0;

		for (struct node *n = top; n; n = node_next(n, top)) {
			services += n->service != NULL;
			ready += n->service && service_is_ready(n->service);
			settled += n->service && service_is_settled(n->service);
		}
		ck_assert_uint_eq(top->services, services);
		ck_assert_uint_eq(top->ready, ready);
		ck_assert_uint_eq(top->settled, settled);
	}
}
