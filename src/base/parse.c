/*
 * Each parser reads digits or a name, then compares the remaining text with the exact end that it
 * expects.  Words are split in one pass into an allocation that is large enough for any split of
 * the text: the array of pointers, then the bytes.
 */
#include "base/parse.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"

int parse_digits(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	if (p == *text)
		return -EINVAL;
	*text = p;
	*ret = value;
	return 0;
}

int parse_uint(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value;
	int r = parse_digits(&text, &value);

	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_mode(const char *text, unsigned *ret)
{
	unsigned long value;

	if (!*text || text[strspn(text, "01234567")])
		return -EINVAL;
	value = strtoul(text, NULL, 8);
	if (value > 07777)
		return -ERANGE;
	*ret = (unsigned)value;
	return 0;
}

int parse_bool(const char *text, bool *ret)
{
	static const char *const names[] = {
		"no", "yes", "false", "true", "off", "on", "0", "1", NULL,
	};
	size_t i = text_index_of(text, names);

	if (!names[i])
		return -EINVAL;
	*ret = i % 2;
	return 0;
}

int parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift = 0;
	uint64_t value;
	int r = parse_digits(&text, &value);

	if (r < 0)
		return r;
	if (*text) {
		unit = strchr(units, *text);
		if (!unit || text[1])
			return -EINVAL;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*ret = value << shift;
	return 0;
}

static const struct {
	const char *suffix;
	uint64_t usec;
} units[] = {
	{ "ms", USEC_PER_MSEC },      { "s", USEC_PER_SEC },	     { "min", 60 * USEC_PER_SEC },
	{ "h", 3600 * USEC_PER_SEC }, { "d", 86400 * USEC_PER_SEC },
};

int parse_duration(const char *text, uint64_t *ret_usec)
{
	uint64_t value;
	int r;

	if (strcmp(text, "infinity") == 0) {
		*ret_usec = USEC_INFINITY;
		return 0;
	}
	r = parse_digits(&text, &value);
	if (r < 0)
		return r;
	if (!*text && value == 0) {
		*ret_usec = 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text, units[i].suffix) != 0)
			continue;
		if (value >= USEC_INFINITY / units[i].usec)
			return -ERANGE;
		*ret_usec = value * units[i].usec;
		return 0;
	}
	return -EINVAL;
}

char *parse_duration_text(char buf[static DURATION_TEXT_MAX], uint64_t usec)
{
	size_t i = ARRAY_SIZE(units) - 1;

	while (i > 0 && usec % units[i].usec != 0)
		i--;
	if (usec == USEC_INFINITY || usec == 0)
		(void)snprintf(buf, DURATION_TEXT_MAX, "%s", usec ? "infinity" : "0");
	else
		(void)snprintf(buf, DURATION_TEXT_MAX, "%" PRIu64 "%s", usec / units[i].usec,
			       units[i].suffix);
	return buf;
}

/* A time without a day is of today; missing parts after a day are 0. */
static const char *const parse_time_formats[] = {
	"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
	"%Y-%m-%d",	     "%H:%M:%S",	  "%H:%M",
};

/* Return: the text after the time; NULL: it is no time. */
static const char *parse_broken_down(const char *text, const struct tm *today, struct tm *ret)
{
	const char *end;

	for (size_t i = 0; i < ARRAY_SIZE(parse_time_formats); i++) {
		*ret = *today;
		ret->tm_hour = ret->tm_min = ret->tm_sec = 0;
		ret->tm_isdst = -1;
		end = strptime(text, parse_time_formats[i], ret);
		if (end && (*end == '\0' || *end == 'Z' || *end == '+' || *end == '-'))
			return end;
	}
	return NULL;
}

int parse_time(const char *text, uint64_t now_usec, uint64_t *ret_usec)
{
	const time_t now = (time_t)(now_usec / USEC_PER_SEC);
	struct tm today, tm, zone = { .tm_sec = 0 };
	uint64_t ago;
	const char *end;
	time_t t;

	if (parse_duration(text, &ago) == 0) {
		*ret_usec = now_usec - MIN(ago, now_usec);
		return 0;
	}
	end = localtime_r(&now, &today) ? parse_broken_down(text, &today, &tm) : NULL;
	if (!end)
		return -EINVAL;
	if (*end == '\0') {
		t = mktime(&tm);
	} else {
		end = strptime(end, "%z", &zone);
		if (!end || *end)
			return -EINVAL;
		t = timegm(&tm) - zone.tm_gmtoff;
	}
	if (t < 0)
		return -ERANGE;
	*ret_usec = (uint64_t)t * USEC_PER_SEC;
	return 0;
}

/*
 * C libraries reserve different real-time signals.  In text, "SIGRTMIN" always is the 34 of glibc,
 * so that its meaning does not depend on the reader.
 */
#define REALTIME_MIN 34
#define REALTIME_MAX 64

/* sigabbrev_np(3) is not in every C library. */
static const char *parse_signal_name(int signo)
{
	static const char *const names[] = {
		[SIGHUP] = "HUP",	[SIGINT] = "INT",	[SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",	[SIGTRAP] = "TRAP",	[SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",	[SIGFPE] = "FPE",	[SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",	[SIGSEGV] = "SEGV",	[SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",	[SIGALRM] = "ALRM",	[SIGTERM] = "TERM",
		[SIGCHLD] = "CHLD",	[SIGCONT] = "CONT",	[SIGSTOP] = "STOP",
		[SIGTSTP] = "TSTP",	[SIGTTIN] = "TTIN",	[SIGTTOU] = "TTOU",
		[SIGURG] = "URG",	[SIGXCPU] = "XCPU",	[SIGXFSZ] = "XFSZ",
		[SIGPROF] = "PROF",	[SIGVTALRM] = "VTALRM", [SIGWINCH] = "WINCH",
		[SIGPOLL] = "POLL",	[SIGPWR] = "PWR",	[SIGSYS] = "SYS",
#ifdef SIGSTKFLT /* not on every machine */
		[SIGSTKFLT] = "STKFLT",
#endif
	};

	return signo > 0 && signo < (int)ARRAY_SIZE(names) ? names[signo] : NULL;
}

/* "RTMIN", "RTMIN+3", "RTMAX-1": @text is the part after "RT". */
static int parse_realtime(const char *text, int *ret)
{
	int base = strncmp(text, "MIN", 3) == 0 ? REALTIME_MIN : REALTIME_MAX;
	char sign = base == REALTIME_MIN ? '+' : '-';
	uint64_t offset = 0;

	if (strncmp(text, "MIN", 3) != 0 && strncmp(text, "MAX", 3) != 0)
		return -EINVAL;
	if (text[3]) {
		if (text[3] != sign)
			return -EINVAL;

		int r = parse_uint(text + 4, REALTIME_MAX - REALTIME_MIN, &offset);

		if (r < 0)
			return r;
	}
	*ret = sign == '+' ? base + (int)offset : base - (int)offset;
	return 0;
}

int parse_signal(const char *text, int *ret)
{
	uint64_t number;
	int r = parse_uint(text, REALTIME_MAX, &number);

	if (r == -ERANGE)
		return r;
	if (r == 0) {
		if (number == 0)
			return -ERANGE;
		*ret = (int)number;
		return 0;
	}
	if (strncmp(text, "SIG", 3) == 0)
		text += 3;
	if (strncmp(text, "RT", 2) == 0)
		return parse_realtime(text + 2, ret);
	for (int i = 1; i < REALTIME_MIN; i++) {
		const char *name = parse_signal_name(i);

		if (!name || strcmp(text, name) != 0)
			continue;
		*ret = i;
		return 0;
	}
	return -EINVAL;
}

char *parse_signal_text(char buf[static SIGNAL_TEXT_MAX], int signo)
{
	const char *name = parse_signal_name(signo);

	if (name)
		(void)snprintf(buf, SIGNAL_TEXT_MAX, "SIG%s", name);
	else if (signo == REALTIME_MIN)
		(void)snprintf(buf, SIGNAL_TEXT_MAX, "SIGRTMIN");
	else if (signo > REALTIME_MIN && signo <= REALTIME_MAX)
		(void)snprintf(buf, SIGNAL_TEXT_MAX, "SIGRTMIN+%d", signo - REALTIME_MIN);
	else
		(void)snprintf(buf, SIGNAL_TEXT_MAX, "signal %d", signo);
	return buf;
}

#define BLANKS " \t\r\n"

enum quote { QUOTE_NONE, QUOTE_SINGLE, QUOTE_DOUBLE };

/* Copies one word up to one of @ends from *text to *out, ends it with a NUL, and moves both on. */
static int parse_word(const char **text, char **out, const char *ends)
{
	enum quote quote = QUOTE_NONE;
	const char *p = *text;
	char *o = *out;

	for (; *p; p++) {
		if (quote == QUOTE_NONE && strchr(ends, *p))
			break;
		if (*p == '\'' && quote != QUOTE_DOUBLE) {
			quote = quote == QUOTE_SINGLE ? QUOTE_NONE : QUOTE_SINGLE;
			continue;
		}
		if (*p == '"' && quote != QUOTE_SINGLE) {
			quote = quote == QUOTE_DOUBLE ? QUOTE_NONE : QUOTE_DOUBLE;
			continue;
		}
		if (*p == '\\' && quote != QUOTE_SINGLE) {
			if (!p[1])
				return -EINVAL;
			if (quote == QUOTE_NONE || strchr("\"\\$`\n", p[1]))
				p++;
		}
		*o++ = *p;
	}
	if (quote != QUOTE_NONE)
		return -EINVAL;
	*o++ = '\0';
	*text = p;
	*out = o;
	return 0;
}

int parse_words(const char *text, char ***ret)
{
	size_t length = strlen(text);
	size_t slots = length / 2 + 2; /* a word has at least a byte and a blank; and the NULL */
	char **words = malloc(slots * sizeof(*words) + length + 1);
	char *out;
	int n = 0;

	if (!words)
		return -ENOMEM;
	out = (char *)(words + slots);
	for (;;) {
		text += strspn(text, BLANKS);
		if (!*text)
			break;
		words[n++] = out;

		int r = parse_word(&text, &out, BLANKS);

		if (r < 0) {
			free(words);
			return r;
		}
	}
	words[n] = NULL;
	*ret = words;
	return n;
}

int parse_unquote(const char *text, char *out)
{
	return parse_word(&text, &out, "");
}
