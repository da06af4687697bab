#include "proto/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/*
 * The lists grow side by side, each in a text of its own with a comma behind each entry.  What is
 * told like the one before is only counted, in a second text.  A string never is like another one,
 * as it may be gone when the next one comes.
 */

void columns_init(struct columns *c, const struct field *fields, size_t n)
{
	*c = (struct columns){ .fields = fields, .n = n };
}

void columns_done(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		writer_done(&c->columns[i].text);
		writer_done(&c->columns[i].times);
	}
}

static struct column_entry constant(uint64_t word)
{
	return (struct column_entry){ .kind = ENTRY_CONSTANT, .word = word };
}

static struct column_entry pointer(const void *pointer, bool lasting)
{
	return (struct column_entry){ .kind = lasting || !pointer ? ENTRY_CONSTANT : ENTRY_UNIQUE,
				      .word = (uintptr_t)pointer };
}

static struct column_entry number(const struct column *column, const struct field *f, uint64_t n)
{
	if (f->optional && n == FIELD_NONE)
		return constant(n);
	return (struct column_entry){ .kind = ENTRY_NUMBER,
				      .word = MIN(n, (uint64_t)INT64_MAX) - column->number };
}

static struct column_entry entry_of(const struct column *column, const struct field *f,
				    const void *member)
{
	switch (f->type) {
	case FIELD_STRING:
		return pointer(*(const char *const *)member, false);
	case FIELD_ENUM:
		return pointer(*(const char *const *)member, true);
	case FIELD_STRINGS:
	case FIELD_OBJECT:
		return pointer(*(json_t *const *)member, false);
	case FIELD_CHOICE:
		return constant(*(const unsigned *)member);
	case FIELD_INT:
		return number(column, f, *(const uint64_t *)member);
	case FIELD_SIGNED:
		return constant(*(const uint64_t *)member);
	case FIELD_BOOL:
		return constant(*(const bool *)member);
	}
	return (struct column_entry){ .kind = ENTRY_UNIQUE };
}

/* What was the last one until now is told, and how many structs it was about. */
static void begin_entry(struct column *column, struct column_entry entry)
{
	if (column->entries > 0) {
		writer_add_number(&column->times, column->repeats);
		writer_add(&column->times, ",");
	}
	column->entries++;
	column->repeats = 1;
	column->last = entry;
}

void columns_add(struct columns *c, const void *from)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct field *f = &c->fields[i];
		const void *member = (const char *)from + f->offset;
		struct column *column = &c->columns[i];
		struct column_entry entry = entry_of(column, f, member);

		if (entry.kind == ENTRY_NUMBER)
			column->number += entry.word;
		if (c->rows > 0 && entry.kind != ENTRY_UNIQUE && entry.kind == column->last.kind &&
		    entry.word == column->last.word) {
			column->repeats++;
			continue;
		}
		begin_entry(column, entry);
		if (entry.kind == ENTRY_NUMBER)
			writer_add_signed(&column->text, (int64_t)entry.word);
		else
			field_append_value(&column->text, f, member);
		writer_add(&column->text, ",");
	}
	c->rows++;
}

/*
 * Numbers that mostly differ, without a pattern: to tell each of them is shorter than to tell how
 * many there are of each.
 */
static bool is_told_singly(const struct columns *c, size_t i)
{
	const struct column *column = &c->columns[i];

	return c->fields[i].type == FIELD_INT && column->entries > c->rows / 2 &&
	       !writer_has_failed(&column->text) && !writer_has_failed(&column->times);
}

/* No number has a comma in it: the entries are what ends with one. */
static void append_singly(struct writer *to, const struct column *column)
{
	const char *entry = writer_text(&column->text), *times = writer_text(&column->times);

	while (*entry) {
		size_t length = strcspn(entry, ",") + 1;
		size_t n = column->repeats;

		if (*times) {
			n = strtoul(times, NULL, 10);
			times = strchr(times, ',') + 1;
		}
		while (n-- > 0)
			writer_add_bytes(to, entry, length);
		entry += length;
	}
}

static void begin_list(struct writer *to, const char *name, bool first)
{
	writer_add(to, first ? "\"" : ",\"");
	writer_add(to, name);
	writer_add(to, "\":[");
}

static void append_list(struct writer *to, const struct columns *c, size_t i)
{
	begin_list(to, c->fields[i].name, i == 0);
	if (is_told_singly(c, i))
		append_singly(to, &c->columns[i]);
	else
		writer_add_writer(to, &c->columns[i].text);
	/* In the place of the last comma. */
	if (c->rows > 0 && writer_length(to) > 0)
		writer_cut(to, writer_length(to) - 1);
	writer_add(to, "]");
}

static void append_times(struct writer *to, const struct columns *c)
{
	bool first = true;

	writer_add(to, ",\"times\":{");
	for (size_t i = 0; i < c->n; i++) {
		const struct column *column = &c->columns[i];

		if (column->entries <= 1 || column->entries == c->rows || is_told_singly(c, i))
			continue;
		begin_list(to, c->fields[i].name, first);
		writer_add_writer(to, &column->times);
		writer_add_number(to, column->repeats);
		writer_add(to, "]");
		first = false;
	}
	writer_add(to, "}");
}

void columns_append(struct writer *to, const struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		append_list(to, c, i);
	append_times(to, c);
}

/* Has each entry its number of structs, and are those @rows in all? */
static bool are_times(const json_t *times, size_t length, size_t rows)
{
	size_t sum = 0;

	if (!json_is_array(times) || json_array_size(times) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		json_int_t n = json_integer_value(json_array_get(times, i));

		if (n <= 0 || (uint64_t)n > rows - sum)
			return false;
		sum += (size_t)n;
	}
	return sum == rows;
}

static bool open_list(struct column_reader *column, const struct field *f, size_t rows)
{
	if (!column->list || json_is_null(column->list)) {
		column->list = NULL;
		column->length = 1;
		return f->optional && !column->times;
	}
	column->length = json_array_size(column->list);
	if (!json_is_array(column->list))
		return false;
	if (column->times)
		return are_times(column->times, column->length, rows);
	return column->length == rows || (column->length == 1 && rows > 0);
}

/* The first field has no value that is like another: there are as many of them as of its entries. */
const char *columns_reader_init(struct columns_reader *ret, const json_t *object,
				const struct field *fields, size_t n)
{
	const json_t *times = json_object_get(object, "times");

	*ret = (struct columns_reader){ .fields = fields, .n = n };
	if (!json_is_object(times))
		return "times";
	ret->rows = json_array_size(json_object_get(object, fields[0].name));
	for (size_t i = 0; i < n; i++) {
		struct column_reader *column = &ret->columns[i];

		column->list = json_object_get(object, fields[i].name);
		column->times = json_object_get(times, fields[i].name);
		if (!open_list(column, &fields[i], ret->rows))
			return fields[i].name;
	}
	return NULL;
}

static size_t repeats_of(const struct column_reader *column, size_t rows)
{
	if (column->times)
		return (size_t)json_integer_value(json_array_get(column->times, column->entry));
	return column->length == 1 ? rows : 1;
}

static bool add_more(struct column_reader *column, const struct field *f, void *to)
{
	uint64_t more = column->more;

	if (more > INT64_MAX ? -more > column->number : more > INT64_MAX - column->number)
		return false;
	column->number += more;
	memcpy((char *)to + f->offset, &column->number, sizeof(column->number));
	return true;
}

static bool read_entry(struct column_reader *column, const struct field *f, size_t rows, void *to)
{
	json_t *value = json_array_get(column->list, column->entry);

	column->at += repeats_of(column, rows);
	column->entry++;
	column->more = 0;
	if (f->type != FIELD_INT || !json_is_integer(value))
		return field_read_value(f, value, to);
	column->more = (uint64_t)json_integer_value(value);
	return add_more(column, f, to);
}

const char *columns_reader_next(struct columns_reader *reader, void *to)
{
	for (size_t i = 0; i < reader->n; i++) {
		struct column_reader *column = &reader->columns[i];
		const struct field *f = &reader->fields[i];
		bool fits = true;

		if (reader->read == column->at)
			fits = read_entry(column, f, reader->rows, to);
		else if (column->more)
			fits = add_more(column, f, to);
		if (!fits)
			return f->name;
	}
	reader->read++;
	return NULL;
}
