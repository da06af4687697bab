/*
 * Types of the attributes of a process; base/attributes.h has the numbers for "not set".  A limit
 * is a pair: the soft one must not be above the hard one.
 */
#include "model/types/type.h"

#include <linux/capability.h>
#include <linux/ioprio.h>

/* Parses the soft or the hard limit. */
static int limit_parse_half(const char *from, const char *to, bool size, rlim_t *ret)
{
	char number[32];
	int r;

	if (!value_part(number, sizeof(number), from, to))
		return -EINVAL;
	if (strcmp(number, "infinity") == 0) {
		*ret = RLIM_INFINITY;
		return 0;
	}
	/* The largest number is infinity, which must be written as a word. */
	r = size ? parse_size(number, ret) : parse_uint(number, RLIM_INFINITY - 1, ret);
	return r < 0 || *ret == RLIM_INFINITY ? -EINVAL : 0;
}

static int limit_parse(struct value *value, void *field)
{
	const char *colon = strchrnul(value->text, ':');
	bool size = value->type == &type_limit_size;
	struct rlimit limit;

	if (limit_parse_half(value->text, colon, size, &limit.rlim_cur) < 0)
		return -EINVAL;
	limit.rlim_max = limit.rlim_cur;
	if (*colon && limit_parse_half(colon + 1, strchr(colon, '\0'), size, &limit.rlim_max) < 0)
		return -EINVAL;
	if (limit.rlim_cur > limit.rlim_max)
		return value_refuse(value, "soft limit above the hard limit");
	*(struct rlimit *)field = limit;
	return 0;
}

static void limit_print_half(FILE *file, const char *before, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		(void)fprintf(file, "%sinfinity", before);
	else
		(void)fprintf(file, "%s%ju", before, (uintmax_t)limit);
}

static void limit_print(FILE *file, const void *field)
{
	const struct rlimit *limit = field;

	if (attribute_limit_is_set(limit))
		limit_print_half(file, "", limit->rlim_cur);
	if (attribute_limit_is_set(limit) && limit->rlim_cur != limit->rlim_max)
		limit_print_half(file, ":", limit->rlim_max);
}

#define LIMIT(text)                                                             \
	{                                                                       \
		.parse = limit_parse, .print = limit_print, .expected = (text), \
		.size = sizeof(struct rlimit),                                  \
	}

const struct type type_limit =
	LIMIT("N or SOFT:HARD, each a whole number or infinity, for example 1024:4096");
const struct type type_limit_size = LIMIT(
	"N or SOFT:HARD, each a number of bytes or infinity, for example 512, 64K, 10M, 2G or 1T");

static const struct choice io_classes[] = {
	{ "none", IOPRIO_CLASS_NONE },
	{ "realtime", IOPRIO_CLASS_RT },
	{ "best-effort", IOPRIO_CLASS_BE },
	{ "idle", IOPRIO_CLASS_IDLE },
	{},
};

static bool io_class_has_levels(int class)
{
	return class == IOPRIO_CLASS_RT || class == IOPRIO_CLASS_BE;
}

/* "idle", "best-effort:7" */
static int io_class_parse(struct value *value, void *field)
{
	const char *colon = strchrnul(value->text, ':');
	uint64_t level = 0;
	char name[16];
	int class;

	if (!value_part(name, sizeof(name), value->text, colon) ||
	    choice_find(io_classes, name, &class) < 0)
		return -EINVAL;
	if (io_class_has_levels(class))
		level = IOPRIO_BE_NORM;
	else if (*colon)
		return value_refuse(value, "class without levels");
	if (*colon && parse_uint(colon + 1, IOPRIO_NR_LEVELS - 1, &level) < 0)
		return -EINVAL;
	*(int *)field = IOPRIO_PRIO_VALUE(class, (int)level);
	return 0;
}

static void io_class_print(FILE *file, const void *field)
{
	int priority = *(const int *)field;

	if (priority == ATTRIBUTE_KEEP)
		return;
	(void)fputs(choice_name(io_classes, IOPRIO_PRIO_CLASS(priority)), file);
	if (io_class_has_levels(IOPRIO_PRIO_CLASS(priority)))
		(void)fprintf(file, ":%d", (int)IOPRIO_PRIO_DATA(priority));
}

TYPE(io_class, .parse = io_class_parse, .print = io_class_print, .size = sizeof(int),
     .expected =
	     "none, idle, best-effort or realtime; the last two take a level from 0 to 7, for example "
	     "best-effort:7");

/* "0-3,7" */
static int cpus_parse(struct value *value, void *field)
{
	const char *p = value->text;
	uint64_t first, last;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	do {
		if (parse_digits(&p, &first) < 0)
			return -EINVAL;
		last = first;
		if (*p == '-' && (p++, parse_digits(&p, &last) < 0))
			return -EINVAL;
		if (first >= CPU_SETSIZE || last >= CPU_SETSIZE)
			return -EINVAL;
		if (last < first)
			return value_refuse(value, "range that ends before its first number");
		for (; first <= last; first++)
			CPU_SET(first, &cpus);
	} while (*p++ == ',');
	if (p[-1])
		return -EINVAL;
	*(cpu_set_t *)field = cpus;
	return 0;
}

static void cpus_print(FILE *file, const void *field)
{
	const cpu_set_t *cpus = field;
	const char *comma = "";

	for (int cpu = 0, last; cpu < CPU_SETSIZE; cpu = last + 1) {
		last = cpu;
		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
			last++;
		(void)fprintf(file, "%s%d", comma, cpu);
		if (last > cpu)
			(void)fprintf(file, "-%d", last);
		comma = ",";
	}
}

TYPE(cpus, .parse = cpus_parse, .print = cpus_print, .size = sizeof(cpu_set_t),
     .expected = "numbers and ranges separated by commas, for example 0-3,7, each below " STRINGIFY(
	     CPU_SETSIZE));

#define CAP(number, name) [CAP_##number] = "cap_" #name
/* clang-format off */
static const char *const capabilities[] = {
	CAP(CHOWN, chown), CAP(DAC_OVERRIDE, dac_override), CAP(DAC_READ_SEARCH, dac_read_search),
	CAP(FOWNER, fowner), CAP(FSETID, fsetid), CAP(KILL, kill), CAP(SETGID, setgid),
	CAP(SETUID, setuid), CAP(SETPCAP, setpcap), CAP(LINUX_IMMUTABLE, linux_immutable),
	CAP(NET_BIND_SERVICE, net_bind_service), CAP(NET_BROADCAST, net_broadcast),
	CAP(NET_ADMIN, net_admin), CAP(NET_RAW, net_raw), CAP(IPC_LOCK, ipc_lock),
	CAP(IPC_OWNER, ipc_owner), CAP(SYS_MODULE, sys_module), CAP(SYS_RAWIO, sys_rawio),
	CAP(SYS_CHROOT, sys_chroot), CAP(SYS_PTRACE, sys_ptrace), CAP(SYS_PACCT, sys_pacct),
	CAP(SYS_ADMIN, sys_admin), CAP(SYS_BOOT, sys_boot), CAP(SYS_NICE, sys_nice),
	CAP(SYS_RESOURCE, sys_resource), CAP(SYS_TIME, sys_time),
	CAP(SYS_TTY_CONFIG, sys_tty_config), CAP(MKNOD, mknod), CAP(LEASE, lease),
	CAP(AUDIT_WRITE, audit_write), CAP(AUDIT_CONTROL, audit_control), CAP(SETFCAP, setfcap),
	CAP(MAC_OVERRIDE, mac_override), CAP(MAC_ADMIN, mac_admin), CAP(SYSLOG, syslog),
	CAP(WAKE_ALARM, wake_alarm), CAP(BLOCK_SUSPEND, block_suspend), CAP(AUDIT_READ, audit_read),
	CAP(PERFMON, perfmon), CAP(BPF, bpf), CAP(CHECKPOINT_RESTORE, checkpoint_restore),
};
/* clang-format on */

static int capabilities_parse(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	bool none = strcmp(value->text, "none") == 0, all = strcmp(value->text, "all") == 0;
	uint64_t set = all ? CAPABILITIES_KEEP : 0;
	int n = none || all ? 0 : value_words(value, &words);

	if (n < 0)
		return n;
	if (n == 0 && !none && !all)
		return -EINVAL;
	for (int i = 0; i < n; i++) {
		size_t cap = 0;

		while (cap < ARRAY_SIZE(capabilities) &&
		       strcasecmp(words[i], capabilities[cap]) != 0)
			cap++;
		if (cap == ARRAY_SIZE(capabilities))
			return value_refuse(value, "unknown capability");
		if (set >> cap & 1)
			return value_refuse(value, "duplicate capability");
		set |= UINT64_C(1) << cap;
	}
	*(uint64_t *)field = set;
	return 0;
}

static void capabilities_print(FILE *file, const void *field)
{
	uint64_t set = *(const uint64_t *)field;
	const char *blank = "";

	if (set == CAPABILITIES_KEEP || set == 0) {
		(void)fputs(set ? "all" : "none", file);
		return;
	}
	for (size_t cap = 0; cap < ARRAY_SIZE(capabilities); cap++) {
		if (!(set >> cap & 1))
			continue;
		(void)fprintf(file, "%s%s", blank, capabilities[cap]);
		blank = " ";
	}
}

TYPE(capabilities, .parse = capabilities_parse, .print = capabilities_print,
     .size = sizeof(uint64_t),
     .expected =
	     "all, none, or names from capabilities(7), each once, for example cap_net_bind_service");
