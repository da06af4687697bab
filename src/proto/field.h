#pragma once

/*
 * What members an object of the interface has, as a table: calls are checked, and types written and
 * read, by walking over one.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/writer.h"

enum field_type {
	FIELD_STRING,  /* const char *; NULL if missing */
	FIELD_ENUM,    /* likewise, one of @values; as constant as they are */
	FIELD_CHOICE,  /* an enum: the index of one of @values; 0 if missing */
	FIELD_INT,     /* uint64_t; FIELD_NONE if missing */
	FIELD_SIGNED,  /* int64_t; never optional */
	FIELD_BOOL,    /* bool; false if missing */
	FIELD_STRINGS, /* json_t *: an array of strings; empty if NULL */
	FIELD_OBJECT,  /* json_t *; NULL if missing */
};

#define FIELD_NONE UINT64_MAX

struct field {
	const char *name;
	enum field_type type;
	bool optional;		   /* may be missing or null: "?" in the interface */
	const char *const *values; /* FIELD_ENUM, FIELD_CHOICE: NULL-terminated */
	size_t offset; /* of the C member of that type, for field_read() and field_write() */
};

/* The field of the same name as a member of struct @of; and what else there is to say of it. */
#define FIELD(of, kind, member, ...)                                                              \
	{                                                                                         \
		.name = #member, .type = kind, .offset = offsetof(struct of, member), __VA_ARGS__ \
	}

/* With FIELD_STRICT, members that are not in the table are a mistake, else they are ignored. */
enum field_flag { FIELD_STRICT = 1 << 0 };

/* The name of the first member of @object that is not as the table says, or NULL. */
const char *field_check(const json_t *object, const struct field *fields, size_t n, unsigned flags);

/*
 * Checks likewise and reads, at most FIELDS_MAX fields; strings and arrays are borrowed from
 * @object.  With a mistake, part of @to may have been written.
 */
#define FIELDS_MAX 32
const char *field_read(const json_t *object, const struct field *fields, size_t n, void *to);

/* Likewise one field, from its value; NULL is a missing one.  Return: is it as the table says? */
bool field_read_value(const struct field *field, json_t *value, void *to);

/*
 * A new object.  Optional members without a value are left out.  Strings need not be UTF-8, and
 * numbers beyond INT64_MAX become that.  NULL without memory.
 */
json_t *field_write(const struct field *fields, size_t n, const void *from);

/* The same members as text, without the braces around them. */
void field_append(struct writer *to, const struct field *fields, size_t n, const void *from);

/* The value of one, which is null if it is left out there; @member is the C member. */
void field_append_value(struct writer *to, const struct field *field, const void *member);
