/*
 * As in systemd: if the first word begins with ~, all calls are allowed but those of the words; else only
 * those, with @default, and words with ~ take calls away again.  So later words override earlier ones.
 */
#include "sandbox/calls.h"

#ifdef HAVE_SECCOMP
#include <seccomp.h>

#include "base/cleanup.h"

#define CALLS_MAX	1024 /* a number of the kernel is below */
#define DEPTH_MAX	4    /* groups in groups */
#define NAME_MAX_LENGTH 64

static const struct group {
	const char *name, *members;
} groups[] = {
#define GROUP(name, members) { name, members },
#include <sandbox/groups.inc>
};

static const struct group *calls_find_group(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

/* A member of a group that this processor has not is passed over. */
static int calls_mark(bool listed[static CALLS_MAX], const char *name, bool is_listed,
		      unsigned depth)
{
	const struct group *group = calls_find_group(name);
	char member[NAME_MAX_LENGTH];
	int number, r = 0;

	if (!group && *name != '@') {
		number = seccomp_syscall_resolve_name(name);
		if (number >= 0 && number < CALLS_MAX)
			listed[number] = is_listed;
		return number == __NR_SCMP_ERROR && depth == 0 ? -EINVAL : 0;
	}
	if (!group || depth == DEPTH_MAX)
		return -EINVAL;
	for (const char *p = group->members; r == 0 && *p; p += strspn(p, " ")) {
		size_t length = MIN(strcspn(p, " "), sizeof(member) - 1);

		*(char *)mempcpy(member, p, length) = '\0';
		p += length;
		r = calls_mark(listed, member, is_listed, depth + 1);
	}
	return r;
}

DEFINE_CLEANUP(scmp_filter_ctx, seccomp_release)

int calls_limit(const struct options *options, const char **subject)
{
	bool denies = *options->words[SYSTEM_CALLS][0] == '~';
	const uint32_t refusal = SCMP_ACT_ERRNO(EPERM);
	cleanup(seccomp_releasep) scmp_filter_ctx filter = NULL;
	bool listed[CALLS_MAX] = {};
	int r = denies ? 0 : calls_mark(listed, "@default", true, 0);

	for (char *const *word = options->words[SYSTEM_CALLS]; r == 0 && *word; word++) {
		bool taken = **word == '~';

		*subject = *word;
		r = calls_mark(listed, *word + taken, taken == denies, 0);
	}
	if (r < 0)
		return r;
	filter = seccomp_init(denies ? SCMP_ACT_ALLOW : refusal);
	if (!filter)
		return -ENOMEM;
	/* Of the caller, if at all. */
	r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	for (int number = 0; r == 0 && number < CALLS_MAX; number++)
		if (listed[number])
			r = seccomp_rule_add(filter, denies ? refusal : SCMP_ACT_ALLOW, number, 0);
	*subject = NULL;
	return r < 0 ? r : seccomp_load(filter);
}
#else
int calls_limit(const struct options *options, const char **subject)
{
	*subject = "built without libseccomp";
	return -EOPNOTSUPP;
}
#endif
