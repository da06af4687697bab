#pragma once

/*
 * Requests that a page of another site makes in a browser: its name may resolve to the address of
 * the exporter (DNS rebinding), so the names that the exporter is called by are checked.
 */

#include "base/std.h"

#define ACCESS_HOSTS_MAX 16

struct access {
	const char *hosts[ACCESS_HOSTS_MAX]; /* names that are allowed besides */
	size_t n;
};

/*
 * Returns true if the header Host, with or without a port, is an address, localhost, or an allowed
 * name; or if it is NULL, as no browser omits it (and HTTP/1.0 needs none).
 */
bool access_allows_host(const struct access *access, const char *host);

/* Returns true if the header Origin, if there is one, is that of the header Host. */
bool access_allows_origin(const char *origin, const char *host);

/*
 * Returns false for requests of pages of other sites without the header Origin, as for an image, by
 * Sec-Fetch-Site and Sec-Fetch-Mode; a link to this site may be followed.
 */
bool access_allows_fetch(const char *site, const char *mode);
