#include "ctl/show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "sys/ids.h"

static enum style style_of(const char *state)
{
	static const struct {
		const char *state;
		enum style style;
	} styles[] = {
		{ "running", STYLE_GOOD },   { "up", STYLE_GOOD },    { "done", STYLE_GOOD },
		{ "complete", STYLE_FAINT }, { "down", STYLE_FAINT }, { "failed", STYLE_BAD },
		{ "killing", STYLE_BAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
		if (strcmp(state, styles[i].state) == 0)
			return styles[i].style;
	return STYLE_BUSY;
}

const char *show_state(char buf[static SHOW_STATE_MAX], const struct node_view *node,
		       enum style *ret_style)
{
	const char *state =
		node->is_service ? node->service.state : node_view_state_name(node->state);
	size_t used = 0;

	for (; state[used] && used < SHOW_STATE_MAX - 1; used++)
		buf[used] = state[used] == '_' ? '-' : state[used];
	buf[used] = '\0';
	*ret_style = style_of(state);
	return buf;
}

/* A list with commas, in a buffer: what does not fit is cut. */
struct words {
	char *buf;
	size_t size, used;
};

static void words_put(struct words *w, const char *text)
{
	size_t n = MIN(strlen(text), w->size - 1 - w->used);

	memcpy(w->buf + w->used, text, n);
	w->used += n;
	w->buf[w->used] = '\0';
}

static void words_add(struct words *w, const char *separator, const char *format, ...)
	printf_like(3, 4);
static void words_add(struct words *w, const char *separator, const char *format, ...)
{
	va_list ap;
	int n;

	if (w->used)
		words_put(w, separator);
	va_start(ap, format);
	n = vsnprintf(w->buf + w->used, w->size - w->used, format, ap);
	va_end(ap);
	w->used = MIN(w->used + (size_t)n, w->size - 1);
}

static bool is_one_of(const char *state, const char *const *states)
{
	while (*states && strcmp(state, *states) != 0)
		states++;
	return *states;
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

	if (node->is_service && is_one_of(node->service.state, limited))
		usec = MIN(usec, node->service.next_usec);
	return usec;
}

/* What comes when the state times out. */
static const char *next_of(const char *state)
{
	static const char *const coming_up[] = { "preparing", "starting", "readying", NULL };

	if (is_one_of(state, coming_up))
		return "must be ready in";
	if (strcmp(state, "draining") == 0)
		return "is asked to end in";
	if (strcmp(state, "backoff") == 0)
		return "next try in";
	return NULL;
}

static void add_waiting(struct words *w, const json_t *waiting)
{
	for (size_t i = 0; i < json_array_size(waiting); i++)
		words_add(w, i ? " " : ", ", "%s%s",
			  i ? "" : "waiting: ", json_string_value(json_array_get(waiting, i)));
}

static void add_service(struct words *w, const struct service_view *s)
{
	char text[CLOCK_TEXT_MAX];

	/*
	 * What is said of every one, and the first thing: as printf() it would be most of the work.
	 */
	words_put(w, "since ");
	words_put(w, clock_text(text, s->since_usec));
	if (s->next_usec != FIELD_NONE && next_of(s->state))
		words_add(w, ", ", "%s %s", next_of(s->state), clock_text(text, s->next_usec));
	add_waiting(w, s->waiting);
	if (s->restarts) {
		char count[SHOW_COUNT_MAX];

		words_add(w, ", ", "%s", show_count(count, s->restarts, "restart"));
	}
	if (s->result)
		words_add(w, ", ", "%s", s->result);
	if (s->health && strcmp(s->health, "unhealthy") == 0)
		words_add(w, ", ", "unhealthy");
	if (s->ending)
		words_add(w, ", ", "ending by itself");
	if (s->reloading_usec != FIELD_NONE)
		words_add(w, ", ", "reloading");
	if (s->status)
		words_add(w, ", ", "\"%s\"", s->status);
}

char *show_note(char buf[static SHOW_NOTE_MAX], const struct node_view *node)
{
	struct words w = { .buf = buf, .size = SHOW_NOTE_MAX };
	uint64_t kill_usec = show_kill_usec(node);
	char text[CLOCK_TEXT_MAX];

	buf[0] = '\0';
	if (node->is_service)
		add_service(&w, &node->service);
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
	struct words w = { .buf = buf, .size = SHOW_NOTE_MAX };
	char user[IDS_NAME_MAX], count[SHOW_COUNT_MAX], left[CLOCK_TEXT_MAX];

	buf[0] = '\0';
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
