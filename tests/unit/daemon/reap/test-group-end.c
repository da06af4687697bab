/* A run with a control group ends when the group is empty: other processes than the main one are in it. */
#include "tests/unit/fixtures/daemon/service-world.h"

#include "daemon/reap/exit.h"

static bool populated;
static void (*on_change)(struct cgroup_watch *watch);

void __wrap_control_group_init(struct control_group *group, struct context *ctx_,
			       const struct node_config *config,
			       void (*fn)(struct cgroup_watch *watch));
void __real_control_group_init(struct control_group *group, struct context *ctx_,
			       const struct node_config *config,
			       void (*fn)(struct cgroup_watch *watch));
void __wrap_control_group_init(struct control_group *group, struct context *ctx_,
			       const struct node_config *config,
			       void (*fn)(struct cgroup_watch *watch))
{
	on_change = fn;
	__real_control_group_init(group, ctx_, config, fn);
}

bool __wrap_control_group_is_populated(const struct control_group *group);
bool __wrap_control_group_is_populated(const struct control_group *group)
{
	return group->exists && populated;
}

bool __wrap_control_group_remove(struct control_group *group);
bool __wrap_control_group_remove(struct control_group *group)
{
	if (group->exists && populated)
		return false;
	group->exists = false;
	return true;
}

void __wrap_control_group_watch(struct control_group *group, void (*each)(pid_t pid, void *arg),
				void *arg);
void __wrap_control_group_watch(struct control_group *group, void (*each)(pid_t pid, void *arg),
				void *arg)
{
	(void)group, (void)each, (void)arg;
}

void __wrap_control_group_signal(const struct control_group *group, int signo);
void __wrap_control_group_signal(const struct control_group *group, int signo)
{
	(void)group, (void)signo;
}

void __wrap_control_group_thaw_soon(struct control_group *group);
void __wrap_control_group_thaw_soon(struct control_group *group)
{
	(void)group;
}

/* The service has a control group from now on; @is_populated: with a process that is unknown. */
static void make_group(bool is_populated)
{
	populated = is_populated;
	service("web")->group.exists = true;
}

static void empty_group(void)
{
	populated = false;
	on_change(&service("web")->group.watch);
	turns();
}

START_TEST(main_process_that_ends_leaves_others_in_the_group)
{
	begin_recorded("[web]\ncommand = x\nstop-timeout = 10s\n");
	make_group(true);
	stop("web");
	ends("web", 0);
	expect("web stopping");
	empty_group();
	expect("web down");
}
END_TEST

START_TEST(stop_command_leaves_processes_in_the_group)
{
	begin_recorded("[web]\ntype = oneshot\ncommand = x\nstop-command = y\n"
		       "stop-timeout = 10s\n");
	make_group(false);
	ends("web", 0);
	expect("web up");
	stop("web");
	populated = true;
	hook_ends("web", 0);
	expect("web stopping");
	empty_group();
	expect("web down");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("end of a control group");
	TCase *tc = tree_case("end");

	tcase_add_test(tc, main_process_that_ends_leaves_others_in_the_group);
	tcase_add_test(tc, stop_command_leaves_processes_in_the_group);
	suite_add_tcase(suite, tc);
	return suite;
}
