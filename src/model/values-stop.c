#include "model/values-private.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

/* What ends a service, and what its control group may have. */

#define PIDS_MAX   4194304 /* the kernel's own, on 64 bits */
#define WEIGHT_MAX 10000

static int value_signal_scope(struct value *value, void *field)
{
	return choice_find(choices_signal_scope, value->text, field);
}

/* UINT64_MAX is for infinity, and 0 for what is not set. */
static int value_bound(const char *text, int (*parse)(const char *text, uint64_t *ret), void *field)
{
	uint64_t bound;

	if (strcmp(text, "infinity") == 0)
		bound = UINT64_MAX;
	else if (parse(text, &bound) < 0 || bound == 0 || bound == UINT64_MAX)
		return -EINVAL;
	*(uint64_t *)field = bound;
	return 0;
}

static int parse_pids(const char *text, uint64_t *ret)
{
	return parse_uint(text, PIDS_MAX, ret);
}

static int value_memory(struct value *value, void *field)
{
	return value_bound(value->text, parse_size, field);
}

static int value_pids(struct value *value, void *field)
{
	return value_bound(value->text, parse_pids, field);
}

static int value_weight(struct value *value, void *field)
{
	uint64_t weight;

	if (parse_uint(value->text, WEIGHT_MAX, &weight) < 0 || weight == 0)
		return -EINVAL;
	*(uint64_t *)field = weight;
	return 0;
}

const struct value_type type_signal_scope = { value_signal_scope, "group, main or all" };
const struct value_type type_memory = {
	value_memory, "a number of bytes, with K, M, G or T if you like, or infinity"
};
const struct value_type type_pids = { value_pids,
				      "a number from 1 to " STRINGIFY(PIDS_MAX) ", or infinity" };
const struct value_type type_weight = { value_weight, "a number from 1 to " STRINGIFY(WEIGHT_MAX) };
