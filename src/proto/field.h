#pragma once

/*
 * A table of the members of an object in the interface.  Calls are checked by the table, and
 * structs are written and read by it.
 */

#include "proto/message.h"

enum field_type {
	FIELD_STRING,  /* const char *; NULL if missing */
	FIELD_ENUM,    /* likewise, one of @values; as constant as they are */
	FIELD_CHOICE,  /* an enum: the index of one of @values; 0 if missing, and likewise */
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
#define FIELDS_MAX 40

/* The initialiser of the values of FIELD_ENUM and FIELD_CHOICE: strings. */
#define FIELD_VALUES(...)               \
	.values = (const char *const[]) \
	{                               \
		__VA_ARGS__, NULL       \
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

/*
 * DEFINE_FIELD_TABLE(of, members...) defines @of##_table for struct @of.  A member is MUST(kind, name),
 * or MAY(kind, name) if it is optional, each with further initialisers: MUST(INT, pid) is the FIELD_INT
 * "pid"; and MUST_AS(text, kind, name) has another name in the struct.
 */
#define MUST(kind, member, ...)		 MUST_AS(#member, kind, member, ##__VA_ARGS__)
#define MAY(kind, member, ...)		 MUST(kind, member, .optional = true, ##__VA_ARGS__)
#define MUST_AS(text, kind, member, ...) (text, FIELD_##kind, member, ##__VA_ARGS__)

#define FIELD_WORDS(...)     __VA_ARGS__
#define FIELD_BY(macro, ...) macro(__VA_ARGS__)
#define FIELD_OF(of, member) FIELD_BY(FIELD, of, FIELD_WORDS member),
#define FIELD(of, text, kind, member, ...)                                                     \
	{                                                                                      \
		.name = text, .type = kind, .offset = offsetof(struct of, member), __VA_ARGS__ \
	}
#define DEFINE_FIELD_TABLE(of, ...)                                                        \
	static const struct field of##_fields[] = { FOR_EACH(FIELD_OF, of, __VA_ARGS__) }; \
	_Static_assert(ARRAY_SIZE(of##_fields) <= FIELDS_MAX, "they can be read");         \
	static const struct field_table of##_table = { .fields = of##_fields,              \
						       .n = ARRAY_SIZE(of##_fields),       \
						       .size = sizeof(struct of) };

/* Defines @of##_build(), which writes a struct by @of##_table. */
#define DEFINE_FIELD_BUILD(of)                         \
	json_t *of##_build(const struct of *from)      \
	{                                              \
		return field_write(&of##_table, from); \
	}
