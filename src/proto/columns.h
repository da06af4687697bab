#pragma once

/*
 * Many structs of one kind as one object: a list for each field, with an entry for each struct.
 * That is a fraction of the bytes and of the values that a list of objects has, for whom there are
 * many.
 *
 *	{"path":["","web","web/a","web/b"],"pid":[null,null,812,1],"guards":[2,0,-1],"forced":[false]}
 *
 * A number is told by how much more it is than the last one before it: the pids are 812 and 813,
 * and large numbers that are near each other are short.  A list that ends early goes on with the
 * last value: guards are 2, 2, 1, 1, and nobody is forced.  The first field is of strings, and
 * always has all its entries.  null is no value, for an optional field only.
 */

#include "proto/field.h"

/* Private: the last entry of @text is from @last_at on, and @repeats more are like it. */
struct column {
	struct writer text;
	size_t last_at, repeats;
	uint64_t last;
	uint64_t number; /* the last that was not left out */
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

/* How many structs there are in @object: the entries of the first field. */
size_t columns_count(const json_t *object, const struct field *fields);

/*
 * Checks and reads as field_read() does, @count structs of @size bytes each.
 *
 * Return: NULL, or the name of the first field that is not as the table says.
 */
const char *columns_read(const json_t *object, const struct field *fields, size_t n, void *to,
			 size_t size, size_t count);
