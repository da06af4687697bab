/*
 * The names and parameters of methods are those of proto/interface/methods.h.  All checks of a call follow from
 * them, so that methods never see an invalid call.
 */
#include "proto/interface.h"

#define VARLINK_NAME "org.varlink.service"

#include <proto/interface/varlink.inc>

#define PARAMETER(field, kind, ...)                                 \
	{                                                           \
		.name = #field, .type = FIELD_##kind, ##__VA_ARGS__ \
	}
#define REQUIRED(kind, field)	  PARAMETER(field, kind)
#define OPTIONAL(kind, field)	  PARAMETER(field, kind, .optional = true)
#define REQUIRED_ENUM(field, ...) PARAMETER(field, ENUM, FIELD_VALUES(__VA_ARGS__))
#define OPTIONAL_ENUM(field, ...) \
	PARAMETER(field, ENUM, .optional = true, FIELD_VALUES(__VA_ARGS__))

static const struct {
	const char *qualified;
	size_t n_fields;
	struct field fields[10];
} methods[] = {
#define METHOD(id, name, tier, whole, call, update, help, reply, ...)                     \
	[METHOD_##id] = { INTERFACE_NAME "." name,                                        \
			  sizeof((struct field[]){ __VA_ARGS__ }) / sizeof(struct field), \
			  { __VA_ARGS__ } },
#include "proto/interface/methods.h"
};

static const struct {
	const char *qualified;
	bool node, reason;
} errors[N_ERRORS] = {
	[ERROR_NO_SUCH_NODE] = { INTERFACE_NAME ".NoSuchNode", true, false },
	[ERROR_NODE_STOPPED] = { INTERFACE_NAME ".NodeStopped", true, false },
	[ERROR_NOT_PERMITTED] = { INTERFACE_NAME ".NotPermitted", false, true },
	[ERROR_FAILED] = { INTERFACE_NAME ".Failed", true, true },
	[ERROR_TOO_MANY] = { INTERFACE_NAME ".TooMany", false, true },
};

const char *interface_method_name(enum interface_method method)
{
	return methods[method].qualified;
}

size_t interface_method_fields(enum interface_method method, const struct field **ret)
{
	*ret = methods[method].fields;
	return methods[method].n_fields;
}

/* Builds an error of varlink; each has one string. */
static int interface_refuse(char **ret, const char *error, const char *member, const char *value)
{
	return message_build_error(ret, error, json_pack("{s:o}", member, message_string(value)));
}

static int interface_refuse_parameter(char **ret, const char *name)
{
	return interface_refuse(ret, VARLINK_NAME ".InvalidParameter", "parameter", name);
}

static int interface_reply_description(char **ret, const json_t *parameters)
{
	static const struct field fields[] = { REQUIRED(STRING, interface) };
	const char *fault = field_check(parameters, fields, ARRAY_SIZE(fields));
	const char *name = message_get_text(parameters, "interface");
	const char *text;

	if (fault)
		return interface_refuse_parameter(ret, fault);
	if (strcmp(name, INTERFACE_NAME) == 0)
		text = interface_text;
	else if (strcmp(name, VARLINK_NAME) == 0)
		text = varlink;
	else
		return interface_refuse(ret, VARLINK_NAME ".InterfaceNotFound", "interface", name);
	return message_build_reply(ret, json_pack("{s:s}", "description", text), 0);
}

static bool interface_is_call_of(const struct message_call *call, const char *interface)
{
	size_t length = strlen(interface);

	return strncmp(call->method, interface, length) == 0 &&
	       strrchr(call->method, '.') == call->method + length;
}

/* Replies to a call that is refused, as of an unknown method; *ret stays NULL for any other one. */
static int interface_reply(const struct message_call *call, enum interface_method method,
			   char **ret)
{
	if (call->upgrade)
		return interface_refuse_parameter(ret, "upgrade");
	if (strcmp(call->method, VARLINK_NAME ".GetInfo") == 0)
		return message_build_reply(ret,
					   json_pack("{s:s, s:s, s:s, s:s, s:[s, s]}", "vendor",
						     "Swansong", "product", "swansongd", "version",
						     PACKAGE_VERSION, "url", PACKAGE_URL,
						     "interfaces", VARLINK_NAME, INTERFACE_NAME),
					   0);
	if (strcmp(call->method, VARLINK_NAME ".GetInterfaceDescription") == 0)
		return interface_reply_description(ret, call->parameters);
	if (!interface_is_call_of(call, VARLINK_NAME) &&
	    !interface_is_call_of(call, INTERFACE_NAME)) {
		cleanup(freep) char *name =
			strndup(call->method, (size_t)(strrchr(call->method, '.') - call->method));

		return name ? interface_refuse(ret, VARLINK_NAME ".InterfaceNotFound", "interface",
					       name)
			    : -ENOMEM;
	}
	if (method == N_METHODS)
		return interface_refuse(ret, VARLINK_NAME ".MethodNotFound", "method",
					call->method);

	const char *fault =
		field_check(call->parameters, methods[method].fields, methods[method].n_fields);

	return fault ? interface_refuse_parameter(ret, fault) : 0;
}

int interface_dispatch(const struct message_call *call, enum interface_method *ret,
		       char **ret_answer)
{
	enum interface_method method = 0;
	cleanup(freep) char *text = NULL;
	int r;

	while (method < N_METHODS && strcmp(call->method, methods[method].qualified) != 0)
		method++;
	r = interface_reply(call, method, &text);
	if (r < 0)
		return r;
	if (!text) {
		*ret = method;
		return 0;
	}
	*ret_answer = call->oneway ? NULL : take(text);
	return 1;
}

const char *interface_error_name(enum interface_error error)
{
	return errors[error].qualified;
}

int interface_error_find(const char *name, enum interface_error *ret)
{
	for (enum interface_error e = 0; e < N_ERRORS; e++) {
		if (strcmp(name, errors[e].qualified) != 0)
			continue;
		*ret = e;
		return 0;
	}
	return -ENOENT;
}

int interface_build_error(char **ret, enum interface_error error, const char *node,
			  const char *reason, json_t *more)
{
	json_t *parameters = more ? more : json_object();

	if ((errors[error].node &&
	     json_object_set_new(parameters, "node", message_string(node ? node : "")) < 0) ||
	    (errors[error].reason &&
	     json_object_set_new(parameters, "reason", message_string(reason ? reason : "")) < 0)) {
		json_decref(parameters);
		return -ENOMEM;
	}
	return message_build_error(ret, errors[error].qualified, parameters);
}
