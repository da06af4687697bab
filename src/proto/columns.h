#pragma once

/*
 * Many structs of one kind as one object: a list for each field.  That is a fraction of the bytes
 * and of the values that a list of objects has, for whom there are many.
 *
 *	{"path":["","web","web/a","web/b","web/c"],"pid":[null,null,812,813,814],"forced":[false]}
 *
 * is, without what is said more than once,
 *
 *	{"path":["","web","web/a","web/b","web/c"],"pid":[null,812,1],"forced":[false],
 *	 "times":{"pid":[2,1,2]}}
 *
 * A number is told by how much more it is than the last one before it: the pids after 812 are 1
 * more each, and large numbers that are near each other are short.  How many structs an entry is
 * about is the one at its place in the list's times; without any, an only entry is about all of
 * them, and each of several about one.  The first field is a string.  null is no value, for an
 * optional field only; a list that is missing is one of an only null.
 */

#include "proto/field.h"

/* Private: how one value is told, and whether that can be compared with how the next one is. */
struct column_entry {
	enum { ENTRY_UNIQUE, ENTRY_CONSTANT, ENTRY_NUMBER } kind;
	uint64_t word; /* ENTRY_NUMBER: how much more it is */
};

/* Private: the last entry of @text is about @repeats structs, those before it about @times. */
struct column {
	struct writer text, times;
	struct column_entry last;
	size_t entries, repeats;
	uint64_t number; /* the last that was one */
};

struct columns {
	const struct field *fields; /* at most FIELDS_MAX */
	size_t n, rows;
	struct column columns[FIELDS_MAX];
};

void columns_init(struct columns *columns, const struct field *fields, size_t n);
void columns_done(struct columns *columns);

/* The next struct, of which nothing is kept but what a table of constants holds (FIELD_ENUM). */
void columns_add(struct columns *columns, const void *from);

/* The members, without the braces around them.  Without memory @to has failed. */
void columns_append(struct writer *to, const struct columns *columns);

/* Private: what has been read of one list. */
struct column_reader {
	const json_t *list, *times;
	size_t length, entry;  /* the one to be read next, */
	size_t at;	       /* and the struct that it begins with */
	uint64_t number, more; /* the last number, and how much more the next one is */
};

/* Struct after struct of an object that is kept until all have been read. */
struct columns_reader {
	const struct field *fields; /* at most FIELDS_MAX */
	size_t n, rows, read;
	struct column_reader columns[FIELDS_MAX];
};

/*
 * For all the @ret->rows structs that there are.
 *
 * Return: NULL, or the name of the first field whose list is none, or not about that many; "times"
 * for one of another kind, which has none.
 */
const char *columns_reader_init(struct columns_reader *ret, const json_t *object,
				const struct field *fields, size_t n);

/*
 * The next one, while there are any.  It is checked and read as by field_read() into @to, where the
 * last one is to be still: what is the same is left as it is.
 *
 * Return: NULL, or the name of the first field that is not as the table says.
 */
const char *columns_reader_next(struct columns_reader *reader, void *to);
