/*
 * A report is one line for each place of the program with guards: the number of guards, the time of
 * the oldest, and the place with its reason.  All of it is checked before any of it is used.
 */
#include "daemon/guard/attach-report.h"

#include "base/page.h"

#define PLACE_MAX 96 /* bytes of a place that are shown */
#define MORE	  ", ..."

struct line {
	uint64_t guards, since_usec;
	const char *place;
};

/* Returns the next field of @at, which ends with a space, or NULL. */
static char *attach_report_next_word(char **at)
{
	char *word = *at, *end = strchr(word, ' ');

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return word;
}

/* Parses a line such as "3 812345678 web.c:41 serve". */
static int attach_report_parse_line(char *text, struct line *ret)
{
	const char *guards = attach_report_next_word(&text);
	const char *since = guards ? attach_report_next_word(&text) : NULL;

	if (!since || parse_uint(guards, INT32_MAX, &ret->guards) < 0 ||
	    parse_uint(since, UINT64_MAX, &ret->since_usec) < 0)
		return -EBADMSG;
	ret->place = text;
	return 0;
}

/*
 * Returns false if @why is full; there always is room for the mark.  Control characters stay: the code that shows
 * the text escapes them.
 */
static bool attach_report_add_place(char why[static ATTACH_WHY_MAX], const struct line *line,
				    bool count)
{
	char place[PLACE_MAX], number[24] = "", text[PLACE_MAX + sizeof(number) + 2];
	size_t used = strlen(why);

	if (count)
		(void)snprintf(number, sizeof(number), "%" PRIu64 " x ", line->guards);
	(void)snprintf(text, sizeof(text), "%s%s%s", used ? ", " : "", number,
		       text_cut(place, sizeof(place), line->place));
	if (used + strlen(text) + sizeof(MORE) > ATTACH_WHY_MAX) {
		memcpy(why + used, MORE, sizeof(MORE));
		return false;
	}
	memcpy(why + used, text, strlen(text) + 1);
	return true;
}

int attach_report_parse(const char *text, size_t n, struct attach_report *ret)
{
	struct attach_report report = { .oldest_usec = USEC_INFINITY };
	char copy[PAGE_MESSAGE_MAX + 1], *at = copy, *end;
	bool room = true;
	size_t lines = 0;
	struct line line;

	if (n > PAGE_MESSAGE_MAX || memchr(text, '\0', n))
		return -EBADMSG;
	memcpy(copy, text, n);
	copy[n] = '\0';
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	for (; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (attach_report_parse_line(at, &line) < 0)
			return -EBADMSG;
		if (line.guards == 0)
			continue;
		report.oldest_usec = MIN(report.oldest_usec, line.since_usec);
		room = room && attach_report_add_place(report.why, &line, lines != 1);
	}
	if (*at)
		return -EBADMSG;
	*ret = report;
	return 0;
}
