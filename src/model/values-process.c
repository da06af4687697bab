#include <errno.h>
#include <linux/ioprio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"
#include "model/process-names.h"
#include "model/values-private.h"

#define GROUPS_MAX 1000 /* in one section */

static int group_of(struct value *value, const char *word, gid_t *ret)
{
	struct value group = { .text = word, .names = value->names };
	int r = value_group(&group, ret);

	if (r != -EINVAL)
		return r;
	return value_refuse(value, group.why == NULL
					   ? "has a word that cannot be a group"
					   : "has a word that is no group of this system");
}

static int value_groups(struct value *value, void *field)
{
	struct section *section = field;
	cleanup(freep) char **words = NULL;
	cleanup(freep) gid_t *groups = NULL;
	int n, r;

	if (strcmp(value->text, "none") == 0)
		return 0;
	n = value_words(value, &words);
	if (n < 0)
		return n;
	if (n == 0)
		return -EINVAL;
	if (n > GROUPS_MAX)
		return value_refuse(value, "has more than " STRINGIFY(GROUPS_MAX) " groups");
	groups = calloc((size_t)n, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		r = group_of(value, words[i], &groups[i]);
		if (r < 0)
			return r;
		for (int j = 0; j < i; j++) {
			if (groups[i] == groups[j])
				return value_refuse(value, "has a group twice");
		}
	}
	section->groups = take(groups);
	section->n_groups = (size_t)n;
	return 0;
}

static int value_environment_files(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	int n = value_substituted_words(value, &words);

	if (n < 0)
		return n;
	if (n == 0)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		int r = value_check_path(value, words[i] + (*words[i] == '-'));

		if (r < 0)
			return r;
	}
	*(char ***)field = take(words);
	return 0;
}

/* A limit's half that ends at @end; @size: with a unit, if it has one. */
static int parse_limit(const char *text, const char *end, bool size, rlim_t *ret)
{
	char number[32];
	uint64_t n;
	int r;

	if ((size_t)(end - text) >= sizeof(number))
		return -EINVAL;
	*(char *)mempcpy(number, text, (size_t)(end - text)) = '\0';
	if (strcmp(number, "infinity") == 0) {
		*ret = RLIM_INFINITY;
		return 0;
	}
	/* The largest number means infinity, which has a name. */
	r = size ? parse_size(number, &n) : parse_uint(number, RLIM_INFINITY - 1, &n);
	if (r < 0 || n == RLIM_INFINITY)
		return -EINVAL;
	*ret = n;
	return 0;
}

static int limit_of(struct value *value, bool size, struct rlimit *field)
{
	const char *colon = strchrnul(value->text, ':');
	struct rlimit limit;

	if (parse_limit(value->text, colon, size, &limit.rlim_cur) < 0)
		return -EINVAL;
	limit.rlim_max = limit.rlim_cur;
	if (*colon && parse_limit(colon + 1, strchr(colon, '\0'), size, &limit.rlim_max) < 0)
		return -EINVAL;
	if (limit.rlim_cur > limit.rlim_max)
		return value_refuse(value, "has a soft limit above the hard one");
	*field = limit;
	return 0;
}

static int value_limit(struct value *value, void *field)
{
	return limit_of(value, false, field);
}

static int value_limit_size(struct value *value, void *field)
{
	return limit_of(value, true, field);
}

/* A whole number of up to @max, or down to -@min. */
static int value_between(struct value *value, unsigned min, unsigned max, int *field)
{
	bool negative = *value->text == '-';
	uint64_t number;

	if (parse_uint(value->text + negative, negative ? min : max, &number) < 0)
		return -EINVAL;
	*field = negative ? -(int)number : (int)number;
	return 0;
}

static int value_nice(struct value *value, void *field)
{
	return value_between(value, 20, 19, field);
}

static int value_oom_score(struct value *value, void *field)
{
	return value_between(value, 1000, 1000, field);
}

/* "idle", "best-effort:7" */
static int value_io_class(struct value *value, void *field)
{
	const char *colon = strchrnul(value->text, ':');
	char name[16];
	uint64_t level;
	int class = 0;

	if ((size_t)(colon - value->text) >= sizeof(name))
		return -EINVAL;
	*(char *)mempcpy(name, value->text, (size_t)(colon - value->text)) = '\0';
	while (strcmp(name, io_class_names[class]) != 0) {
		if (++class == N_IO_CLASSES)
			return -EINVAL;
	}
	level = class == IOPRIO_CLASS_RT || class == IOPRIO_CLASS_BE ? IOPRIO_BE_NORM : 0;
	if (*colon) {
		if (class != IOPRIO_CLASS_RT && class != IOPRIO_CLASS_BE)
			return value_refuse(value, "is a class without levels");
		if (parse_uint(colon + 1, IOPRIO_NR_LEVELS - 1, &level) < 0)
			return -EINVAL;
	}
	*(int *)field = IOPRIO_PRIO_VALUE(class, (int)level);
	return 0;
}

/* The number at *text, which is moved behind it. */
static int parse_cpu(const char **text, unsigned *ret)
{
	size_t n = strspn(*text, "0123456789");
	char digits[8];
	uint64_t cpu;

	if (n >= sizeof(digits))
		return -ERANGE;
	*(char *)mempcpy(digits, *text, n) = '\0';
	if (parse_uint(digits, CPU_SETSIZE - 1, &cpu) < 0)
		return -EINVAL;
	*text += n;
	*ret = (unsigned)cpu;
	return 0;
}

/* "0-3,7" */
static int value_cpus(struct value *value, void *field)
{
	const char *p = value->text;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (;; p++) {
		unsigned first, last;

		if (parse_cpu(&p, &first) < 0)
			return -EINVAL;
		last = first;
		if (*p == '-') {
			p++;
			if (parse_cpu(&p, &last) < 0)
				return -EINVAL;
		}
		if (last < first)
			return value_refuse(value, "has a range that ends before it begins");
		for (unsigned cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, &cpus);
		if (*p != ',')
			break;
	}
	if (*p)
		return -EINVAL;
	*(cpu_set_t *)field = cpus;
	return 0;
}

static int value_no_new_privileges(struct value *value, void *field)
{
	bool set;

	if (parse_bool(value->text, &set) < 0)
		return -EINVAL;
	*(int *)field = set;
	return 0;
}

static int parse_capability(const char *name, uint64_t *bit)
{
	for (size_t i = 0; i < N_CAPABILITIES; i++) {
		if (strcasecmp(name, capability_names[i]) != 0)
			continue;
		*bit = UINT64_C(1) << i;
		return 0;
	}
	return -EINVAL;
}

static int value_capabilities(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	uint64_t set = 0, bit = 0;
	int n;

	if (strcmp(value->text, "all") == 0) {
		*(uint64_t *)field = CAPABILITIES_KEEP;
		return 0;
	}
	if (strcmp(value->text, "none") == 0) {
		*(uint64_t *)field = 0;
		return 0;
	}
	n = value_words(value, &words);
	if (n < 0)
		return n;
	if (n == 0)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		if (parse_capability(words[i], &bit) < 0)
			return value_refuse(value, "has a word that is no capability");
		if (set & bit)
			return value_refuse(value, "has a capability twice");
		set |= bit;
	}
	*(uint64_t *)field = set;
	return 0;
}

/* clang-format off */
const struct value_type type_groups = { value_groups,
	"none, or names or numbers of groups with blanks between them, each once" };
const struct value_type type_environment_files = { value_environment_files,
	"absolute paths with blanks between them, with %n, %i and %%, and with a - before those of "
	"files that may be missing" };
const struct value_type type_limit = { value_limit,
	"N or SOFT:HARD, each a whole number or infinity" };
const struct value_type type_limit_size = { value_limit_size,
	"N or SOFT:HARD, each a number of bytes such as 512, 64K, 10M, 2G, 1T or infinity" };
const struct value_type type_nice = { value_nice,
	"a whole number from -20 to 19" };
const struct value_type type_oom_score = { value_oom_score,
	"a whole number from -1000 to 1000" };
const struct value_type type_io_class = { value_io_class,
	"none, idle, best-effort or realtime, the last two perhaps with a level as in best-effort:7, "
	"from 0 to 7" };
const struct value_type type_cpus = { value_cpus,
	"numbers and ranges with commas between them such as 0-3,7, each below "
	STRINGIFY(CPU_SETSIZE) };
const struct value_type type_no_new_privileges = { value_no_new_privileges,
	BOOL_ALLOWED };
const struct value_type type_capabilities = { value_capabilities,
	"all, none, or names as in capabilities(7) such as cap_net_bind_service, each once" };
/* clang-format on */
