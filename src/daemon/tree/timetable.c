/*
 * An alarm goes by CLOCK_MONOTONIC.  For a calendar it is set to the time that is left of
 * CLOCK_REALTIME, and set again when that clock is set or the machine wakes up, which a timerfd
 * reports (TFD_TIMER_CANCEL_ON_SET).
 *
 * The next time is the first one after done_usec, which a stamp keeps while the daemon does not run.  A time
 * that has passed meanwhile counts at once.  Times during a shutdown leave no stamp, so they are missed, too.
 */
#include "daemon/tree/timetable.h"

#include <sys/timerfd.h>

#include "daemon/service/machine.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"
#include "model/types/schedule.h"
#include "model/types/type.h"

struct times {
	uint64_t next_usec;    /* CLOCK_MONOTONIC */
	uint64_t planned_usec; /* CLOCK_REALTIME; of a calendar */
	uint64_t last_usec;    /* CLOCK_MONOTONIC; 0: it has not run by schedule */
	uint64_t done_usec;    /* CLOCK_REALTIME; all times up to this one are past */
};

struct timetable {
	struct node *node;
	const struct node_config *config; /* counted */
	struct list in_list;		  /* of the context */
	struct alarm alarm;
	struct times times;
	unsigned place; /* in the roster */
};

static const struct schedule *timetable_schedule_of(const struct timetable *t)
{
	return node_config_extras(t->config)->schedule;
}

static void timetable_on_alarm(struct alarm *alarm)
{
	node_add_task(container_of(alarm, struct timetable, alarm)->node, TASK_SCHEDULES);
}

static void timetable_set(struct timetable *t, uint64_t usec)
{
	struct roster_row row = roster_row(ROSTER_SCHEDULE, 0, t->config->path, "");

	t->times.next_usec = usec;
	memcpy(row.detail, &t->times, sizeof(t->times));
	roster_write(t->node->ctx->roster, &t->place, &row);
	alarm_set(&t->node->ctx->alarms, &t->alarm, usec);
}

/* --- the next time --- */

static void timetable_log_missed(const struct timetable *t)
{
	node_log(t->node, LOG_INFO, "scheduled run missed: one run makes up for all");
}

/* The clock may have been put back: a time that is far away then is planned anew. */
static void timetable_plan_calendar(struct timetable *t, uint64_t jitter, uint64_t now)
{
	uint64_t real = clock_realtime_usec();
	uint64_t after =
		calendar_next(&timetable_schedule_of(t)->calendar, MIN(t->times.done_usec, real));
	uint64_t next = MAX(after, real);
	uint64_t latest = clock_add(next, node_config_extras(t->config)->schedule_jitter_usec);

	if (t->times.planned_usec <= real || t->times.planned_usec > latest) {
		t->times.planned_usec = clock_add(next, jitter);
		if (after <= real)
			timetable_log_missed(t);
	}
	timetable_set(t, t->times.planned_usec == USEC_INFINITY
				 ? USEC_INFINITY
				 : clock_add(now, t->times.planned_usec - real));
}

static void timetable_plan(struct timetable *t)
{
	uint64_t jitter = clock_random(node_config_extras(t->config)->schedule_jitter_usec);
	uint64_t now = clock_now_usec();

	if (timetable_schedule_of(t)->interval_usec) {
		uint64_t interval = timetable_schedule_of(t)->interval_usec,
			 real = clock_realtime_usec();
		uint64_t age = t->times.done_usec < real ? real - t->times.done_usec : 0;

		if (age >= interval)
			timetable_log_missed(t);
		timetable_set(t, clock_add(now, interval - MIN(age, interval) + jitter));
	} else {
		timetable_plan_calendar(t, jitter, now);
	}
}

/* --- runs --- */

static bool timetable_has_ended(const struct service *s)
{
	return s->state == STATE_DONE || s->state == STATE_FAILED;
}

static void timetable_run(struct timetable *t)
{
	struct service *s = t->node->service;

	if (node_goal(t->node) < GOAL_IDLE || t->node->disabled) /* stopped */
		return;
	if (fsm_has_process(s->state) || (t->node->goal == GOAL_UP && !timetable_has_ended(s))) {
		const struct node *blocker = s->state == STATE_DOWN ? start_order_blocker(s) : NULL;

		node_log(t->node, LOG_WARNING, "scheduled run left out: the last one %s%s",
			 blocker ? "waits for " : "is not over", blocker ? node_name(blocker) : "");
		return;
	}
	node_log(t->node, LOG_INFO, "scheduled run");
	t->times.last_usec = clock_now_usec();
	/* At once: else a fault in this turn would find the run of before, and a time that is over. */
	if (timetable_has_ended(s))
		service_handle(s, EVENT_RESET);
	goals_raise(t->node, REQUEST_NEED, CAUSE_CONFIGURATION);
}

/* No time up to now counts any more. */
static void timetable_note(struct timetable *t)
{
	struct context *ctx = t->node->ctx;

	t->times.done_usec = clock_realtime_usec();
	if (!node_is_tree_stopped(t->node))
		stamps_write(&ctx->stamps, t->node->config->path, t->times.done_usec, ctx->log);
}

void timetable_process(struct tree *tree, struct node *node)
{
	struct timetable *t = node->timetable;
	const struct service *s = node->service;
	bool due;

	if (!t)
		return;
	due = timetable_schedule_of(t)->interval_usec
		      ? t->times.next_usec <= clock_now_usec()
		      : t->times.planned_usec <= clock_realtime_usec();
	/*
	 * If a run was stopped with a requirement, the next run still comes, as if the stop had been between
	 * two runs.
	 */
	if (node->goal == GOAL_DOWN && node->cause == CAUSE_DEPENDENCY &&
	    !fsm_has_process(s->state))
		goals_make_idle(node);
	if (due) {
		timetable_run(t);
		timetable_note(t);
	} else if (timetable_has_ended(s) && node->goal == GOAL_UP && !t->config->autostart) {
		goals_make_idle(node);
	}
	if (due || !timetable_schedule_of(t)->interval_usec)
		timetable_plan(t);
}

/* --- the clock --- */

/*
 * The time is so late that the timer only reports its cancellation.  If the clock is set during the call, that
 * fails, but the timer is armed.
 */
static int timetable_arm_clock(int fd)
{
	const struct itimerspec far = {
		.it_value = { .tv_sec = sizeof(time_t) > 4 ? (time_t)INT64_MAX : INT32_MAX },
	};
	int r = timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);

	return r < 0 && errno != ECANCELED ? -errno : 0;
}

static int timetable_on_clock_set(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct context *ctx = arg;
	struct timetable *t;
	uint64_t expirations;
	int r;

	if (read(fd, &expirations, sizeof(expirations)) < 0 && errno == EAGAIN)
		return 0;
	r = timetable_arm_clock(fd);
	if (r < 0) {
		log_line(ctx->log, LOG_ERR, "schedules do not follow changes of the clock: %s",
			 strerror(-r));
		(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	list_for_each (t, &ctx->timetables.list, in_list)
		node_add_task(t->node, TASK_SCHEDULES);
	return 0;
}

/* While there is any timetable. */
static void timetable_watch_clock(struct context *ctx)
{
	sd_event_source **source = &ctx->timetables.clock_set;
	bool is_empty = list_is_empty(&ctx->timetables.list);
	int r = 0;

	if (!is_empty && !*source) {
		int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

		r = context_watch_owned(ctx, source, fd < 0 ? -errno : fd, EPOLLIN,
					timetable_on_clock_set, ctx);
		if (r >= 0)
			r = timetable_arm_clock(fd);
	}
	if (is_empty || r < 0)
		*source = sd_event_source_disable_unref(*source);
	if (r < 0)
		log_line(ctx->log, LOG_ERR, "schedules do not follow changes of the clock: %s",
			 strerror(-r));
}

/* --- which services --- */

int timetable_new(struct timetable **ret, struct node *node, const struct node_config *config)
{
	struct timetable *t;

	if (!config->argv || !node_config_extras(config)->schedule)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->node = node;
	t->config = node_config_ref(config);
	list_init(&t->in_list);
	alarm_init(&t->alarm, timetable_on_alarm);
	*ret = t;
	return 0;
}

struct timetable *timetable_free(struct timetable *t)
{
	if (!t)
		return NULL;
	alarm_stop(&t->node->ctx->alarms, &t->alarm);
	roster_write(t->node->ctx->roster, &t->place, NULL);
	list_remove(&t->in_list);
	timetable_watch_clock(t->node->ctx);
	node_config_unref(t->config);
	return free_memory(t);
}

static bool timetable_is_same(const struct timetable *a, const struct timetable *b)
{
	const struct extras *x = node_config_extras(a->config), *y = node_config_extras(b->config);

	return strcmp(x->schedule->text, y->schedule->text) == 0 &&
	       value_equal_text(&x->timezone, &y->timezone) &&
	       x->schedule_jitter_usec == y->schedule_jitter_usec;
}

void timetable_use(struct node *node, struct timetable *t)
{
	struct timetable *before = node->timetable;
	const struct roster_row *row = NULL;
	size_t at = 0;

	while (t && !before && (row = roster_next(node->ctx->roster, ROSTER_SCHEDULE, &at)) &&
	       strcmp(row->path, t->config->path) != 0)
		continue;
	node->timetable = t;
	if (t) {
		list_append(&node->ctx->timetables.list, &t->in_list);
		node_add_task(node, TASK_SCHEDULES); /* its last run may be over */
		if (before) {
			t->times = before->times;
		} else if (row) {
			memcpy(&t->times, row->detail, sizeof(t->times));
		} else {
			/*
			 * Missed runs of a service that starts with the tree are made up by that
			 * start.
			 */
			const struct stamps *stamps = &t->node->ctx->stamps;

			if (!t->config->autostart)
				t->times.done_usec = stamps_read(stamps, t->config->path);
			if (!t->times.done_usec)
				timetable_note(t);
		}
		if (row || (before && timetable_is_same(before, t))) {
			timetable_set(t, t->times.next_usec);
		} else {
			t->times.planned_usec = 0;
			timetable_plan(t);
		}
	}
	timetable_free(before);
	timetable_watch_clock(node->ctx);
}

void timetable_view(const struct timetable *t, uint64_t now, uint64_t *next, uint64_t *last)
{
	*next = clock_until(t->times.next_usec, now);
	*last = t->times.last_usec ? now - t->times.last_usec : USEC_INFINITY;
}
