#include "proto/columns.h"

#include <string.h>

#include "base/macro.h"

/*
 * The lists grow side by side, each in a text of its own.  An entry that is like the one before is
 * only counted, until one comes that is not: what is still counted at the end is left out.  A
 * string never is like another one, as it may be gone when the next one comes.
 */

void columns_init(struct columns *c, const struct field *fields, size_t n)
{
	*c = (struct columns){ .fields = fields, .n = n };
}

void columns_done(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		writer_done(&c->columns[i].text);
}

static uint64_t word_of_pointer(const void *pointer)
{
	return (uintptr_t)pointer;
}

/* Return: can it be told by *ret whether the next one is like it? */
static bool get_word(const struct field *f, const void *member, uint64_t *ret)
{
	switch (f->type) {
	case FIELD_ENUM:
		*ret = word_of_pointer(*(const char *const *)member);
		return true;
	case FIELD_STRING:
		*ret = word_of_pointer(*(const char *const *)member);
		return f->optional && !*ret;
	case FIELD_STRINGS:
	case FIELD_OBJECT:
		*ret = word_of_pointer(*(json_t *const *)member);
		return !*ret;
	case FIELD_CHOICE:
		*ret = *(const unsigned *)member;
		return true;
	case FIELD_INT:
	case FIELD_SIGNED:
		*ret = *(const uint64_t *)member;
		return true;
	case FIELD_BOOL:
		*ret = *(const bool *)member;
		return true;
	}
	return false;
}

static bool is_number(const struct field *f, uint64_t word)
{
	return f->type == FIELD_INT && !(f->optional && word == FIELD_NONE);
}

static void add_repeats(struct column *column, const struct field *f)
{
	size_t length = writer_length(&column->text) - column->last_at;

	for (; column->repeats > 0; column->repeats--) {
		if (is_number(f, column->last))
			writer_add(&column->text, ",0");
		else
			writer_add_again(&column->text, length);
	}
}

static void add_number(struct column *column, uint64_t number)
{
	number = MIN(number, (uint64_t)INT64_MAX);
	writer_add_signed(&column->text, (int64_t)(number - column->number));
	column->number = number;
}

void columns_add(struct columns *c, const void *from)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct field *f = &c->fields[i];
		const void *member = (const char *)from + f->offset;
		struct column *column = &c->columns[i];
		uint64_t word = 0;

		if (get_word(f, member, &word) && c->rows > 0 && word == column->last) {
			column->repeats++;
			continue;
		}
		add_repeats(column, f);
		column->last = word;
		column->last_at = writer_length(&column->text);
		writer_add(&column->text, ",");
		if (is_number(f, word))
			add_number(column, word);
		else
			field_append_value(&column->text, f, member);
	}
	c->rows++;
}

/* Each entry has a comma in front of it, and the first one a bracket instead. */
void columns_append(struct writer *to, const struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		writer_add(to, i ? ",\"" : "\"");
		writer_add(to, c->fields[i].name);
		writer_add(to, "\":[");
		writer_add_writer(to, &c->columns[i].text, 1);
		writer_add(to, "]");
	}
}

size_t columns_count(const json_t *object, const struct field *fields)
{
	return json_array_size(json_object_get(object, fields[0].name));
}

/* Has it no more entries than there are structs, and one to go on with? */
static bool is_list_of(const json_t *list, const struct field *f, size_t count)
{
	size_t length = json_array_size(list);

	if (!list || json_is_null(list))
		return f->optional;
	return json_is_array(list) && length <= count && (length > 0 || count == 0);
}

/* *number is the last one before it. */
static bool read_entry(const struct field *f, json_t *value, uint64_t *number, char *to)
{
	json_int_t more = json_integer_value(value);

	if (f->type != FIELD_INT || !json_is_integer(value))
		return field_read_value(f, value, to);
	if (more < 0 ? -(uint64_t)more > *number : (uint64_t)more > INT64_MAX - *number)
		return false;
	*number += (uint64_t)more;
	memcpy(to + f->offset, number, sizeof(*number));
	return true;
}

/* @length entries, the last of which goes on up to @count; without any there is no value. */
static bool read_list(const json_t *list, size_t length, const struct field *f, char *to,
		      size_t size, size_t count)
{
	uint64_t number = 0;
	size_t i = 0;

	do {
		if (!read_entry(f, json_array_get(list, i), &number, to + i * size))
			return false;
	} while (++i < length);
	for (; i < count; i++)
		field_copy_value(f, to + (i - 1) * size, to + i * size);
	return true;
}

const char *columns_read(const json_t *object, const struct field *fields, size_t n, void *to,
			 size_t size, size_t count)
{
	for (const struct field *f = fields; f < fields + n; f++) {
		const json_t *list = json_object_get(object, f->name);

		if (!is_list_of(list, f, count))
			return f->name;
		if (count > 0 && !read_list(list, json_array_size(list), f, to, size, count))
			return f->name;
	}
	return NULL;
}
