/*
 * Parsing and building use jansson, with strict options: no duplicate members in a call, and a
 * limit of depth.
 */
#include "proto/message.h"

/* jansson limits the depth (JSON_PARSER_MAX_DEPTH), and refuses invalid UTF-8. */
static int message_parse_object(const char *text, size_t flags, json_t **ret)
{
	json_error_t error;
	json_t *root = json_loads(text, flags, &error);

	if (!root)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	if (!json_is_object(root)) {
		json_decref(root);
		return -EBADMSG;
	}
	*ret = root;
	return 0;
}

static int message_parse_flag(const json_t *root, const char *name, bool *ret)
{
	json_t *value = json_object_get(root, name);

	if (value && !json_is_null(value) && !json_is_boolean(value))
		return -EBADMSG;
	*ret = json_is_true(value);
	return 0;
}

/* Missing parameters become an empty object. */
static int message_parse_parameters(json_t *root, json_t **ret)
{
	json_t *value = json_object_get(root, "parameters");

	if (!value || json_is_null(value)) {
		value = json_object();
		if (json_object_set_new(root, "parameters", value) < 0)
			return -ENOMEM;
	}
	if (!json_is_object(value))
		return -EBADMSG;
	*ret = value;
	return 0;
}

/* "INTERFACE.NAME" */
static bool message_is_qualified(const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL;

	return dot && dot > name && dot[1];
}

int message_parse_call(const char *text, struct message_call *ret)
{
	cleanup(json_decrefp) json_t *root = NULL;
	struct message_call call;
	int r;

	r = message_parse_object(text, JSON_REJECT_DUPLICATES, &root);
	if (r < 0)
		return r;
	call.method = json_string_value(json_object_get(root, "method"));
	if (!message_is_qualified(call.method))
		return -EBADMSG;
	r = message_parse_parameters(root, &call.parameters);
	if (r < 0)
		return r;
	if (message_parse_flag(root, "more", &call.more) < 0 ||
	    message_parse_flag(root, "oneway", &call.oneway) < 0 ||
	    message_parse_flag(root, "upgrade", &call.upgrade) < 0)
		return -EBADMSG;
	call.root = take(root);
	*ret = call;
	return 0;
}

void message_call_done(struct message_call *call)
{
	json_decref(call->root);
	*call = (struct message_call){};
}

int message_parse_reply(const char *text, struct message_reply *ret)
{
	cleanup(json_decrefp) json_t *root = NULL;
	struct message_reply reply = {};
	json_t *error;
	int r;

	r = message_parse_object(text, 0, &root);
	if (r < 0)
		return r;
	error = json_object_get(root, "error");
	if (error && !json_is_null(error)) {
		reply.error = json_string_value(error);
		if (!message_is_qualified(reply.error))
			return -EBADMSG;
	}
	r = message_parse_parameters(root, &reply.parameters);
	if (r < 0)
		return r;
	r = message_parse_flag(root, "continues", &reply.continues);
	if (r < 0)
		return r;
	reply.root = take(root);
	*ret = reply;
	return 0;
}

void message_reply_done(struct message_reply *reply)
{
	json_decref(reply->root);
	*reply = (struct message_reply){};
}

/* Takes the reference to @root, which is NULL if an allocation has failed: nothing else can. */
static int message_write(char **ret, json_t *root)
{
	*ret = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return *ret ? 0 : -ENOMEM;
}

static json_t *message_flag(unsigned set)
{
	return set ? json_true() : NULL;
}

int message_build_call(char **ret, const char *method, json_t *parameters, unsigned flags)
{
	return message_write(ret,
			     json_pack("{s:s, s:o, s:o*, s:o*}", "method", method, "parameters",
				       parameters, "more", message_flag(flags & MESSAGE_MORE),
				       "oneway", message_flag(flags & MESSAGE_ONEWAY)));
}

int message_build_reply(char **ret, json_t *parameters, unsigned flags)
{
	return message_write(ret, json_pack("{s:o, s:o*}", "parameters", parameters, "continues",
					    message_flag(flags & MESSAGE_CONTINUES)));
}

int message_build_error(char **ret, const char *error, json_t *parameters)
{
	return message_write(ret,
			     json_pack("{s:s, s:o}", "error", error, "parameters", parameters));
}

json_t *message_string(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t used = 0, length = strlen(text);
	cleanup(freep) char *out = NULL;
	json_t *string = json_stringn(text, length);

	if (string)
		return string;
	out = malloc(length * (sizeof(replacement) - 1) + 1);
	if (!out)
		return NULL;
	while (*text) {
		size_t n = text_character(text);
		size_t size = n ? n : sizeof(replacement) - 1;

		memcpy(out + used, n ? text : replacement, size);
		used += size;
		text += n ? n : 1;
	}
	return json_stringn(out, used);
}

json_t *message_number(uint64_t number)
{
	return number == UINT64_MAX ? NULL
				    : json_integer((json_int_t)MIN(number, (uint64_t)INT64_MAX));
}

const char *message_get_string(const json_t *parameters, const char *name, const char *missing)
{
	const char *value = json_string_value(json_object_get(parameters, name));

	return value ? value : missing;
}

const char *message_get_text(const json_t *parameters, const char *name)
{
	return message_get_string(parameters, name, "");
}

bool message_get_bool(const json_t *parameters, const char *name, bool missing)
{
	const json_t *value = json_object_get(parameters, name);

	return json_is_boolean(value) ? json_is_true(value) : missing;
}

bool message_has_within(const json_t *paths, const char *path)
{
	const json_t *top;
	size_t i;

	json_array_foreach (paths, i, top)
		if (text_is_within(path, json_string_value(top)))
			return true;
	return false;
}

uint64_t message_get_number(const json_t *parameters, const char *name, uint64_t missing)
{
	const json_t *value = json_object_get(parameters, name);

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : missing;
}
