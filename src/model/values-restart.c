#include "model/values-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"

/* When a service is started again, and what becomes of the others if it is not. */

#define LIMIT_MAX 1000 /* failures that restart-limit can count */

static int value_restart(struct value *value, void *field)
{
	return choice_find(choices_restart, value->text, field);
}

static int value_restart_limit(struct value *value, void *field)
{
	const char *slash = strchr(value->text, '/');
	char digits[8];
	uint64_t count, window;

	if (strcmp(value->text, "none") == 0) {
		*(struct restart_limit *)field = (struct restart_limit){ .count = 0 };
		return 0;
	}
	if (!slash || slash - value->text >= (ptrdiff_t)sizeof(digits))
		return -EINVAL;
	*(char *)mempcpy(digits, value->text, (size_t)(slash - value->text)) = '\0';
	if (parse_uint(digits, LIMIT_MAX, &count) < 0 || parse_duration(slash + 1, &window) < 0 ||
	    count == 0 || window == 0)
		return -EINVAL;
	*(struct restart_limit *)field =
		(struct restart_limit){ .count = (unsigned)count, .window_usec = window };
	return 0;
}

static int add_status(struct value *value, const char *word, struct success_status *status)
{
	uint64_t code;
	int signo;

	if (parse_uint(word, 255, &code) == 0) {
		status->codes[code / 64] |= UINT64_C(1) << code % 64;
		return 0;
	}
	if (*word >= '0' && *word <= '9')
		return value_refuse(value, "has an exit status beyond 255");
	if (parse_signal(word, &signo) < 0)
		return value_refuse(value,
				    "has a word that is neither an exit status nor a signal");
	status->signals |= UINT64_C(1) << (signo - 1);
	return 0;
}

static int value_success_status(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	struct success_status status = { .signals = 0 };
	int n = value_words(value, &words);
	int r = n < 0 ? n : n == 0 ? -EINVAL : 0;

	for (int i = 0; r == 0 && i < n; i++)
		r = add_status(value, words[i], &status);
	if (r == 0)
		*(struct success_status *)field = status;
	return r;
}

static int value_on_failed(struct value *value, void *field)
{
	return choice_find(choices_on_failed, value->text, field);
}

static int value_strategy(struct value *value, void *field)
{
	return choice_find(choices_strategy, value->text, field);
}

/* clang-format off */
const struct value_type type_restart = { value_restart,
	"always, on-failure or never" };
const struct value_type type_restart_limit = { value_restart_limit,
	"COUNT/DURATION such as 5/30s with 1 to " STRINGIFY(LIMIT_MAX) " failures, or none" };
const struct value_type type_success_status = { value_success_status,
	"exit statuses from 0 to 255 and names of signals, with blanks between them" };
const struct value_type type_on_failed = { value_on_failed,
	"nothing, shutdown-parent or shutdown" };
const struct value_type type_strategy = { value_strategy,
	"one-for-one, one-for-all or rest-for-one" };
/* clang-format on */
