/* The text belongs to its response. */
#include "exporter/http/reply.h"

#include <stdlib.h>
#include <string.h>

#include "proto/message.h"

struct MHD_Response *reply_text(char *text, const char *type)
{
	struct MHD_Response *response = NULL;

	if (text)
		response =
			MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (text && !response)
		free(text);
	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

struct MHD_Response *reply_json(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	return reply_text(text, "application/json");
}

struct MHD_Response *reply_error(unsigned *ret_status, unsigned status, const char *reason)
{
	*ret_status = status;
	return reply_json(json_pack("{s:o}", "error", message_string(reason)));
}
