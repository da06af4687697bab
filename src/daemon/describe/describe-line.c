/*
 * The tree as one line for the parent manager, and as many lines for the log.  The line holds as
 * many names as fit; text from outside cannot break it.
 */
#include "daemon/describe/describe.h"

#include <ctype.h>

/* Appends to a line that is cut at its end. */
static void describe_append(char *buf, const char *format, ...) printf_like(2, 3);
static void describe_append(char *buf, const char *format, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(buf + used, DESCRIBE_LINE_MAX - used, format, ap);
	va_end(ap);
}

/* Control characters could begin another line of the message; the log escapes them itself. */
static void describe_append_foreign(char *buf, const char *text)
{
	size_t used = strlen(buf), n;

	for (; *text && used < DESCRIBE_LINE_MAX - 1; text += n, used += n) {
		n = text_character(text);
		if (used + n >= DESCRIBE_LINE_MAX)
			break;
		if (n == 0 || iscntrl((unsigned char)*text)) {
			buf[used] = '?';
			n = 1;
		} else {
			memcpy(buf + used, text, n);
		}
	}
	buf[used] = '\0';
}

struct lister {
	char *buf;
	unsigned shown, more;
};

/* Appends " nginx": the program without its path and arguments, as far as there is room. */
static void describe_list_program(char *buf, const char *command)
{
	size_t length = strcspn(command, " ");
	const char *slash = memrchr(command, '/', length);
	char name[24];

	if (slash) {
		length -= (size_t)(slash + 1 - command);
		command = slash + 1;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)length, command);
	describe_append(buf, " ");
	describe_append_foreign(buf, name);
}

/* Appends "web/nginx (pid 812 nginx, ". */
static void describe_list_holder(char *buf, const struct node *node, const struct guard_view *guard)
{
	describe_append(buf, "%s (", node_name(node));
	if (guard->pid == FIELD_NONE) {
		describe_append(buf, "%s, ", guard->why);
		return;
	}
	describe_append(buf, "%spid %d", strcmp(guard->kind, "leftover") == 0 ? "remaining " : "",
			(int)guard->pid);
	if (guard->command)
		describe_list_program(buf, guard->command);
	describe_append(buf, ", ");
}

/* Appends "guard pg_dump \"nightly\" on web (pid 9911, ". */
static void describe_list_lease(char *buf, const struct node *node, const struct guard_view *guard)
{
	describe_append(buf, "guard ");
	describe_append_foreign(buf, guard->command ? guard->command : "?");
	if (guard->why) {
		describe_append(buf, " \"");
		describe_append_foreign(buf, guard->why);
		describe_append(buf, "\"");
	}
	describe_append(buf, " on %s (", node_name(node));
	if (guard->pid != FIELD_NONE)
		describe_append(buf, "pid %d, ", (int)guard->pid);
}

/* Appends "web: 3 guards of pid 812 (web.c:41 serve, ". */
static void describe_list_program_guards(char *buf, const struct node *node,
					 const struct guard_view *guard)
{
	describe_append(buf, "%s: %u guard%s of pid %d (", node_name(node), (unsigned)guard->count,
			guard->count == 1 ? "" : "s", (int)guard->pid);
	if (!guard->why)
		return;
	describe_append_foreign(buf, guard->why);
	describe_append(buf, ", ");
}

static void describe_list_guard(struct node *node, const struct guard_view *guard, void *arg)
{
	struct lister *l = arg;
	char age[CLOCK_TEXT_MAX], kill_in[CLOCK_TEXT_MAX];

	if (!describe_is_blocking(node, guard))
		return;
	if (l->shown == 4) {
		l->more++;
		return;
	}
	describe_append(l->buf, "%s", l->shown++ ? ", " : ": ");
	if (strcmp(guard->kind, "lease") == 0)
		describe_list_lease(l->buf, node, guard);
	else if (guard->count != FIELD_NONE)
		describe_list_program_guards(l->buf, node, guard);
	else
		describe_list_holder(l->buf, node, guard);
	/* Appends "uid 33, 12s, kill in 8s". */
	if (guard->uid != FIELD_NONE)
		describe_append(l->buf, "uid %u, ", (unsigned)guard->uid);
	describe_append(l->buf, "%s", clock_text(age, guard->age_usec));
	if (guard->kill_usec == 0)
		describe_append(l->buf, ", being killed");
	else if (guard->kill_usec != FIELD_NONE)
		describe_append(l->buf, ", kill in %s", clock_text(kill_in, guard->kill_usec));
	describe_append(l->buf, ")");
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
		describe_each_guard(n, now, describe_list_guard, &l);
	if (l.more)
		describe_append(buf, " and %u more", l.more);
	if (tree->ctx->held_usec)
		describe_append(buf, "; on hold");
	else if (tree->root->kill_usec != USEC_INFINITY)
		describe_append(buf, "; kill in %s",
				clock_text(left, clock_until(tree->root->kill_usec, now)));
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
	(void)snprintf(buf, DESCRIBE_LINE_MAX, "Running: %d of %d services ready",
		       root->counts.ready, root->counts.services);
	for (const struct node *n = root; n; n = node_next(n, root)) {
		if (!n->service || n->service->state != STATE_FAILED)
			continue;
		describe_append(buf, "%s%s", first ? "; failed: " : ", ", node_name(n));
		first = false;
	}
	return buf;
}

/* Prints ", up, pid 812" or ", failed: exited with status 3"; "" for a group. */
static char *describe_service_text(char *buf, size_t size, const struct service *s)
{
	char outcome[OUTCOME_TEXT_MAX];

	buf[0] = '\0';
	if (!s)
		return buf;
	if (s->main.alive)
		(void)snprintf(buf, size, ", %s, pid %d", fsm_state_name(s->state), s->main.pid);
	else if (s->run.outcome.kind == OUTCOME_NONE)
		(void)snprintf(buf, size, ", %s", fsm_state_name(s->state));
	else
		(void)snprintf(buf, size, ", %s: %s", fsm_state_name(s->state),
			       policy_outcome_text(outcome, &s->run.outcome));
	return buf;
}

void describe_to_log(const struct tree *tree)
{
	char text[OUTCOME_TEXT_MAX + 64];

	attach_count(tree->root);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		size_t guards = swansong_guard_count(n->handle) + n->program_guards;

		node_log(n, LOG_NOTICE, "%s, %zu guard%s%s",
			 node_is_stopped(n) ? "stopped" : "running", guards, guards == 1 ? "" : "s",
			 describe_service_text(text, sizeof(text), n->service));
	}
}
