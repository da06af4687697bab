#include "daemon/describe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/final.h"
#include "daemon/health.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/service-notify.h"
#include "daemon/service-hook.h"
#include "proto/message.h"
#include "proto/view.h"

static uint64_t left_until(uint64_t usec, uint64_t now)
{
	if (usec == USEC_INFINITY)
		return FIELD_NONE;
	return usec > now ? usec - now : 0;
}

/* NULL without memory, or if nothing keeps it. */
static json_t *describe_waiting(const struct service *s)
{
	struct node *blocker = NULL;

	if (s->state == STATE_GATED)
		blocker = order_stop_blocker(s);
	else if (!fsm_has_process(s->state) && s->wanted)
		blocker = order_start_blocker(s);
	return blocker ? json_pack("[o]", message_string(node_name(blocker))) : NULL;
}

/* What it says of itself. */
static void describe_words(struct service_view *view, const struct service_words *words,
			   uint64_t now)
{
	if (*words->status)
		view->status = words->status;
	if (words->error)
		view->error = (uint64_t)words->error;
	if (words->reloading_usec)
		view->reloading_usec = now - words->reloading_usec;
	view->ending = words->stopping;
}

static void describe_health(struct service_view *view, const struct health *health, uint64_t now)
{
	if (!health->on)
		return;
	view->health = health_state_name(health->state);
	view->health_since_usec = now - health->since_usec;
	if (*health->why)
		view->health_result = health->why;
}

/* A view, and what it borrows beside the node. */
struct described {
	struct node_view view;
	char result[OUTCOME_TEXT_MAX];
	json_t *waiting;
};

static void described_done(struct described *d)
{
	json_decref(d->waiting);
}

static struct service_view view_service(struct service *s, struct described *d, uint64_t now)
{
	struct service_view view = {
		.state = fsm_state_name(s->state),
		.since_usec = now - s->since_usec,
		.pid = s->main.alive ? (uint64_t)s->main.pid : FIELD_NONE,
		.command = s->config->command,
		.ready = service_is_ready(s),
		.restarts = s->restarts,
		.result = s->outcome.kind == OUTCOME_NONE || s->main.alive
				  ? NULL
				  : policy_outcome_text(d->result, &s->outcome),
		.waiting = d->waiting = describe_waiting(s),
		.next_usec = left_until(s->timeout_usec, now),
		.error = FIELD_NONE,
		.reloading_usec = FIELD_NONE,
		.watchdog_usec = s->watchdog ? watchdog_left(s->watchdog, now) : USEC_INFINITY,
		.stored = FIELD_NONE,
		.health_since_usec = FIELD_NONE,
		.log = s->config->log.kind == OUTPUT_FILE ? s->config->log.path : NULL,
	};

	if (s->activation && activation_fdstore(s->activation)->n)
		view.stored = activation_fdstore(s->activation)->n;
	if (s->health)
		describe_health(&view, s->health, now);
	if (s->words)
		describe_words(&view, s->words, now);
	return view;
}

static const struct node_view *view_node(struct node *node, struct described *d, uint64_t now)
{
	d->view = (struct node_view){
		.path = node->config->path,
		.generation = node->generation,
		.state = !node_is_stopped(node) ? NODE_RUNNING
			 : node->complete	? NODE_COMPLETE
						: NODE_SHUTTING_DOWN,
		.since_usec = now - node->since_usec,
		.guards = swansong_guard_count(node->handle) + node->program_guards,
		.ready = node_is_ready(node),
		.forced = node->forced,
		.deadline_usec = node->stop_usec && !node->complete
					 ? left_until(node->kill_usec, now)
					 : FIELD_NONE,
		.is_service = node->service,
	};
	if (node->service)
		d->view.service = view_service(node->service, d, now);
	return &d->view;
}

json_t *describe_node(struct node *node)
{
	cleanup(described_done) struct described d = { .waiting = NULL };

	attach_count(node);
	return node_view_build(view_node(node, &d, clock_now_usec()));
}

void describe_begin(struct describe_walk *walk, struct node *top)
{
	attach_count(top);
	*walk = (struct describe_walk){ .top = top, .at = top, .now_usec = clock_now_usec() };
}

int describe_next(struct writer *to, void *arg)
{
	cleanup(described_done) struct described d = { .waiting = NULL };
	struct describe_walk *walk = arg;

	if (!walk->at)
		return 0;
	node_view_append(to, view_node(walk->at, &d, walk->now_usec));
	walk->at = node_next(walk->at, walk->top);
	return 1;
}

/* Without what all have in common: see complete_view(). */
static bool walk_guards(struct node *node, uint64_t now, describe_guard *each, void *arg)
{
	struct service *s = node->service;
	struct lease *lease;
	struct process *p;
	const struct hook *final = final_hook(node);
	struct hook *h;
	struct attach_view program;
	struct guard_view view;

	if (s && s->main.pid == 0 && s->main.guard.node && s->worked) {
		view = (struct guard_view){
			.id = s->main.id,
			.node = node->config->path,
			.generation = s->main.generation,
			.kind = "action",
			.pid = FIELD_NONE,
			.uid = FIELD_NONE,
			.command = s->config->command,
			.why = "it is to be undone",
			.age_usec = now - s->since_usec,
			.count = FIELD_NONE,
		};
		if (!each(node, &view, arg))
			return false;
	}
	if (s && s->main.pid > 0 && s->main.guard.node) {
		view = (struct guard_view){
			.id = s->main.id,
			.node = node->config->path,
			.generation = s->main.generation,
			.kind = s->main.alive ? "process" : "leftover",
			.pid = (uint64_t)s->main.pid,
			.uid = FIELD_NONE,
			.command = s->config->command,
			.age_usec = now - s->main.since_usec,
			.count = FIELD_NONE,
		};
		if (!each(node, &view, arg))
			return false;
	}
	for (unsigned n = 0; s && (h = service_running_hook(s, n)); n++) {
		view = (struct guard_view){
			.id = h->process.id,
			.node = node->config->path,
			.generation = h->process.generation,
			.kind = "action",
			.pid = (uint64_t)h->process.pid,
			.uid = FIELD_NONE,
			.command = h->process.name,
			.why = hook_name(h->kind),
			.age_usec = now - h->process.since_usec,
			.count = FIELD_NONE,
		};
		if (!each(node, &view, arg))
			return false;
	}
	if (s) {
		list_for_each (p, &s->leftovers, by_service) {
			view = (struct guard_view){
				.id = p->id,
				.node = node->config->path,
				.generation = p->generation,
				.kind = "leftover",
				.pid = (uint64_t)p->pid,
				.uid = FIELD_NONE,
				.command = p->name,
				.age_usec = now - p->since_usec,
				.count = FIELD_NONE,
			};
			if (!each(node, &view, arg))
				return false;
		}
	}
	if (s && s->attach && attach_view(s->attach, now, &program)) {
		view = (struct guard_view){
			.id = program.id,
			.node = node->config->path,
			.generation = s->main.generation,
			.kind = "program",
			.pid = (uint64_t)program.pid,
			.uid = FIELD_NONE,
			.command = program.command,
			.why = program.why,
			.age_usec = program.age_usec,
			.count = program.guards,
		};
		if (!each(node, &view, arg))
			return false;
	}
	if (final) {
		bool runs = hook_is_running(final);

		view = (struct guard_view){
			.id = final->process.id,
			.node = node->config->path,
			.generation = final->process.generation,
			.kind = "action",
			.pid = runs ? (uint64_t) final->process.pid : FIELD_NONE,
			.uid = FIELD_NONE,
			.command = runs ? final->process.name : NULL,
			.why = hook_name(HOOK_FINAL),
			.age_usec = now - (runs ? final->process.since_usec : node->since_usec),
			.count = FIELD_NONE,
		};
		if (!each(node, &view, arg))
			return false;
	}
	list_for_each (lease, &node->leases, of_node) {
		view = (struct guard_view){
			.id = lease->id,
			.node = node->config->path,
			.generation = lease->generation,
			.kind = "lease",
			.pid = lease->peer.pid > 0 ? (uint64_t)lease->peer.pid : FIELD_NONE,
			.uid = lease->peer.uid,
			.command = *lease->command ? lease->command : NULL,
			.why = *lease->why ? lease->why : NULL,
			.age_usec = now - lease->since_usec,
			.ttl_usec = left_until(lease->until_usec, now),
			.count = FIELD_NONE,
		};
		if (!each(node, &view, arg))
			return false;
	}
	return true;
}

/* When the node's guards go by force, its processes and what else holds it. */
static uint64_t kill_time(const struct node *node)
{
	uint64_t usec = node->stop_usec && !node->complete ? node->kill_usec : USEC_INFINITY;
	const struct service *s = node->service;

	if (s && fsm_step(s->state, EVENT_TIMEOUT, 0).actions & ACT_KILL)
		usec = MIN(usec, s->timeout_usec);
	return usec;
}

/* As whom what it runs was started. */
static uid_t uid_of(const struct node *node)
{
	const struct node_config *config =
		node->service ? node->service->launch.config : node->config;
	const struct credentials *who = &node_config_extras(config)->credentials;

	return who->set ? who->uid : geteuid();
}

struct walk {
	uint64_t now;
	describe_guard *each;
	void *arg;
};

static bool complete_view(struct node *node, const struct guard_view *guard, void *arg)
{
	const struct walk *walk = arg;
	struct guard_view view = *guard;
	bool lease = strcmp(view.kind, "lease") == 0;

	view.kill_usec = left_until(lease ? (node->complete ? USEC_INFINITY : node->kill_usec)
					  : kill_time(node),
				    walk->now);
	if (!lease && view.pid != FIELD_NONE)
		view.uid = uid_of(node);
	return walk->each(node, &view, walk->arg);
}

bool describe_each_guard(struct node *node, uint64_t now, describe_guard *each, void *arg)
{
	struct walk walk = { .now = now, .each = each, .arg = arg };

	return walk_guards(node, now, complete_view, &walk);
}

static bool is_blocking(const struct node *node, const struct guard_view *guard)
{
	return node_is_stopped(node) || guard->generation != node->generation;
}

struct collector {
	json_t *array; /* NULL once memory has run out */
	bool blocking;
};

static bool collect(struct node *node, const struct guard_view *guard, void *arg)
{
	struct collector *c = arg;

	if (c->blocking && !is_blocking(node, guard))
		return true;
	if (json_array_append_new(c->array, guard_view_build(guard)) == 0)
		return true;
	json_decref(c->array);
	c->array = NULL;
	return false;
}

json_t *describe_guards(struct node *top, bool blocking)
{
	struct collector c = { .array = json_array(), .blocking = blocking };
	uint64_t now = clock_now_usec();

	for (struct node *n = top; c.array && n; n = node_next(n, top))
		(void)describe_each_guard(n, now, collect, &c);
	return c.array;
}

/* Appends to a line that is cut at its end, never overrun. */
static void append(char *buf, const char *format, ...) printf_like(2, 3);
static void append(char *buf, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(buf + used, DESCRIBE_LINE_MAX - used, format, ap);
	va_end(ap);
}

struct lister {
	char *buf;
	unsigned shown, more;
};

/* " nginx": the program without its place and its arguments, and no more than there is room for. */
static void list_program(char *buf, const char *command)
{
	size_t length = strcspn(command, " ");
	const char *slash = memrchr(command, '/', length);

	if (slash) {
		length -= (size_t)(slash + 1 - command);
		command = slash + 1;
	}
	append(buf, " %.*s", (int)MIN(length, (size_t)24), command);
}

/* "uid 33, 12s, kill in 8s" */
static void list_times(char *buf, const struct guard_view *guard)
{
	char age[CLOCK_TEXT_MAX], kill_in[CLOCK_TEXT_MAX];

	if (guard->uid != FIELD_NONE)
		append(buf, "uid %u, ", (unsigned)guard->uid);
	append(buf, "%s", clock_text(age, guard->age_usec));
	if (guard->kill_usec != FIELD_NONE)
		append(buf, ", kill in %s", clock_text(kill_in, guard->kill_usec));
	append(buf, ")");
}

/* "web/nginx (pid 812 nginx, " */
static void list_holder(char *buf, const struct node *node, const struct guard_view *guard)
{
	append(buf, "%s (", node_name(node));
	if (guard->pid == FIELD_NONE) {
		append(buf, "%s, ", guard->why);
		return;
	}
	append(buf, "%spid %d", strcmp(guard->kind, "leftover") == 0 ? "leftover " : "",
	       (int)guard->pid);
	if (guard->command)
		list_program(buf, guard->command);
	append(buf, ", ");
}

/* "guard pg_dump "nightly" on web (pid 9911, " */
static void list_lease(char *buf, const struct node *node, const struct guard_view *guard)
{
	append(buf, "guard %s%s%s%s on %s (", guard->command ? guard->command : "?",
	       guard->why ? " \"" : "", guard->why ? guard->why : "", guard->why ? "\"" : "",
	       node_name(node));
	if (guard->pid != FIELD_NONE)
		append(buf, "pid %d, ", (int)guard->pid);
}

static bool list_guard(struct node *node, const struct guard_view *guard, void *arg)
{
	struct lister *l = arg;

	if (!is_blocking(node, guard))
		return true;
	if (l->shown == 4) {
		l->more++;
		return true;
	}
	append(l->buf, "%s", l->shown++ ? ", " : ": ");
	if (strcmp(guard->kind, "lease") == 0)
		list_lease(l->buf, node, guard);
	else if (guard->count != FIELD_NONE)
		append(l->buf, "%s: %u guard%s of pid %d (%s%s", node_name(node),
		       (unsigned)guard->count, guard->count == 1 ? "" : "s", (int)guard->pid,
		       guard->why ? guard->why : "", guard->why ? ", " : "");
	else
		list_holder(l->buf, node, guard);
	list_times(l->buf, guard);
	return true;
}

static char *describe_stopping(char buf[static DESCRIBE_LINE_MAX], const struct tree *tree)
{
	uint64_t now = clock_now_usec();
	struct lister l = { .buf = buf };
	unsigned services = 0, busy = 0;
	char left[CLOCK_TEXT_MAX];

	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		services += n->service != NULL;
		busy += n->service && fsm_has_process(n->service->state);
	}
	(void)snprintf(buf, DESCRIBE_LINE_MAX, "ShuttingDown: %u of %u services", busy, services);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		(void)describe_each_guard(n, now, list_guard, &l);
	if (l.more)
		append(buf, " and %u more", l.more);
	if (tree->root->kill_usec != USEC_INFINITY)
		append(buf, "; kill in %s",
		       clock_text(left, left_until(tree->root->kill_usec, now)));
	return buf;
}

char *describe_line(char buf[static DESCRIBE_LINE_MAX], const struct tree *tree)
{
	const struct node *root = tree->root;
	bool first = true;
	char took[CLOCK_TEXT_MAX];

	if (root->complete) {
		(void)snprintf(buf, DESCRIBE_LINE_MAX, "Complete in %s%s",
			       clock_text(took, root->since_usec - root->stop_usec),
			       root->forced ? " (forced)" : "");
		return buf;
	}
	if (node_is_stopped(root))
		return describe_stopping(buf, tree);
	(void)snprintf(buf, DESCRIBE_LINE_MAX, "Running: %u of %u services ready", root->ready,
		       root->services);
	for (const struct node *n = root; n; n = node_next(n, root)) {
		if (!n->service || n->service->state != STATE_FAILED)
			continue;
		append(buf, "%s%s", first ? "; failed: " : ", ", node_name(n));
		first = false;
	}
	return buf;
}

void describe_to_log(const struct tree *tree)
{
	char text[OUTCOME_TEXT_MAX];

	attach_count(tree->root);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const struct service *s = n->service;

		log_line(tree->ctx->log, LOG_NOTICE, "%s: %s, %lu guards%s%s%s%s", node_name(n),
			 node_is_stopped(n) ? "stopped" : "running",
			 (unsigned long)(swansong_guard_count(n->handle) + n->program_guards),
			 s ? ", " : "", s ? fsm_state_name(s->state) : "", s ? ": " : "",
			 s ? policy_outcome_text(text, &s->outcome) : "");
	}
}
