#pragma once

/* Responses with a body of text.  NULL: out of memory. */

#include <jansson.h>
#include <microhttpd.h>

/* Takes @text, which may be NULL. */
struct MHD_Response *reply_text(char *text, const char *type);

/* Takes the reference to @object. */
struct MHD_Response *reply_json(json_t *object);

/* {"error": @reason}; *ret_status = @status */
struct MHD_Response *reply_error(unsigned *ret_status, unsigned status, const char *reason);
