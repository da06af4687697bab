/*
 * A spent stop-timeout decides first, then the kind of the outcome.  A hook's failure is never
 * excused by success-status, which is about the main process.
 */
#include "model/life/result.h"

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
