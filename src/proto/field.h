#pragma once

/*
 * A table of the members of an object in the interface.  Calls are checked by the table, and
 * structs are written and read by it.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"

enum field_type {
	FIELD_STRING,  /* const char *; NULL if missing */
	FIELD_ENUM,    /* likewise, one of @values; as constant as they are */
	FIELD_CHOICE,  /* an enum: the index of one of @values; 0 if missing */
	FIELD_INT,     /* uint64_t; FIELD_NONE if missing */
	FIELD_SIGNED,  /* int64_t; never optional */
	FIELD_BOOL,    /* bool; false if missing, and missing if optional and false */
	FIELD_STRINGS, /* json_t *: an array of strings; empty if NULL */
	FIELD_STRUCT,  /* a struct of @table; always optional: bool @present is true if it is set */
};

#define FIELD_NONE UINT64_MAX

struct field {
	const char *name;
	enum field_type type;
	bool optional;		   /* may be missing or null: "?" in the interface */
	const char *const *values; /* FIELD_ENUM, FIELD_CHOICE: NULL-terminated */
	size_t offset; /* of the C member of that type, for field_read() and field_write() */
	const struct field_table *table; /* FIELD_STRUCT */
	size_t present;			 /* likewise: the offset of the bool */
};

/* All fields of a struct; at most FIELDS_MAX. */
struct field_table {
	const struct field *fields;
	size_t n;
	size_t size; /* of the struct */
};
#define FIELDS_MAX 32

/* The table of an array of fields of struct @of. */
#define FIELD_TABLE(of, array)                                                       \
	{                                                                            \
		.fields = (array), .n = ARRAY_SIZE(array), .size = sizeof(struct of) \
	}

/* The field for a member of struct @of with the same name; and further initialisers. */
#define FIELD(of, kind, member, ...)                                                              \
	{                                                                                         \
		.name = #member, .type = kind, .offset = offsetof(struct of, member), __VA_ARGS__ \
	}

/*
 * Returns the name of the first member of @object that contradicts the table or is not in the
 * table, or NULL.
 */
const char *field_check(const json_t *object, const struct field *fields, size_t n);

/*
 * Checks @object and reads it into the struct @to.  Members that are not in the table are ignored.
 * Strings and arrays are borrowed from @object.
 *
 * Return: 0; -EBADMSG: @object contradicts the table, and part of @to may have been written.
 */
int field_read(const json_t *object, const struct field_table *table, void *to);

/*
 * Reads the array @name of @parameters likewise.  @ret points to the pointer for the array of
 * structs, which is to be freed by free().
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int field_read_array(const json_t *parameters, const char *name, const struct field_table *table,
		     void *ret, size_t *ret_n);

/*
 * Creates an object.  Optional members without a value are omitted.  Strings need not be UTF-8;
 * numbers above INT64_MAX become INT64_MAX.  Returns NULL if out of memory.
 */
json_t *field_write(const struct field_table *table, const void *from);
