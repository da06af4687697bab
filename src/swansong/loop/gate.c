/*
 * The state changes by compare-exchange, so that each change has exactly one thread that made it.
 * A post looks at the state under the queue's lock, and joins the queue before it leaves the lock.
 * So a thread that takes that lock after the change to Stopping finds all posts in the queue that
 * were accepted and not yet executed.
 *
 * A guard is taken with that change, and dropped when nothing is left to be executed: the node
 * waits for it even if the queue is empty.  The same lock is held for both, so that no thread comes
 * to the end before the guard is there.
 *
 * The wake-up is an eventfd.  A post writes to it when it has found the queue empty.  It lives as
 * long as the memory of the gate, as a thread may have posted, and not yet written, when the loop
 * has ended.
 */
#include "swansong/loop/gate-private.h"

#include "swansong/base/cancel-private.h"
#include "swansong/count/misuse-private.h"

struct posted {
	struct post post; /* the first: its address is that of the whole */
	void (*fn)(void *arg);
	void *arg;
};

static void post_call(struct post *post, struct swansong_guard *guard)
{
	struct posted *posted = container_of(post, struct posted, post);

	posted->fn(posted->arg);
	free(posted);
}

struct post *post_new(void (*fn)(void *arg), void *arg, const char *file, unsigned int line,
		      const char *function)
{
	struct posted *posted = malloc(sizeof(*posted));

	if (!posted)
		return NULL;
	*posted = (struct posted){
		.post.run = post_call,
		.post.guard = { .file = file, .line = line, .function = function },
		.fn = fn,
		.arg = arg,
	};
	return &posted->post;
}

void post_accept(struct post *post, struct list *queue, struct swansong *node)
{
	post->guard =
		swansong_guard_at(node, post->guard.file, post->guard.line, post->guard.function);
	list_append(queue, &post->link);
}

void post_run(struct post *post)
{
	struct swansong_guard guard = post->guard;

	misuse_adopt(guard.node, guard.record);
	post->run(post, &guard); /* it may free the post */
	swansong_guard_drop(&guard);
}

int gate_init(struct gate *g, struct swansong *node)
{
	g->node = node;
	g->generation = fork_generation();
	g->lock = (struct lock)LOCK_INITIALIZER;
	g->last = (struct swansong_guard){ 0 };
	list_init(&g->posts);
	shared_init(&g->state, GATE_IDLE);
	g->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return g->fd < 0 ? -errno : 0;
}

void gate_done(struct gate *g)
{
	cancel_safe_close(g->fd);
}

bool gate_move(struct gate *g, enum gate_state from, enum gate_state to)
{
	uint32_t expected = from;

	if (gate_is_foreign(g))
		return false;
	/* Release: everything before.  Acquire: everything before the last move. */
	return shared_replace(&g->state, &expected, to, acq_rel, relaxed);
}

int gate_post(struct gate *g, struct post *post)
{
	bool accepted, first;

	if (gate_is_foreign(g))
		return -ESHUTDOWN;
	lock_take(&g->lock);
	accepted = gate_state(g) == GATE_RUNNING;
	first = list_is_empty(&g->posts);
	if (accepted)
		post_accept(post, &g->posts, g->node);
	(void)lock_leave(&g->lock);

	if (!accepted)
		return -ESHUTDOWN;
	if (first)
		cancel_safe_signal(g->fd, 1);
	return 0;
}

void gate_run(struct gate *g)
{
	struct list batch;
	struct post *post;
	eventfd_t count;

	if (gate_is_foreign(g))
		return;
	list_init(&batch);
	(void)eventfd_read(g->fd, &count); /* before the queue, so that no wake-up is lost */
	lock_take(&g->lock);
	list_move(&batch, &g->posts);
	(void)lock_leave(&g->lock);

	list_for_each_taken (post, &batch, link) {
		post_run(post);
		if (gate_is_foreign(g)) /* it has forked, and this is the child */
			return;
	}
}

/*
 * Under the lock: moves to Stopping, or from Idle to Stopped.  Returns true if this call has
 * changed the state.
 */
static bool gate_close(struct gate *g)
{
	for (;;) {
		enum gate_state state = gate_state(g);
		bool idle = state == GATE_IDLE;

		if (state >= GATE_STOPPING)
			return false;
		if (!gate_move(g, state, idle ? GATE_STOPPED : GATE_STOPPING))
			continue;
		if (!idle)
			g->last = swansong_guard(g->node);
		return true;
	}
}

void gate_begin_stop(struct gate *g)
{
	bool ours;

	if (gate_is_foreign(g)) {
		swansong_shut_down(g->node);
		return;
	}
	lock_take(&g->lock);
	ours = gate_close(g);
	(void)lock_leave(&g->lock);

	if (ours) {
		swansong_shut_down(g->node);
		cancel_safe_signal(g->fd, 1);
	}
}

void gate_end_stop(struct gate *g)
{
	struct swansong_guard guard = { 0 };

	if (gate_is_foreign(g))
		return;
	lock_take(&g->lock);
	if (gate_move(g, GATE_STOPPING, GATE_STOPPED))
		guard = g->last;
	(void)lock_leave(&g->lock);
	swansong_guard_drop(&guard);
}
