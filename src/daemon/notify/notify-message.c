/*
 * A table has all lines of the protocol: those with a fixed value, and those with a function that
 * reads the value into struct notify_message.  Anything else in a message is passed over.
 */
#include "daemon/notify/notify-message.h"

#define ERRNO_MAX 4095 /* of the kernel */

/* --- values: each function writes a member, or returns false if the value is invalid --- */

static bool notify_read_status(const char *value, void *status)
{
	/* Bytes that are no UTF-8 stay: the code that shows the text replaces them. */
	text_cut(status, NOTIFY_STATUS_MAX, value);
	return true;
}

static bool notify_read_errno(const char *value, void *error)
{
	uint64_t number;

	if (parse_uint(value, ERRNO_MAX, &number) < 0)
		return false;
	*(int *)error = (int)number;
	return true;
}

static bool notify_read_pid(const char *value, void *pid)
{
	uint64_t number;

	if (parse_uint(value, INT_MAX, &number) < 0 || number == 0)
		return false;
	*(pid_t *)pid = (pid_t)number;
	return true;
}

static bool notify_read_usec(const char *value, void *usec)
{
	return parse_uint(value, UINT64_MAX, usec) == 0;
}

static bool notify_read_fdname(const char *value, void *fdname)
{
	if (!fdname_is_good(value))
		return false;
	memcpy(fdname, value, strlen(value) + 1);
	return true;
}

/* A name is shown whole and has no control characters. */
static bool notify_is_guard_name(const char *value)
{
	size_t length = strlen(value);

	if (length > NOTIFY_GUARD_MAX)
		return false;
	for (size_t i = 0, n; i < length; i += n) {
		n = text_character(value + i);
		if (n == 0 || (unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	}
	return true;
}

static bool notify_read_guard(const char *value, void *guard)
{
	(void)snprintf(guard, NOTIFY_GUARD_MAX + 1, "%s", notify_is_guard_name(value) ? value : "");
	return true;
}

/* --- lines: with @value only that value, else a value that @read accepts --- */

#define MEMBER(name) offsetof(struct notify_message, name)

static const struct {
	const char *name, *value;
	bool (*read)(const char *value, void *member);
	enum notify_flag flag;
	size_t member; /* its offset */
} lines[] = {
	{ "READY", "1", NULL, NOTIFY_READY },
	{ "RELOADING", "1", NULL, NOTIFY_RELOADING },
	{ "STOPPING", "1", NULL, NOTIFY_STOPPING },
	{ "STATUS", NULL, notify_read_status, NOTIFY_STATUS, MEMBER(status) },
	{ "ERRNO", NULL, notify_read_errno, NOTIFY_ERRNO, MEMBER(error) },
	{ "MAINPID", NULL, notify_read_pid, NOTIFY_MAINPID, MEMBER(main_pid) },
	{ "WATCHDOG", "1", NULL, NOTIFY_WATCHDOG },
	{ "WATCHDOG", "trigger", NULL, NOTIFY_WATCHDOG_TRIGGER },
	{ "WATCHDOG_USEC", NULL, notify_read_usec, NOTIFY_WATCHDOG_USEC, MEMBER(watchdog_usec) },
	{ "EXTEND_TIMEOUT_USEC", NULL, notify_read_usec, NOTIFY_EXTEND, MEMBER(extend_usec) },
	{ "MONOTONIC_USEC", NULL, notify_read_usec, NOTIFY_MONOTONIC, MEMBER(monotonic_usec) },
	{ "FDSTORE", "1", NULL, NOTIFY_FDSTORE },
	{ "FDSTOREREMOVE", "1", NULL, NOTIFY_FDSTORE_REMOVE },
	{ "FDNAME", NULL, notify_read_fdname, NOTIFY_FDNAME, MEMBER(fdname) },
	{ "FDPOLL", "0", NULL, NOTIFY_FDPOLL_OFF },
	{ "BARRIER", "1", NULL, NOTIFY_BARRIER },
	{ "X_SWANSONG_GUARD", NULL, notify_read_guard, NOTIFY_GUARD, MEMBER(guard) },
};

int notify_parse(const char *text, size_t size, struct notify_message *ret)
{
	struct notify_message message = { 0 };
	char copy[NOTIFY_MESSAGE_MAX + 1];
	char *rest = copy, *line;

	if (size > 0 && text[size - 1] == '\0')
		size--;
	if (size == 0 || size > NOTIFY_MESSAGE_MAX || memchr(text, '\0', size))
		return -EBADMSG;
	memcpy(copy, text, size);
	copy[size] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');

		if (value) {
			*value++ = '\0';
			for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
				if (strcmp(line, lines[i].name) != 0)
					continue;
				if (lines[i].value ? strcmp(value, lines[i].value) == 0
						   : lines[i].read(value, (char *)&message +
										  lines[i].member))
					message.flags |= lines[i].flag;
			}
		}
	}
	*ret = message;
	return 0;
}
