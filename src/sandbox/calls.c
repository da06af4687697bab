/*
 * As in systemd: if the first word begins with ~, all calls are allowed but those of the words; else only
 * those, with @default, and words with ~ take calls away again.  So later words override earlier ones.
 */
#include "sandbox/calls.h"

#ifdef HAVE_SECCOMP
#include <sched.h>
#include <seccomp.h>
#include <sys/shm.h>


#define CALLS_MAX	1024 /* a number of the kernel is below */
#define DEPTH_MAX	4    /* groups in groups */
#define NAME_MAX_LENGTH 64
#define FAMILIES_MAX	64 /* a number of the kernel is below */

static const struct group {
	const char *name, *members;
} groups[] = {
#define GROUP(name, members) { name, members },
#include <sandbox/groups.inc>
};

/* A member of a group that this processor has not is passed over. */
static int calls_mark(bool listed[static CALLS_MAX], const char *name, bool is_listed,
		      unsigned depth)
{
	const struct group *group = groups, *end = groups + ARRAY_SIZE(groups);
	char member[NAME_MAX_LENGTH];
	int number, r = 0;

	while (group < end && strcmp(group->name, name) != 0)
		group++;
	if (group == end && *name != '@') {
		number = seccomp_syscall_resolve_name(name);
		if (number >= 0 && number < CALLS_MAX)
			listed[number] = is_listed;
		return number == __NR_SCMP_ERROR && depth == 0 ? -EINVAL : 0;
	}
	if (group == end || depth == DEPTH_MAX)
		return -EINVAL;
	for (const char *p = group->members; r == 0 && *p; p += strspn(p, " ")) {
		size_t length = MIN(strcspn(p, " "), sizeof(member) - 1);

		*(char *)mempcpy(member, p, length) = '\0';
		p += length;
		r = calls_mark(listed, member, is_listed, depth + 1);
	}
	return r;
}

static const struct refusal {
	const char *word, *call;
	unsigned argument;
	uint64_t mask, value;
	int error; /* 0: EPERM */
} refusals[] = {
#define CALL_ROW(word, call, ...) { word, call, __VA_ARGS__ },
#include <base/protections.inc>
};

static const struct {
	const char *name;
	int number;
} families[] = {
#define FAMILY_ROW(name, number) { name, number },
#include <base/protections.inc>
};

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release)

/* The right to load it is of the caller. */
static scmp_filter_ctx calls_new_filter(uint32_t action)
{
	scmp_filter_ctx filter = seccomp_init(action);

	if (filter)
		(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	return filter;
}

static int calls_limit_names(const struct options *options, const char **subject)
{
	bool denies = *options->words[SYSTEM_CALLS][0] == '~';
	const uint32_t refusal = SCMP_ACT_ERRNO(EPERM);
	cleanup(seccomp_releasep) scmp_filter_ctx filter =
		calls_new_filter(denies ? SCMP_ACT_ALLOW : refusal);
	bool listed[CALLS_MAX] = {};
	int r = denies ? 0 : calls_mark(listed, "@default", true, 0);

	for (char *const *word = options->words[SYSTEM_CALLS]; r == 0 && *word; word++) {
		bool taken = **word == '~';

		*subject = *word;
		r = calls_mark(listed, *word + taken, taken == denies, 0);
	}
	if (r < 0 || !filter)
		return r < 0 ? r : -ENOMEM;
	for (int number = 0; r == 0 && number < CALLS_MAX; number++)
		if (listed[number])
			r = seccomp_rule_add(filter, denies ? refusal : SCMP_ACT_ALLOW, number, 0);
	*subject = NULL;
	return r < 0 ? r : seccomp_load(filter);
}

/* The meaning of a row: base/protections. */
static int calls_refuse(scmp_filter_ctx filter, const struct refusal *refusal)
{
	struct scmp_arg_cmp condition = { refusal->argument, SCMP_CMP_MASKED_EQ, refusal->mask,
					  refusal->value };
	uint32_t action = SCMP_ACT_ERRNO((uint32_t)(refusal->error ? refusal->error : EPERM));
	int number = seccomp_syscall_resolve_name(refusal->call), r = 0;

	/* Of Linux 6.6, which may be later than the library. */
	if (number == __NR_SCMP_ERROR && strcmp(refusal->call, "fchmodat2") == 0)
		number = 452;
	if (!refusal->mask || refusal->value)
		return seccomp_rule_add_array(filter, action, number, refusal->mask != 0,
					      &condition);
	for (uint64_t bit = 1; r == 0 && bit <= refusal->mask; bit <<= 1)
		if (refusal->mask & bit) {
			condition.datum_a = condition.datum_b = bit;
			r = seccomp_rule_add_array(filter, action, number, 1, &condition);
		}
	return r;
}

/* Families without a name are refused by a list that allows some. */
static int calls_refuse_families(scmp_filter_ctx filter, char *const *words)
{
	bool denies = **words == '~', listed[FAMILIES_MAX] = {};
	const uint32_t action = SCMP_ACT_ERRNO(EAFNOSUPPORT);
	int r = 0;

	for (; *words; words++)
		for (size_t i = 0; i < ARRAY_SIZE(families); i++)
			if (strcmp(*words + (**words == '~'), families[i].name) == 0)
				listed[families[i].number] = (**words == '~') == denies;
	for (unsigned n = 0; r == 0 && n < FAMILIES_MAX; n++)
		if (listed[n] == denies)
			r = seccomp_rule_add(filter, action, SCMP_SYS(socket), 1,
					     SCMP_A0_32(SCMP_CMP_EQ, n));
	if (r == 0 && !denies)
		r = seccomp_rule_add(filter, action, SCMP_SYS(socket), 1,
				     SCMP_A0_32(SCMP_CMP_GE, FAMILIES_MAX));
	return r;
}

static int calls_limit_arguments(const struct options *options, const char **subject)
{
	cleanup(seccomp_releasep) scmp_filter_ctx filter = calls_new_filter(SCMP_ACT_ALLOW);
	int r = filter ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(refusals); i++)
		if (option_protects(options, refusals[i].word)) {
			*subject = refusals[i].call;
			r = calls_refuse(filter, &refusals[i]);
		}
	if (r == 0 && option_is_set(options, ADDRESS_FAMILIES))
		r = calls_refuse_families(filter, options->words[ADDRESS_FAMILIES]);
	if (r == 0)
		*subject = NULL;
	return r < 0 ? r : seccomp_load(filter);
}

/* The filter of names comes last: it may refuse to load another one. */
int calls_limit(const struct options *options, const char **subject)
{
	int r = 0;

	if (option_is_set(options, PROTECT) || option_is_set(options, ADDRESS_FAMILIES))
		r = calls_limit_arguments(options, subject);
	return r == 0 && option_is_set(options, SYSTEM_CALLS) ? calls_limit_names(options, subject)
							      : r;
}
#else
int calls_limit(const struct options *options, const char **subject)
{
	*subject = "built without libseccomp";
	return -EOPNOTSUPP;
}
#endif
