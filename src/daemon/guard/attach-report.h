#pragma once

/* The reports of attached programs about their guards (swansong/base/page.h), as text for users. */

#include "base/std.h"

#define ATTACH_WHY_MAX 256

struct attach_report {
	uint64_t oldest_usec;	  /* when the oldest guard was taken; USEC_INFINITY: there is none */
	char why[ATTACH_WHY_MAX]; /* "2 x web.c:41 serve, 1 x db.c:7 query"; may be empty */
};

/* Parses the message after its first line.  Return: 0, or -EBADMSG and *ret is unchanged. */
int attach_report_parse(const char *text, size_t n, struct attach_report *ret);
