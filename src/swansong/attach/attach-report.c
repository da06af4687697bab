/*
 * The message has a line for each site of a report (end/report.c).  It is read by the daemon, so a
 * text of the program cannot add a line, and a line that has no room is left out as a whole.
 */
#include "swansong/attach/attach-report-private.h"

#include "base/std.h"

#define HEADING "REPORT\n"

/* Adds the line of @site, or nothing if there is no room for it.  Returns its length. */
static size_t attach_report_write_site(const struct swansong_report_site *site, uint64_t now,
				       char *buf, size_t room)
{
	uint64_t since = now > site->oldest ? now - site->oldest : 0;
	char line[512];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %s:%u %s", site->guards,
			 since, site->file, site->line, site->function);

	if (n < 0)
		return 0;
	/* It stays one line; one that is too long is cut. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	n = snprintf(buf, room, "%s\n", line);
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

size_t attach_report(struct swansong *root, char buf[static PAGE_MESSAGE_MAX])
{
	size_t used = strlen(HEADING);
	struct swansong_report *report;
	uint64_t now;

	memcpy(buf, HEADING, used);
	if (report_new(root, &report) < 0)
		return used;
	now = clock_now_usec();
	for (size_t i = 0, n; i < report->n; i++, used += n) {
		n = attach_report_write_site(&report->sites[i], now, buf + used,
					     PAGE_MESSAGE_MAX - used);
		if (n == 0)
			break;
	}
	(void)swansong_report_free(report);
	return used;
}
