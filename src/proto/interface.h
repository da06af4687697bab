#pragma once

/* The methods and errors of the interface io.swansong. */

#include "proto/field.h"
#include "proto/interface/interface-text.h"

#define INTERFACE_NAME "io.swansong"

enum interface_method {
#define METHOD(id, ...) METHOD_##id,
#include "proto/interface/methods.h"
	N_METHODS
};

/* "io.swansong.Status" */
const char *interface_method_name(enum interface_method method);

/* The table of the parameters.  Returns their number. */
size_t interface_method_fields(enum interface_method method, const struct field **ret);

/*
 * Finds the method of a call and checks its parameters.  Calls of org.varlink.service, and calls
 * with an error of varlink, get their reply here.
 *
 * Return: 0: carry *ret out, its parameters have the right types;
 *	   1: send *ret_answer, to be freed by free(); NULL: send nothing, the call wants no reply;
 *	   -ENOMEM.
 */
int interface_dispatch(const struct message_call *call, enum interface_method *ret,
		       char **ret_answer);

enum interface_error {
	ERROR_NO_SUCH_NODE,  /* node */
	ERROR_NODE_STOPPED,  /* node */
	ERROR_NOT_PERMITTED, /* reason */
	ERROR_FAILED,	     /* node, reason */
	ERROR_TOO_MANY,	     /* reason */
	N_ERRORS
};

/* "io.swansong.NoSuchNode" */
const char *interface_error_name(enum interface_error error);

/* Finds an error by its name.  Return: 0; -ENOENT: not an error of io.swansong. */
int interface_error_find(const char *name, enum interface_error *ret);

/*
 * Builds the message of an error; @node and @reason are NULL if the error does not have them.
 * Takes the reference to @more, an object with further members, or NULL.  Return: 0 or -ENOMEM.
 */
int interface_build_error(char **ret, enum interface_error error, const char *node,
			  const char *reason, json_t *more);
