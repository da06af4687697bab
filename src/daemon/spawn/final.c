/*
 * The generation that ends is remembered when its stop is latched, with its result, as a next one
 * may begin before the action is over.  The action has one attempt for each generation, with a time
 * limit of its own.  A reload during the action prepares the next one beside it.
 */
#include "daemon/spawn/final.h"

#include "model/life/budget.h"

#define LATE_MAX 4096 /* bytes of names */

static const char late_name[] = "SWANSONG_LATE=";
static const char late_more[] = " ...";

struct final {
	struct node *node;
	const struct node_config *config; /* counted */
	struct launch launch;
	struct hook hook;		     /* holds the guard from the stop on */
	struct swansong_completion *drained; /* completion of the work of its generation; NULL: not stopped */
	unsigned generation;
	uint64_t limit_usec;
	uint64_t deadline_usec; /* end of the budget of the generation; USEC_INFINITY: not known, or none */
	bool forced;		/* the generation was forced */
	bool begun, spent;
	char late[sizeof(late_name) + LATE_MAX + sizeof(late_more)];
	unsigned place;	    /* of its row in the roster, from its beginning on */
	struct final *next; /* replaces its setup once it does not run; or NULL */
};

DEFINE_CLEANUP(struct final *, final_free)

static void final_on_end(void *arg)
{
	node_update_soon(((struct final *)arg)->node);
}

static void final_on_limit(struct alarm *alarm)
{
	struct final *f = container_of(alarm, struct final, hook.timer);

	if (f->node->ctx->held_usec)
		return;
	f->spent = true;
	hook_kill_late(&f->hook, "its time limit has expired", "its time limit had expired");
}

int final_new(struct final **ret, struct node *node, const struct node_config *config)
{
	cleanup(final_freep) struct final *f = NULL;
	int r;

	if (node_config_hook(config, HOOK_FINAL)->n == 0)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->node = node;
	f->config = node_config_ref(config);
	hook_init(&f->hook, node->ctx, &f->launch, NULL, final_on_end, f, final_on_limit);
	r = launch_init(&f->launch, node->ctx, config, NULL, NULL);
	if (r < 0)
		return r;
	*ret = take(f);
	return 0;
}

struct final *final_free(struct final *f)
{
	if (!f)
		return NULL;
	final_free(f->next);
	hook_end(&f->hook);
	swansong_completion_unref(f->drained);
	roster_write(f->node->ctx->roster, &f->place, NULL);
	launch_done(&f->launch);
	node_config_unref(f->config);
	return free_memory(f);
}

static void final_use_next(struct final *f)
{
	struct final *next = f->next;
	const struct node_config *config = f->config;
	struct launch launch = f->launch;

	if (!next || (f->drained && f->begun))
		return;
	f->config = next->config;
	f->launch = next->launch;
	next->config = config;
	next->launch = launch;
	f->next = final_free(next);
}

void final_use(struct node *node, struct final *final)
{
	if (!final || !node->final) {
		node->final = final ? final : node->final;
		return;
	}
	final_free(node->final->next);
	node->final->next = final;
	final_use_next(node->final);
}

/* Holds the guard until the end of the action, which belongs to the present generation. */
static void final_await(struct final *f, struct swansong_completion *drained)
{
	f->drained = drained;
	f->generation = f->hook.process.generation = f->node->generation;
	f->hook.process.guard = swansong_guard(f->node->handle);
	f->deadline_usec = USEC_INFINITY;
}

void final_hold(struct node *node)
{
	struct final *f = node->final;

	/*
	 * An action that is pending for an earlier generation covers this one: nothing has run
	 * since.
	 */
	if (!f || f->drained || node->stop_usec || !node->drained)
		return;
	final_await(f, take(node->drained));
	f->begun = f->spent = f->forced = false;
	roster_write(node->ctx->roster, &f->place, NULL);
}

void final_record(struct node *node)
{
	struct final *f = node->final;
	char *at, *end;
	const char *gap = "";

	if (!f || !f->drained || f->begun || f->generation != node->generation)
		return;
	f->forced = node->forced;
	f->deadline_usec = node->deadline_usec;
	/*
	 * Lists the nodes with processes that were killed or leases that were revoked; a list
	 * that is too long is cut after a name.
	 */
	at = stpcpy(f->late, late_name);
	end = f->late + sizeof(late_name) - 1 + LATE_MAX;
	for (struct node *n = f->node; n; n = node_next(n, f->node)) {
		/* An earlier stop of the node alone does not count. */
		if (n->force.own_usec < f->node->stop_usec || !n->force.own_usec)
			continue;
		if (at + strlen(gap) + strlen(node_name(n)) > end) {
			(void)strcpy(at, late_more);
			return;
		}
		at = stpcpy(stpcpy(at, gap), node_name(n));
		gap = " ";
	}
}

static void final_set_limit(struct final *f, uint64_t usec)
{
	f->limit_usec = usec;
	alarm_set(&f->node->ctx->alarms, &f->hook.timer, usec);
}

/* A row with the pid of the command: -1 without one, and 0 when the action is over. */
static void final_enter(struct final *f)
{
	pid_t pid = hook_is_running(&f->hook) ? f->hook.process.pid : -1;
	struct roster_row row = roster_row(ROSTER_FINAL, f->drained ? pid : 0, node_name(f->node),
					   f->late);

	row.detail[0] = f->hook.next;
	row.detail[1] = f->limit_usec;
	row.detail[2] = f->forced;
	roster_write(f->node->ctx->roster, &f->place, &row);
}

static void final_set_variables(struct final *f)
{
	hook_clear_variables(&f->hook);
	hook_set_variable(&f->hook, "SWANSONG_RESULT=%s", f->forced ? "forced" : "clean");
	hook_add_variable(&f->hook, f->late);
}

static void final_finish(struct final *f)
{
	capture_end(
		f->launch.capture, &f->hook.process.guard, f->generation,
		MIN(f->deadline_usec, clock_add(clock_now_usec(), f->config->stop_timeout_usec)));
	f->drained = swansong_completion_unref(f->drained);
	final_enter(f);
	hook_end(&f->hook);
	final_use_next(f);
	/* Nodes that may not start before the end of the action are looked at. */
	context_update_soon(f->node->ctx);
}

void final_claim(struct node *node, const struct roster_row *row)
{
	struct proc_info info;

	if (!node->final || row->number <= 0 || proc_read(row->number, &info) < 0 ||
	    info.parent != node->ctx->keeper.reaper)
		return;
	process_add(node->ctx->processes, &node->final->hook.process, row->number, -1);
	process_name(&node->final->hook.process, info.name);
}

void final_take_former(struct node *node, const struct roster_row *row)
{
	struct swansong_completion *drained;
	struct final *f = node->final;

	/* The next generation had begun, and waits once more. */
	if (f && !f->drained && row->number != 0 &&
	    swansong_completion_new(node->work, &drained) == 0)
		final_await(f, drained);
	if (f && !f->drained)
		process_remove(&f->hook.process);
	if (!final_is_pending(node))
		return;
	f->begun = true;
	if (row->number == 0) {
		final_finish(f);
		return;
	}
	f->forced = row->detail[2];
	(void)snprintf(f->late, sizeof(f->late), "%s", row->name);
	final_set_variables(f);
	final_set_limit(f, row->detail[1]);
	hook_resume(&f->hook, node, HOOK_FINAL, row->detail[0]);
	final_enter(f);
	final_on_end(f); /* if its command has ended meanwhile */
}

void final_update(struct node *node)
{
	struct final *f = node->final;

	if (!f || !f->drained)
		return;
	if (!f->begun && swansong_completion_done(f->drained)) {
		uint64_t now = clock_now_usec(), least = now + BUDGET_LAST_USEC;
		uint64_t end =
			clock_add(now, node_config_extras(f->node->config)->final_timeout_usec);
		uint64_t deadline;

		final_record(f->node);
		deadline = MIN(f->deadline_usec, f->node->deadline_usec);
		f->begun = true;
		final_set_limit(f, MIN(end, deadline > least ? deadline : least));
		final_set_variables(f);
		hook_begin(&f->hook, f->node, HOOK_FINAL, f->hook.process.guard, f->generation);
		final_enter(f);
		trace_touch(f->node->trace);
	}
	while (f->begun && hook_has_ended(&f->hook)) {
		if (hook_continue_anyway(&f->hook, f->spent))
			final_enter(f);
		else
			final_finish(f);
	}
}

void final_limit(struct node *node, uint64_t deadline_usec)
{
	uint64_t end = MAX(deadline_usec, clock_now_usec() + BUDGET_LAST_USEC);
	struct final *f = node->final;

	if (f && hook_is_running(&f->hook))
		final_set_limit(f, MIN(f->limit_usec, end));
}

void final_extend(struct node *node, uint64_t usec)
{
	struct final *f = node->final;

	if (f && hook_is_running(&f->hook) && !f->spent)
		final_set_limit(f, clock_add(f->limit_usec, usec));
}

bool final_is_pending(const struct node *node)
{
	return node->final && node->final->drained;
}

bool final_has_begun(const struct node *node)
{
	return final_is_pending(node) && node->final->begun;
}

bool final_is_all_there_was(const struct node *node)
{
	const struct final *f = node->final;

	return f && f->begun && f->generation == node->generation && node_is_stopped(node);
}

const struct hook *final_hook(const struct node *node)
{
	return final_is_pending(node) ? &node->final->hook : NULL;
}

void final_abandon(struct node *node)
{
	struct final *f = node->final;

	if (!f || !f->drained)
		return;
	node_log(node, LOG_ERR, "giving up the final action: SIGKILL has no effect");
	hook_kill(&f->hook);
	swansong_guard_drop(&f->hook.process.guard);
}
