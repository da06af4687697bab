#pragma once

/*
 * The objects of varlink, which are sent in frames (proto/frame.h):
 *
 *	{"method": "io.swansong.Status", "parameters": {}, "more": true, "oneway": true}
 *	{"parameters": {}, "continues": true}
 *	{"error": "io.swansong.NoSuchNode", "parameters": {"node": "web"}}
 *
 * Texts are NUL-terminated.  Members unknown to varlink are ignored; duplicate members are refused
 * in a call.  proto/interface.h checks the parameters of a method.
 */

#include <jansson.h>

#include "base/std.h"

#define MESSAGE_CALL_MAX (64 * 1024) /* bytes of the longest call, with the NUL */

/* Everything belongs to @root. */
struct message_call {
	json_t *root;
	const char *method; /* "INTERFACE.METHOD", neither part empty */
	json_t *parameters; /* an object, never NULL */
	bool more, oneway, upgrade;
};

/*
 * Return: 0; -EBADMSG: not a call, or out of memory in the parser: varlink then drops the
 * connection; -ENOMEM.
 */
int message_parse_call(const char *text, struct message_call *ret);
void message_call_done(struct message_call *call);

struct message_reply {
	json_t *root;
	const char *error;  /* "INTERFACE.ERROR", or NULL */
	json_t *parameters; /* an object, never NULL */
	bool continues;
};

/* Return: 0; -EBADMSG: not a reply; -ENOMEM. */
int message_parse_reply(const char *text, struct message_reply *ret);
void message_reply_done(struct message_reply *reply);

/*
 * Builders.  The reference to @parameters is taken in any case; NULL means a failed allocation, so
 * that calls may be nested.  On success, *ret is to be freed by free().
 *
 * Return: 0 or -ENOMEM.
 */
enum message_flag { MESSAGE_MORE = 1 << 0, MESSAGE_ONEWAY = 1 << 1 };
int message_build_call(char **ret, const char *method, json_t *parameters, unsigned flags);

enum message_reply_flag { MESSAGE_CONTINUES = 1 << 0 };
int message_build_reply(char **ret, json_t *parameters, unsigned flags);
int message_build_error(char **ret, const char *error, json_t *parameters);

/*
 * Creates a JSON string from any bytes (command lines, status texts): invalid UTF-8 becomes U+FFFD,
 * while json_string() would fail.  Returns NULL if out of memory.
 */
json_t *message_string(const char *text);

/* Creates a number; returns NULL for FIELD_NONE, an optional member without a value. */
json_t *message_number(uint64_t number);

/* A member that proto/interface.h has checked; @missing if it is absent or null. */
const char *message_get_string(const json_t *parameters, const char *name, const char *missing);
const char *message_get_text(const json_t *parameters, const char *name); /* @missing: "" */
bool message_get_bool(const json_t *parameters, const char *name, bool missing);

/* Returns true if @path is one of the @paths, or below one. */
bool message_has_within(const json_t *paths, const char *path);
uint64_t message_get_number(const json_t *parameters, const char *name, uint64_t missing);
