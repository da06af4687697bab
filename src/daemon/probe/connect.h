#pragma once

/* A check by a connection, alone or with a request of HTTP/1.1. */

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_connect_ops, probe_http_ops;

/* The first bytes of a reply have the status: "HTTP/1.1 200 ". */
#define HTTP_STATUS_LENGTH 13

/* Makes a request for "HOST:PORT/PATH", which the caller frees.  Return: 0 or -ENOMEM. */
int http_request(const char *url, char **ret, size_t *ret_length);

/*
 * Returns the status, 100 to 599; -EAGAIN if the reply is incomplete; -EBADMSG if it is not HTTP/1.
 */
int http_status(const char *text, size_t length);
