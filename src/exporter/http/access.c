/*
 * The headers that are checked are set by the browser, and not by a page in it.  Other programs omit them,
 * and are allowed.
 */
#include "exporter/http/access.h"

#include <arpa/inet.h>
#include <strings.h>

#define NAME_MAX_BYTES 256
#define PORT_DIGITS    5

/* @text: what follows the name: nothing, or a colon and the port, which may be empty (RFC 9110). */
static bool access_is_port(const char *text)
{
	uint64_t port;

	if (!*text || strcmp(text, ":") == 0)
		return true;
	return *text == ':' && strlen(text + 1) <= PORT_DIGITS &&
	       parse_uint(text + 1, UINT16_MAX, &port) == 0;
}

/* Copies the name without the port and brackets.  Return: false if @host is none. */
static bool access_strip_port(const char *host, char name[static NAME_MAX_BYTES])
{
	bool bracket = *host == '[';
	size_t n = strcspn(host += bracket, bracket ? "]" : ":");

	if (n >= NAME_MAX_BYTES || (bracket && host[n] != ']') ||
	    !access_is_port(host + n + bracket))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return true;
}

bool access_allows_host(const struct access *access, const char *host)
{
	char name[NAME_MAX_BYTES];
	struct in6_addr address;

	if (!host)
		return true;
	if (!access_strip_port(host, name))
		return false;
	if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1 ||
	    strcasecmp(name, "localhost") == 0)
		return true;
	for (size_t i = 0; i < access->n; i++)
		if (strcasecmp(name, access->hosts[i]) == 0)
			return true;
	return false;
}

bool access_allows_origin(const char *origin, const char *host)
{
	static const char *const schemes[] = { "http://", "https://" };

	if (!origin)
		return true;
	for (size_t i = 0; host && i < 2; i++)
		if (strncasecmp(origin, schemes[i], strlen(schemes[i])) == 0 &&
		    strcasecmp(origin + strlen(schemes[i]), host) == 0)
			return true;
	return false;
}

bool access_allows_fetch(const char *site, const char *mode)
{
	if (!site || (strcmp(site, "cross-site") != 0 && strcmp(site, "same-site") != 0))
		return true;
	return mode && strcmp(mode, "navigate") == 0;
}
