#include "proto/field.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "proto/message.h"

/* Return: the index, or that of the NULL behind all of them. */
static unsigned index_of(const char *value, const char *const *values)
{
	unsigned i = 0;

	while (values[i] && strcmp(value, values[i]) != 0)
		i++;
	return i;
}

static bool is_strings(const json_t *value)
{
	if (!json_is_array(value))
		return false;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_string(json_array_get(value, i)))
			return false;
	return true;
}

static bool fits(const json_t *value, const struct field *f)
{
	if (!value || json_is_null(value))
		return f->optional;
	switch (f->type) {
	case FIELD_STRING:
		return json_is_string(value);
	case FIELD_ENUM:
	case FIELD_CHOICE:
		return json_is_string(value) &&
		       f->values[index_of(json_string_value(value), f->values)];
	case FIELD_INT:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case FIELD_SIGNED:
		return json_is_integer(value);
	case FIELD_BOOL:
		return json_is_boolean(value);
	case FIELD_STRINGS:
		return is_strings(value);
	case FIELD_OBJECT:
		return json_is_object(value);
	}
	return false;
}

static bool is_listed(const char *name, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, fields[i].name) == 0)
			return true;
	return false;
}

const char *field_check(const json_t *object, const struct field *fields, size_t n, unsigned flags)
{
	for (size_t i = 0; i < n; i++)
		if (!fits(json_object_get(object, fields[i].name), &fields[i]))
			return fields[i].name;
	if (!(flags & FIELD_STRICT))
		return NULL;
	/* jansson's iterators change nothing, and take no const. */
	for (void *i = json_object_iter((json_t *)object); i;
	     i = json_object_iter_next((json_t *)object, i))
		if (!is_listed(json_object_iter_key(i), fields, n))
			return json_object_iter_key(i);
	return NULL;
}

static void read_value(const struct field *f, json_t *value, void *member)
{
	switch (f->type) {
	case FIELD_STRING:
		*(const char **)member = json_string_value(value);
		break;
	case FIELD_ENUM:
		*(const char **)member =
			json_is_string(value) ?
				f->values[index_of(json_string_value(value), f->values)] :
				NULL;
		break;
	case FIELD_CHOICE:
		*(unsigned *)member =
			json_is_string(value) ? index_of(json_string_value(value), f->values) : 0;
		break;
	case FIELD_INT:
		*(uint64_t *)member =
			json_is_integer(value) ? (uint64_t)json_integer_value(value) : FIELD_NONE;
		break;
	case FIELD_SIGNED:
		*(int64_t *)member = json_integer_value(value);
		break;
	case FIELD_BOOL:
		*(bool *)member = json_is_true(value);
		break;
	case FIELD_STRINGS:
	case FIELD_OBJECT:
		*(json_t **)member = json_is_null(value) ? NULL : value;
		break;
	}
}

bool field_read_value(const struct field *f, json_t *value, void *to)
{
	if (!fits(value, f))
		return false;
	read_value(f, value, (char *)to + f->offset);
	return true;
}

/*
 * Whoever writes an object has the order of the table, so it is mostly the one after the last, @i.
 */
static size_t find(const char *name, const struct field *fields, size_t n, size_t i)
{
	for (size_t tried = 0; tried < n; tried++, i++) {
		if (i >= n)
			i = 0;
		if (strcmp(name, fields[i].name) == 0)
			return i;
	}
	return n;
}

const char *field_read(const json_t *object, const struct field *fields, size_t n, void *to)
{
	json_t *values[FIELDS_MAX] = { NULL };
	size_t next = 0;

	for (void *at = json_object_iter((json_t *)object); at;
	     at = json_object_iter_next((json_t *)object, at)) {
		size_t i = find(json_object_iter_key(at), fields, n, next);

		if (i == n)
			continue;
		values[i] = json_object_iter_value(at);
		next = i + 1;
	}
	for (size_t i = 0; i < n; i++) {
		if (!field_read_value(&fields[i], values[i], to))
			return fields[i].name;
	}
	return NULL;
}

static json_t *write_integer(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* *ret stays NULL for a member without a value.  Return: false without memory. */
static bool write_value(const struct field *f, const void *member, json_t **ret)
{
	const char *string;

	switch (f->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		string = *(const char *const *)member;
		if (!string && f->optional)
			return true;
		*ret = message_string(string ? string : "");
		break;
	case FIELD_CHOICE:
		*ret = json_string(f->values[*(const unsigned *)member]);
		break;
	case FIELD_INT:
		if (*(const uint64_t *)member == FIELD_NONE && f->optional)
			return true;
		*ret = write_integer(*(const uint64_t *)member);
		break;
	case FIELD_SIGNED:
		*ret = json_integer(*(const int64_t *)member);
		break;
	case FIELD_BOOL:
		*ret = json_boolean(*(const bool *)member);
		break;
	case FIELD_STRINGS:
		*ret = *(json_t *const *)member ? json_incref(*(json_t *const *)member)
						: json_array();
		break;
	case FIELD_OBJECT:
		if (!*(json_t *const *)member)
			return true;
		*ret = json_incref(*(json_t *const *)member);
		break;
	}
	return *ret;
}

json_t *field_write(const struct field *fields, size_t n, const void *from)
{
	cleanup(json_decrefp) json_t *object = json_object();

	for (const struct field *f = fields; f < fields + n; f++) {
		json_t *value = NULL;

		if (!write_value(f, (const char *)from + f->offset, &value))
			return NULL;
		if (value && json_object_set_new(object, f->name, value) < 0)
			return NULL;
	}
	return take(object);
}

/* Is it left out? */
static bool is_without_value(const struct field *f, const void *member)
{
	switch (f->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		return f->optional && !*(const char *const *)member;
	case FIELD_INT:
		return f->optional && *(const uint64_t *)member == FIELD_NONE;
	case FIELD_OBJECT:
		return !*(json_t *const *)member;
	case FIELD_CHOICE:
	case FIELD_SIGNED:
	case FIELD_BOOL:
	case FIELD_STRINGS:
		break;
	}
	return false;
}

static void append_value(struct writer *to, const struct field *f, const void *member)
{
	const json_t *json;
	const char *string;

	switch (f->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		string = *(const char *const *)member;
		writer_add_string(to, string ? string : "");
		break;
	case FIELD_CHOICE:
		writer_add_string(to, f->values[*(const unsigned *)member]);
		break;
	case FIELD_INT:
		writer_add_number(to, MIN(*(const uint64_t *)member, (uint64_t)INT64_MAX));
		break;
	case FIELD_SIGNED:
		writer_add_signed(to, *(const int64_t *)member);
		break;
	case FIELD_BOOL:
		writer_add(to, *(const bool *)member ? "true" : "false");
		break;
	case FIELD_STRINGS:
	case FIELD_OBJECT:
		json = *(json_t *const *)member;
		if (json)
			writer_add_json(to, json);
		else
			writer_add(to, "[]");
		break;
	}
}

void field_append(struct writer *to, const struct field *fields, size_t n, const void *from)
{
	const char *before = "\"";

	for (const struct field *f = fields; f < fields + n; f++) {
		const void *member = (const char *)from + f->offset;

		if (is_without_value(f, member))
			continue;
		writer_add(to, before);
		writer_add(to, f->name);
		writer_add(to, "\":");
		append_value(to, f, member);
		before = ",\"";
	}
}

void field_append_value(struct writer *to, const struct field *f, const void *member)
{
	if (is_without_value(f, member))
		writer_add(to, "null");
	else
		append_value(to, f, member);
}
