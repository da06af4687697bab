/* The response takes ownership of the text. */
#include "exporter/http/reply.h"

#include "proto/message.h"

struct MHD_Response *reply_text(char *text, const char *type)
{
	struct MHD_Response *response =
		text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE)
		     : NULL;

	if (response)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	else
		free(text);
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
