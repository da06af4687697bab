/*
 * Delays double from restart to restart up to their maximum, and are reset by a long run.
 * Transient faults have a delay of their own, which does not count against restart-limit.
 */
#include "model/life/policy.h"

#define FAULT_DELAY_MIN_USEC (50 * USEC_PER_MSEC)
#define FAULT_DELAY_MAX_USEC USEC_PER_SEC

struct policy {
	const struct node_config *config;
	uint64_t delay_usec;	   /* before the next restart */
	uint64_t fault_delay_usec; /* before the next try after a fault */

	/* A ring of the times of the last restarts, as many as restart-limit allows. */
	unsigned next, used;
	uint64_t restarts[];
};

int policy_new(struct policy **ret, const struct node_config *config)
{
	size_t n = config->restart_limit.count;
	struct policy *policy = calloc(1, sizeof(*policy) + n * sizeof(policy->restarts[0]));

	if (!policy)
		return -ENOMEM;
	policy->config = config;
	policy_forget(policy);
	*ret = policy;
	return 0;
}

struct policy *policy_free(struct policy *policy)
{
	return free_memory(policy);
}

void policy_forget(struct policy *policy)
{
	policy->delay_usec = policy->config->restart_delay_usec;
	policy->fault_delay_usec = FAULT_DELAY_MIN_USEC;
	policy->next = policy->used = 0;
}

uint64_t *policy_delay(struct policy *policy)
{
	return &policy->delay_usec;
}

void policy_use(struct policy *policy, const struct node_config *config)
{
	policy->config = config;
}

void policy_inherit(struct policy *policy, const struct policy *from)
{
	size_t room = policy->config->restart_limit.count, size = from->config->restart_limit.count;
	size_t n = MIN(room, from->used);

	policy->fault_delay_usec = from->fault_delay_usec;
	if (from->delay_usec != from->config->restart_delay_usec)
		policy->delay_usec = MIN(from->delay_usec, policy->config->restart_delay_max_usec);
	/* The latest times, in order. */
	for (size_t i = 0; i < n; i++)
		policy->restarts[i] = from->restarts[(from->next + size - n + i) % size];
	policy->used = n;
	policy->next = room ? n % room : 0;
}

/* Returns true if a restart now would exceed the limit; else records the restart. */
static bool policy_is_over_limit(struct policy *policy, uint64_t now_usec)
{
	const struct restart_limit *limit = &policy->config->restart_limit;

	if (limit->count == 0)
		return false;
	if (policy->used == limit->count) {
		uint64_t oldest = policy->restarts[policy->next];

		if (now_usec - oldest <= limit->window_usec)
			return true;
	} else {
		policy->used++;
	}
	policy->restarts[policy->next] = now_usec;
	policy->next = (policy->next + 1) % limit->count;
	return false;
}

static uint64_t policy_next_delay(uint64_t *delay_usec, uint64_t max_usec)
{
	uint64_t now = MIN(*delay_usec, max_usec);

	*delay_usec = MIN(clock_add(now, now), max_usec);
	return now;
}

enum service_event policy_decide(struct policy *policy, const struct outcome *outcome,
				 uint64_t now_usec, uint64_t ran_usec, uint64_t *delay_usec)
{
	const struct node_config *config = policy->config;
	bool clean = policy_is_clean(config, outcome);

	if (outcome->kind == OUTCOME_SPAWN_FAILED && policy_is_transient(outcome->value)) {
		*delay_usec = policy_next_delay(&policy->fault_delay_usec, FAULT_DELAY_MAX_USEC);
		return EVENT_RETRY;
	}
	policy->fault_delay_usec = FAULT_DELAY_MIN_USEC;

	if ((clean && config->restart != RESTART_ALWAYS) || outcome->kind == OUTCOME_CONDITION)
		return EVENT_DONE;
	if (config->restart == RESTART_NEVER)
		return EVENT_FAIL;
	if (ran_usec >= node_config_extras(config)->restart_reset_usec)
		policy->delay_usec = config->restart_delay_usec;
	if (policy_is_over_limit(policy, now_usec))
		return EVENT_FAIL;
	*delay_usec = policy_next_delay(&policy->delay_usec, config->restart_delay_max_usec);
	return EVENT_RETRY;
}

/* Instances of a template that fail together are not to start together, without a key. */
#define JITTER_OF_INSTANCES 10

uint64_t policy_jitter_limit(const struct node_config *config, uint64_t delay_usec)
{
	int percent = node_config_extras(config)->restart_jitter;

	if (percent == ATTRIBUTE_KEEP)
		percent = strchr(config->path, '@') ? JITTER_OF_INSTANCES : 0;
	return delay_usec / 100 * (unsigned)percent;
}

/* Returns true if success-status names the end. */
static bool policy_is_stated(const struct node_config *config, const struct outcome *outcome)
{
	const struct success_status *also = &node_config_extras(config)->success_status;

	switch (outcome->kind) {
	case OUTCOME_EXITED:
		return also->codes[outcome->value / 64] >> outcome->value % 64 & 1;
	case OUTCOME_SIGNALED:
		return also->signals >> (outcome->value - 1) & 1;
	default:
		return false;
	}
}

bool policy_is_clean(const struct node_config *config, const struct outcome *outcome)
{
	if (outcome->kind == OUTCOME_CONDITION)
		return true;
	if (!outcome->was_ready || outcome->hook)
		return false;
	if (policy_is_stated(config, outcome))
		return true;
	if (outcome->kind == OUTCOME_SIGNALED)
		return config->type != TYPE_ONESHOT && outcome->value == config->stop_signal;
	return outcome->kind == OUTCOME_EXITED && outcome->value == 0;
}

bool policy_is_transient(int error)
{
	switch (error) {
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EINTR:
	case ETXTBSY:
	case ENOSPC:
	case EIO:
		return true;
	default:
		return false;
	}
}

int policy_exit_status(const struct outcome *outcome)
{
	switch (outcome->kind) {
	case OUTCOME_EXITED:
		return outcome->value;
	case OUTCOME_SIGNALED:
		return 128 + outcome->value;
	case OUTCOME_SPAWN_FAILED:
		return outcome->value == ENOENT ? 127 : 126;
	case OUTCOME_START_TIMEOUT:
	case OUTCOME_WATCHDOG:
	case OUTCOME_UNHEALTHY:
		return 124;
	case OUTCOME_UNKNOWN:
		return 1;
	case OUTCOME_NONE:
	case OUTCOME_CONDITION:
		break;
	}
	return 0;
}

int policy_end_status(const struct node_config *config, const struct outcome *outcome)
{
	bool success = policy_is_clean(config, outcome) && policy_is_stated(config, outcome);

	return success ? 0 : policy_exit_status(outcome);
}

char *policy_outcome_text(char buf[static OUTCOME_TEXT_MAX], const struct outcome *outcome)
{
	const char *unready = outcome->was_ready || outcome->hook ? "" : " before it was ready";
	char signal[SIGNAL_TEXT_MAX];
	size_t used = 0;
	char *text;
	int n;

	if (outcome->hook)
		used = (size_t)snprintf(buf, OUTCOME_TEXT_MAX, "%.40s ", outcome->hook);
	text = buf + used;

	switch (outcome->kind) {
	case OUTCOME_NONE:
		(void)snprintf(text, OUTCOME_TEXT_MAX - used, "never ran");
		break;
	case OUTCOME_EXITED:
		(void)snprintf(text, OUTCOME_TEXT_MAX - used, "exited with status %d%s",
			       outcome->value, unready);
		break;
	case OUTCOME_SIGNALED:
		(void)snprintf(text, OUTCOME_TEXT_MAX - used, "killed by %s%s",
			       parse_signal_text(signal, outcome->value), unready);
		break;
	case OUTCOME_SPAWN_FAILED:
		/* A long path is cut, so that the reason fits. */
		(void)snprintf(text, OUTCOME_TEXT_MAX - used, "cannot start: %s%s%.160s: %s",
			       outcome->step, outcome->subject ? " " : "",
			       outcome->subject ? outcome->subject : "",
			       outcome->value == ETIMEDOUT ? "the file system does not answer"
							   : strerror(outcome->value));
		break;
	case OUTCOME_START_TIMEOUT:
		n = snprintf(text, OUTCOME_TEXT_MAX - used, "was not %s within its start-timeout",
			     outcome->hook ? "done" : "ready");
		if (outcome->step)
			(void)snprintf(text + n, OUTCOME_TEXT_MAX - used - (size_t)n,
				       ": its program did not run: waited to %s%s%.160s",
				       outcome->step, outcome->subject ? " " : "",
				       outcome->subject ? outcome->subject : "");
		break;
	case OUTCOME_WATCHDOG:
		(void)snprintf(buf, OUTCOME_TEXT_MAX, "watchdog: no keep-alive message%s", unready);
		break;
	case OUTCOME_UNHEALTHY:
		(void)snprintf(buf, OUTCOME_TEXT_MAX, "unhealthy");
		break;
	case OUTCOME_UNKNOWN:
		(void)snprintf(buf, OUTCOME_TEXT_MAX,
			       "ended%s; exit status unknown (child of another process)", unready);
		break;
	case OUTCOME_CONDITION:
		(void)snprintf(buf, OUTCOME_TEXT_MAX, "condition %.160s%sdoes not hold",
			       outcome->hook && outcome->subject ? outcome->subject : "",
			       outcome->hook && outcome->subject ? " " : "");
		break;
	}
	used = strlen(buf);
	if (outcome->unfound && !outcome->hook)
		(void)snprintf(buf + used, OUTCOME_TEXT_MAX - used, ": pid-file %.160s: %s",
			       outcome->subject, outcome->unfound);
	return buf;
}

/*
 * --- results ---
 *
 * A spent stop-timeout decides first, then the kind of the outcome.  A hook's failure is never
 * excused by success-status, which is about the main process.
 */

/* Returns true if the end of the main process alone counts as success. */
static bool result_is_good(const struct result_of *result)
{
	struct outcome outcome = *result->outcome;

	outcome.was_ready = true;
	return policy_is_clean(result->config, &outcome) ||
	       (result->stopped && outcome.kind == OUTCOME_SIGNALED &&
		outcome.value == result->config->stop_signal);
}

const char *result_name(const struct result_of *result)
{
	const struct outcome *outcome = result->outcome;

	if (result->late)
		return "timeout";
	switch (outcome->kind) {
	case OUTCOME_EXITED:
		if (outcome->hook || !result_is_good(result))
			return "exit-code";
		return outcome->was_ready || result->stopped ? "success" : "protocol";
	case OUTCOME_SIGNALED:
		if (!outcome->hook && outcome->end == END_DUMPED)
			return "core-dump";
		return !outcome->hook && result_is_good(result) ? "success" : "signal";
	case OUTCOME_SPAWN_FAILED:
		return "resources";
	case OUTCOME_START_TIMEOUT:
		return "timeout";
	case OUTCOME_WATCHDOG:
	case OUTCOME_UNHEALTHY:
		return "watchdog";
	case OUTCOME_UNKNOWN:
		return "protocol";
	case OUTCOME_NONE:
	case OUTCOME_CONDITION:
		break;
	}
	return "success";
}

const char *result_exit_code(const struct outcome *outcome)
{
	static const char *const codes[] = {
		[END_NONE] = NULL,
		[END_EXITED] = "exited",
		[END_KILLED] = "killed",
		[END_DUMPED] = "dumped",
	};

	return codes[outcome->end];
}

char *result_exit_status(char buf[static RESULT_STATUS_MAX], const struct outcome *outcome)
{
	char name[SIGNAL_TEXT_MAX];

	if (outcome->end == END_EXITED) {
		(void)snprintf(buf, RESULT_STATUS_MAX, "%d", outcome->end_value);
	} else {
		parse_signal_text(name, outcome->end_value);
		(void)snprintf(buf, RESULT_STATUS_MAX, "%s",
			       strncmp(name, "SIG", 3) == 0 ? name + 3 : name);
	}
	return buf;
}
