#include "reloaded-tree.h"

#include "daemon/order.h"
#include "daemon/reload.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"

void begin(const char *text)
{
	begin_with(load(text));
}

void reload(const char *text)
{
	cleanup(config_unrefp) struct config *config = load(text);

	ck_assert_int_eq(reload_apply(&tree, config), 0);
}

void turn(void)
{
	order_release(&ctx);
	(void)shutdown_follow(&tree);
}

void run(const char *path)
{
	service_use_next_setup(service(path));
	run_service(service(path));
}

void end(const char *path)
{
	struct service *s = service(path);

	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
	turn();
}

void is_back(const char *path, unsigned generation)
{
	ck_assert(!node_is_stopped(find(path)));
	ck_assert_uint_eq(find(path)->generation, generation);
	ck_assert(service(path)->wanted);
}
