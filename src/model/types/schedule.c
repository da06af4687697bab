/*
 * A schedule is an interval or a calendar, and keeps the text that it was read from.  Schedules
 * are compared and printed by their texts; one that never comes is refused when it is read.
 */
#include "model/types/schedule.h"

#include "model/file/source.h"
#include "model/types/type.h"

/* The shortest interval: for more frequent work a service should stay up. */
#define INTERVAL_MIN (100 * USEC_PER_MSEC)

static int schedule_parse(struct value *value, void *field)
{
	size_t size = strlen(value->text) + 1;
	cleanup(freep) struct schedule *schedule = calloc(1, sizeof(*schedule) + size);
	struct schedule **ret = field;
	int r;

	if (!schedule)
		return -ENOMEM;
	(void)memcpy(schedule->text, value->text, size);
	if (parse_duration(value->text, &schedule->interval_usec) == 0) {
		if (schedule->interval_usec < INTERVAL_MIN)
			return value_refuse(value, "is shorter than 100ms");
		if (schedule->interval_usec == USEC_INFINITY)
			return value_refuse(value, "never comes");
	} else {
		schedule->interval_usec = 0;
		r = calendar_parse(value->text, &schedule->calendar);
		if (r < 0)
			return r == -ERANGE ? value_refuse(value, "never comes") : r;
	}
	free(*ret);
	*ret = take(schedule);
	return 0;
}

static bool schedule_equal(const void *a, const void *b)
{
	const struct schedule *const *left = a, *const *right = b;

	if (!*left || !*right)
		return *left == *right;
	return strcmp((*left)->text, (*right)->text) == 0;
}

static void schedule_print(FILE *file, const void *field)
{
	const struct schedule *const *schedule = field;

	if (*schedule)
		(void)fputs((*schedule)->text, file);
}

TYPE(schedule, .parse = schedule_parse, .equal = schedule_equal, .print = schedule_print,
     .size = sizeof(struct schedule *),
     .expected = "an interval such as 5min, a calendar such as daily 03:00 or Mon..Fri 08:30, "
		 "or the five fields of crontab(5)");

/* A file that is not found would count as UTC.  After a fault the files may be out of reach. */
static int timezone_parse(struct value *value, void *field)
{
	char path[sizeof(CALENDAR_ZONES) + CALENDAR_ZONE_MAX], magic[4];
	cleanup(closep) int fd = -1;

	if (*value->text == '/' || strstr(value->text, "..") || strlen(value->text) > CALENDAR_ZONE_MAX)
		return -EINVAL;
	(void)snprintf(path, sizeof(path), CALENDAR_ZONES "%s", value->text);
	if (!source_is_played(value->names->tape)) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (read(fd, magic, sizeof(magic)) != sizeof(magic) ||
		    memcmp(magic, "TZif", sizeof(magic)) != 0)
			return value_refuse(value, "no such time zone in " CALENDAR_ZONES);
	}
	return value_copy(value->text, field);
}

TYPE(timezone, .parse = timezone_parse, .equal = value_equal_text, .print = value_print_text,
     .expected = "the name of a time zone, for example Europe/Berlin");
