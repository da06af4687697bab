/*
 * Texts for one cell: states, notes, holders, counts.  They are written into buffers of the
 * caller, and cut if they are longer.
 */
#include "ctl/terminal/show.h"

#include "sys/spawn/ids.h"

struct words words_in(char *buf, size_t size)
{
	buf[0] = '\0';
	return (struct words){ .buf = buf, .size = size };
}

void words_add(struct words *w, const char *separator, const char *format, ...)
{
	va_list ap;
	int n = w->used ? snprintf(w->buf + w->used, w->size - w->used, "%s", separator) : 0;

	w->used = MIN(w->used + (size_t)n, w->size - 1);
	va_start(ap, format);
	n = vsnprintf(w->buf + w->used, w->size - w->used, format, ap);
	va_end(ap);
	w->used = MIN(w->used + (size_t)n, w->size - 1);
}

static enum style show_style_of(const char *state)
{
	static const char *const good[] = { "running", "up", "done", "listening", NULL };
	static const char *const faint[] = { "complete", "down", NULL };
	static const char *const bad[] = { "failed", "killing", NULL };

	return text_is_one_of(state, good)    ? STYLE_GOOD
	       : text_is_one_of(state, faint) ? STYLE_FAINT
	       : text_is_one_of(state, bad)   ? STYLE_BAD
					      : STYLE_BUSY;
}

const char *show_state(char buf[static SHOW_STATE_MAX], const struct node_view *node,
		       enum style *ret_style)
{
	const char *state = node_view_state_name(node);
	size_t used = 0;

	for (; state[used] && used < SHOW_STATE_MAX - 1; used++)
		buf[used] = state[used] == '_' ? '-' : state[used];
	buf[used] = '\0';
	*ret_style = show_style_of(state);
	return buf;
}

void show_add_state(struct table *table, const struct node_view *node)
{
	char state[SHOW_STATE_MAX];
	enum style style;

	show_state(state, node, &style);
	table_add(table, style, "%s", state);
}

const char *show_kill(char buf[static SHOW_KILL_MAX], uint64_t kill_usec)
{
	char text[CLOCK_TEXT_MAX];

	if (kill_usec == FIELD_NONE)
		return "";
	if (kill_usec == 0)
		return "being killed";
	(void)snprintf(buf, SHOW_KILL_MAX, "kill in %s", clock_text(text, kill_usec));
	return buf;
}

uint64_t show_kill_usec(const struct node_view *node)
{
	static const char *const limited[] = { "asking", "stopping", "closing", NULL };
	uint64_t usec = node->state == NODE_SHUTTING_DOWN ? node->deadline_usec : FIELD_NONE;

	if (node->is_service && text_is_one_of(node->service.state, limited))
		usec = MIN(usec, node->service.next_usec);
	return usec;
}

/* Returns the text before the remaining time of @state; NULL: no time limit. */
static const char *show_next_state(const char *state)
{
	static const char *const coming_up[] = { "preparing", "starting", "readying", NULL };

	if (text_is_one_of(state, coming_up))
		return "must be ready in";
	if (strcmp(state, "draining") == 0)
		return "is asked to end in";
	if (strcmp(state, "backoff") == 0)
		return "next try in";
	return NULL;
}

static void show_add_service(struct words *w, const struct service_view *s)
{
	char text[CLOCK_TEXT_MAX];

	words_add(w, "", "since %s", clock_text(text, s->since_usec));
	if (s->next_usec != FIELD_NONE && show_next_state(s->state))
		words_add(w, ", ", "%s %s", show_next_state(s->state),
			  clock_text(text, s->next_usec));
	for (size_t i = 0; i < json_array_size(s->waiting); i++)
		words_add(w, i ? " " : ", waits for ", "%s",
			  json_string_value(json_array_get(s->waiting, i)));
	if (s->turn)
		words_add(w, ", ", "waits for its turn in %s", s->turn);
	if (s->restarts) {
		char count[SHOW_COUNT_MAX];

		words_add(w, ", ", "%s", show_count(count, s->restarts, "restart"));
	}
	if (strcmp(s->state, "listening") == 0)
		words_add(w, ", ", "waits for a connection");
	if (s->result)
		words_add(w, ", ", "%s", s->result);
	if (s->scheduled_usec != FIELD_NONE)
		words_add(w, ", ", "next run in %s", clock_text(text, s->scheduled_usec));
	if (s->health && strcmp(s->health, "unhealthy") == 0)
		words_add(w, ", ", "unhealthy");
	if (s->disabled)
		words_add(w, ", ", "disabled");
	if (s->outdated)
		words_add(w, ", ", "outdated");
	for (size_t i = 0; i < json_array_size(s->aside); i++)
		words_add(w, ", ", "%s", json_string_value(json_array_get(s->aside, i)));
	if (s->ending)
		words_add(w, ", ", "ending by itself");
	if (s->reloading_usec != FIELD_NONE)
		words_add(w, ", ", "reloading");
	if (s->status)
		words_add(w, ", ", "\"%s\"", s->status);
}

char *show_note(char buf[static SHOW_NOTE_MAX], const struct node_view *node)
{
	struct words w = words_in(buf, SHOW_NOTE_MAX);
	uint64_t kill_usec = show_kill_usec(node);
	char text[CLOCK_TEXT_MAX];

	if (node->is_service)
		show_add_service(&w, &node->service);
	else if (node->state == NODE_RUNNING)
		words_add(&w, ", ", "%s", node->ready ? "ready" : "not ready");
	else
		words_add(&w, ", ", "since %s", clock_text(text, node->since_usec));
	if (kill_usec != FIELD_NONE)
		words_add(&w, ", ", "kill in %s", clock_text(text, kill_usec));
	if (node->forced)
		words_add(&w, ", ", "forced");
	return buf;
}

char *show_holder(char buf[static SHOW_NOTE_MAX], const struct guard_view *guard)
{
	struct words w = words_in(buf, SHOW_NOTE_MAX);
	char user[IDS_NAME_MAX], count[SHOW_COUNT_MAX], left[CLOCK_TEXT_MAX];

	if (guard->command)
		words_add(&w, ", ", "%s", guard->command);
	if (guard->pid != FIELD_NONE)
		words_add(&w, ", ", "pid %" PRIu64, guard->pid);
	if (guard->uid <= UINT32_MAX)
		words_add(&w, ", ", "%s", ids_user_text(user, (uid_t)guard->uid));
	if (guard->count != FIELD_NONE)
		words_add(&w, ", ", "%s", show_count(count, guard->count, "guard"));
	if (guard->why)
		words_add(&w, ", ", "\"%s\"", guard->why);
	if (guard->ttl_usec != FIELD_NONE)
		words_add(&w, ", ", "expires in %s", clock_text(left, guard->ttl_usec));
	return buf;
}

char *show_count(char buf[static SHOW_COUNT_MAX], uint64_t n, const char *singular)
{
	(void)snprintf(buf, SHOW_COUNT_MAX, "%" PRIu64 " %s%s", n, singular, n == 1 ? "" : "s");
	return buf;
}
