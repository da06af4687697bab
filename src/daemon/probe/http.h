#pragma once

/* So much of HTTP/1.1 as it takes to ask whether a server is well. */

#include <stddef.h>

#include "daemon/probe/attempt.h"

extern const struct probe_kind_ops probe_http_ops;

/* The first bytes of an answer that tell: "HTTP/1.1 200 ". */
#define HTTP_STATUS_LENGTH 13

/* A request for "HOST:PORT/PATH"; free() releases it.  Return: 0 or -ENOMEM. */
int http_request(const char *url, char **ret, size_t *ret_length);

/* Return: 100 to 599; -EAGAIN if the answer is incomplete; -EBADMSG if it is none of HTTP/1. */
int http_status(const char *text, size_t length);
