#pragma once

/* What an attached program reports of its guards (base/page.h), in words for people. */

#include <stddef.h>
#include <stdint.h>

#define ATTACH_WHY_MAX 256

struct attach_report {
	uint64_t oldest_usec;	  /* when the oldest was taken; USEC_INFINITY: there is none */
	char why[ATTACH_WHY_MAX]; /* "2 x web.c:41 serve, 1 x db.c:7 query"; may be empty */
};

/* Parses what follows the first line of the message.  Return: 0, or -EBADMSG without effect. */
int attach_report_parse(const char *text, size_t n, struct attach_report *ret);
