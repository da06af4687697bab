/*
 * The kind of a field selects the C type at its offset.  Reading checks types and the presence of
 * members; writing omits optional members without a value.
 */
#include "proto/field.h"

static bool field_is_strings(const json_t *value)
{
	if (!json_is_array(value))
		return false;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_string(json_array_get(value, i)))
			return false;
	return true;
}

static bool field_fits(const json_t *value, const struct field *f)
{
	if (!value || json_is_null(value))
		return f->optional;
	switch (f->type) {
	case FIELD_STRING:
		return json_is_string(value);
	case FIELD_ENUM:
	case FIELD_CHOICE:
		return json_is_string(value) && text_is_one_of(json_string_value(value), f->values);
	case FIELD_INT:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case FIELD_SIGNED:
		return json_is_integer(value);
	case FIELD_BOOL:
		return json_is_boolean(value);
	case FIELD_STRINGS:
		return field_is_strings(value);
	case FIELD_STRUCT:
		return json_is_object(value);
	}
	return false;
}

/* Most objects are in the order of the table, so the search begins at @i, after the last field. */
static size_t field_find_index(const char *name, const struct field_table *table, size_t i)
{
	for (size_t tried = 0; tried < table->n; tried++, i++) {
		if (i >= table->n)
			i = 0;
		if (strcmp(name, table->fields[i].name) == 0)
			return i;
	}
	return table->n;
}

const char *field_check(const json_t *object, const struct field *fields, size_t n)
{
	const struct field_table table = { .fields = fields, .n = n };

	for (size_t i = 0; i < n; i++)
		if (!field_fits(json_object_get(object, fields[i].name), &fields[i]))
			return fields[i].name;
	/* jansson's iterators change nothing, but take no const pointer. */
	for (void *i = json_object_iter((json_t *)object); i;
	     i = json_object_iter_next((json_t *)object, i))
		if (field_find_index(json_object_iter_key(i), &table, 0) == n)
			return json_object_iter_key(i);
	return NULL;
}

/* @value has been checked, or is NULL or null. */
static int field_read_value(const struct field *f, json_t *value, void *to)
{
	void *member = (char *)to + f->offset;
	const char *string = json_string_value(value);

	switch (f->type) {
	case FIELD_STRING:
		*(const char **)member = string;
		break;
	case FIELD_ENUM:
		*(const char **)member =
			string ? f->values[text_index_of(string, f->values)] : NULL;
		break;
	case FIELD_CHOICE:
		*(unsigned *)member = string ? (unsigned)text_index_of(string, f->values) : 0;
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
		*(json_t **)member = json_is_null(value) ? NULL : value;
		break;
	case FIELD_STRUCT:
		*((bool *)to + f->present) = json_is_object(value);
		return json_is_object(value) ? field_read(value, f->table, member) : 0;
	}
	return 0;
}

int field_read(const json_t *object, const struct field_table *table, void *to)
{
	json_t *values[FIELDS_MAX] = { NULL };
	size_t next = 0;

	if (!json_is_object(object))
		return -EBADMSG;
	for (void *at = json_object_iter((json_t *)object); at;
	     at = json_object_iter_next((json_t *)object, at)) {
		size_t i = field_find_index(json_object_iter_key(at), table, next);

		if (i == table->n)
			continue;
		values[i] = json_object_iter_value(at);
		next = i + 1;
	}
	for (size_t i = 0; i < table->n; i++)
		if (!field_fits(values[i], &table->fields[i]) ||
		    field_read_value(&table->fields[i], values[i], to) < 0)
			return -EBADMSG;
	return 0;
}

int field_read_array(const json_t *parameters, const char *name, const struct field_table *table,
		     void *ret, size_t *ret_n)
{
	const json_t *array = json_object_get(parameters, name);
	size_t n = json_array_size(array);
	cleanup(freep) char *items = calloc(n + 1, table->size);

	if (!json_is_array(array))
		return -EBADMSG;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (field_read(json_array_get(array, i), table, items + i * table->size) < 0)
			return -EBADMSG;
	memcpy(ret, &items, sizeof(items));
	items = NULL;
	*ret_n = n;
	return 0;
}

/* *ret stays NULL for a member without a value.  Returns false if out of memory. */
static bool field_write_value(const struct field *f, const void *from, json_t **ret)
{
	const void *member = (const char *)from + f->offset;
	const char *string;
	uint64_t number;

	switch (f->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		string = *(const char *const *)member;
		if (!string && f->optional)
			return true;
		*ret = message_string(string ? string : "");
		break;
	case FIELD_CHOICE:
		if (*(const unsigned *)member == 0 && f->optional)
			return true;
		*ret = json_string(f->values[*(const unsigned *)member]);
		break;
	case FIELD_INT:
		number = *(const uint64_t *)member;
		if (number == FIELD_NONE && f->optional)
			return true;
		*ret = json_integer((json_int_t)MIN(number, (uint64_t)INT64_MAX));
		break;
	case FIELD_SIGNED:
		*ret = json_integer(*(const int64_t *)member);
		break;
	case FIELD_BOOL:
		if (!*(const bool *)member && f->optional)
			return true;
		*ret = json_boolean(*(const bool *)member);
		break;
	case FIELD_STRINGS:
		if (!*(json_t *const *)member && f->optional)
			return true;
		*ret = *(json_t *const *)member ? json_incref(*(json_t *const *)member)
						: json_array();
		break;
	case FIELD_STRUCT:
		if (!*((const bool *)from + f->present))
			return true;
		*ret = field_write(f->table, member);
		break;
	}
	return *ret;
}

json_t *field_write(const struct field_table *table, const void *from)
{
	cleanup(json_decrefp) json_t *object = json_object();

	for (size_t i = 0; i < table->n; i++) {
		json_t *value = NULL;

		if (!field_write_value(&table->fields[i], from, &value))
			return NULL;
		if (value && json_object_set_new_nocheck(object, table->fields[i].name, value) < 0)
			return NULL;
	}
	return take(object);
}
