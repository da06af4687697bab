#pragma once

/* So much of HTTP/1.1 as it takes to ask whether a server is well. */

#include <stddef.h>

/* The first bytes of an answer that tell: "HTTP/1.1 200 ". */
#define HTTP_STATUS_LENGTH 13

/*
 * A request for "HOST:PORT/PATH"; free() releases it.
 *
 * Return: 0 or -ENOMEM.
 */
int http_request(const char *url, char **ret, size_t *ret_length);

/*
 * The status of the answer that begins with the @length bytes of @text.
 *
 * Return: 100 to 599; -EAGAIN if that is not all of it yet; -EBADMSG if it is none of HTTP/1.
 */
int http_status(const char *text, size_t length);
