#include "model/kinds.h"

#include <inttypes.h>
#include <string.h>

#include "base/attributes.h"
#include "model/process-names.h"
#include "model/settings.h"

/* What a process runs as; see base/attributes.h for what stands for a value that is not set. */

#define KIND(name) const struct kind kind_##name = { .equal = name##_equal, .print = name##_print }

static bool rlimit_equal(const void *a, const void *b)
{
	const struct rlimit *x = a, *y = b;

	return x->rlim_cur == y->rlim_cur && x->rlim_max == y->rlim_max;
}

static void print_limit(FILE *file, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		(void)fputs("infinity", file);
	else
		(void)fprintf(file, "%ju", (uintmax_t)limit);
}

static void rlimit_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct rlimit *limit = value;

	(void)kind;
	if (!limit_is_set(limit))
		return;
	print_limit(file, limit->rlim_cur);
	if (limit->rlim_cur == limit->rlim_max)
		return;
	(void)fputc(':', file);
	print_limit(file, limit->rlim_max);
}
KIND(rlimit);

static bool number_equal(const void *a, const void *b)
{
	return *(const int *)a == *(const int *)b;
}

static void number_print(FILE *file, const void *value, const struct kind *kind)
{
	int number = *(const int *)value;

	(void)kind;
	if (number != ATTRIBUTE_KEEP)
		(void)fprintf(file, "%d", number);
}
KIND(number);

static void flag_print(FILE *file, const void *value, const struct kind *kind)
{
	(void)kind;
	(void)fputs(*(const int *)value ? "yes" : "no", file);
}
const struct kind kind_flag = { .equal = number_equal, .print = flag_print };

static void io_class_print(FILE *file, const void *value, const struct kind *kind)
{
	int priority = *(const int *)value;

	(void)kind;
	if (priority == ATTRIBUTE_KEEP)
		return;

	int class = IOPRIO_PRIO_CLASS(priority);

	(void)fputs(io_class_names[class], file);
	if (class == IOPRIO_CLASS_RT || class == IOPRIO_CLASS_BE)
		(void)fprintf(file, ":%d", (int)IOPRIO_PRIO_DATA(priority));
}
const struct kind kind_io_class = { .equal = number_equal, .print = io_class_print };

static bool cpus_equal(const void *a, const void *b)
{
	return CPU_EQUAL((const cpu_set_t *)a, (const cpu_set_t *)b);
}

static void cpus_print(FILE *file, const void *value, const struct kind *kind)
{
	const cpu_set_t *cpus = value;
	const char *comma = "";

	(void)kind;
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
KIND(cpus);

static bool capabilities_equal(const void *a, const void *b)
{
	return *(const uint64_t *)a == *(const uint64_t *)b;
}

static void capabilities_print(FILE *file, const void *value, const struct kind *kind)
{
	uint64_t set = *(const uint64_t *)value;
	const char *blank = "";

	(void)kind;
	if (set == CAPABILITIES_KEEP || set == 0) {
		(void)fputs(set ? "all" : "none", file);
		return;
	}
	for (int cap = 0; cap < N_CAPABILITIES; cap++) {
		if (!(set >> cap & 1))
			continue;
		(void)fprintf(file, "%s%s", blank, capability_names[cap]);
		blank = " ";
	}
}
KIND(capabilities);

static bool groups_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	if (x->set_groups != y->set_groups || x->n_groups != y->n_groups)
		return false;
	return x->n_groups == 0 ||
	       memcmp(x->groups, y->groups, x->n_groups * sizeof(*x->groups)) == 0;
}

static void groups_print(FILE *file, const void *value, const struct kind *kind)
{
	const struct credentials *who = value;

	(void)kind;
	if (who->set_groups && who->n_groups == 0)
		(void)fputs("none", file);
	for (size_t i = 0; i < who->n_groups; i++)
		(void)fprintf(file, "%s%u", i ? " " : "", (unsigned)who->groups[i]);
}
KIND(groups);
