#include "model/values.h"

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
	enum signal_scope *scope = field;

	if (strcmp(value->text, "group") == 0)
		*scope = SIGNAL_SCOPE_GROUP;
	else if (strcmp(value->text, "main") == 0)
		*scope = SIGNAL_SCOPE_MAIN;
	else if (strcmp(value->text, "all") == 0)
		*scope = SIGNAL_SCOPE_ALL;
	else
		return -EINVAL;
	return 0;
}

/* "64K": bytes in the end. */
static int parse_memory(const char *text, uint64_t *ret)
{
	static const char units[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	char number[24];

	if (digits == 0 || digits >= sizeof(number) || (text[digits] && !unit) ||
	    (unit && text[digits + 1]))
		return -EINVAL;
	*(char *)mempcpy(number, text, digits) = '\0';
	/* Less than UINT64_MAX, which is for infinity. */
	if (parse_uint(number, (UINT64_MAX - 1) >> shift, ret) < 0)
		return -EINVAL;
	*ret <<= shift;
	return 0;
}

static int value_memory(struct value *value, void *field)
{
	uint64_t bytes;

	if (strcmp(value->text, "infinity") == 0)
		bytes = UINT64_MAX;
	else if (parse_memory(value->text, &bytes) < 0 || bytes == 0)
		return -EINVAL;
	*(uint64_t *)field = bytes;
	return 0;
}

static int value_pids(struct value *value, void *field)
{
	uint64_t pids;

	if (strcmp(value->text, "infinity") == 0)
		pids = UINT64_MAX;
	else if (parse_uint(value->text, PIDS_MAX, &pids) < 0 || pids == 0)
		return -EINVAL;
	*(uint64_t *)field = pids;
	return 0;
}

static int value_weight(struct value *value, void *field)
{
	uint64_t weight;

	if (parse_uint(value->text, WEIGHT_MAX, &weight) < 0 || weight == 0)
		return -EINVAL;
	*(unsigned *)field = (unsigned)weight;
	return 0;
}

const struct value_type type_signal_scope = { IN_NODE, value_signal_scope, "group, main or all" };
const struct value_type type_memory = {
	IN_NODE, value_memory, "a number of bytes, with K, M, G or T if you like, or infinity"
};
const struct value_type type_pids = { IN_NODE, value_pids,
				      "a number from 1 to " STRINGIFY(PIDS_MAX) ", or infinity" };
const struct value_type type_weight = { IN_NODE, value_weight,
					"a number from 1 to " STRINGIFY(WEIGHT_MAX) };
