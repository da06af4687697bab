/*
 * Functions that several types share: words, substitutions, paths, addresses, and the operations on
 * a field by its type.
 */
#include "model/types/type.h"

#include <arpa/inet.h>

#include "model/file/substitute.h"

bool type_equal(const struct type *type, const void *a, const void *b)
{
	return type->equal ? type->equal(a, b) : memcmp(a, b, type->size) == 0;
}

int value_refuse(struct value *value, const char *why)
{
	value->why = why;
	return -EINVAL;
}

int choice_find(const struct choice *choices, const char *name, int *ret)
{
	for (const struct choice *c = choices; c->name; c++) {
		if (strcmp(name, c->name) != 0)
			continue;
		*ret = c->value;
		return 0;
	}
	return -EINVAL;
}

const char *choice_name(const struct choice *choices, int value)
{
	while (choices->name && choices->value != value)
		choices++;
	return choices->name;
}

int type_parse(struct value *value, void *field)
{
	const struct type *type = value->type;

	return type->parse ? type->parse(value, field)
			   : choice_find(type->choices, value->text, field);
}

void type_print(const struct type *type, FILE *file, const void *field)
{
	const char *name;

	if (type->print) {
		type->print(file, field);
		return;
	}
	/* A default that depends on other keys has no text. */
	name = choice_name(type->choices, *(const int *)field);
	if (name)
		(void)fputs(name, file);
}

int value_copy(const char *text, char **field)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int value_words(struct value *value, char ***field)
{
	int n = parse_words(value->text, field);

	if (n == -EINVAL)
		return value_refuse(value, "open quote or backslash at the end");
	return n;
}

int value_check_substitutions(struct value *value)
{
	return substitute_check(value->text)
		       ? value_refuse(value, "unknown %: only %n, %i and %% are replaced")
		       : 0;
}

int value_check_path(struct value *value, const char *path)
{
	if (*path != '/')
		return value_refuse(value, "not an absolute path");
	if (strlen(path) >= PATH_MAX)
		return value_refuse(value, "too long for a path");
	return 0;
}

int value_substituted_words(struct value *value, void *field)
{
	int r = value_check_substitutions(value);

	return r < 0 ? r : value_words(value, field);
}

int value_argv(struct value *value, char ***ret)
{
	cleanup(freep) char **argv = NULL;
	int r = value_substituted_words(value, &argv);

	if (r < 0)
		return r;
	if (r == 0 || !*argv[0])
		return value_refuse(value, "no program");
	*ret = take(argv);
	return 0;
}

bool value_part(char *part, size_t room, const char *from, const char *to)
{
	if ((size_t)(to - from) >= room)
		return false;
	*(char *)mempcpy(part, from, (size_t)(to - from)) = '\0';
	return true;
}

size_t value_name(const char *word)
{
	size_t n = strspn(word, TEXT_LETTERS TEXT_DIGITS "_");

	return *word >= '0' && *word <= '9' ? 0 : n;
}

size_t value_variable_name(const char *word)
{
	size_t n = value_name(word);

	return word[n] == '=' ? n : 0;
}

bool value_equal_text(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return x && y ? strcmp(x, y) == 0 : x == y;
}

bool value_equal_words(const void *a, const void *b)
{
	char *const *x = *(char **const *)a, *const *y = *(char **const *)b;

	if (!x || !y)
		return (!x || !*x) && (!y || !*y);
	for (; *x && *y; x++, y++) {
		if (strcmp(*x, *y) != 0)
			return false;
	}
	return *x == *y;
}

void value_print_text(FILE *file, const void *field)
{
	const char *text = *(char *const *)field;

	(void)fputs(text ? text : "", file);
}

void value_print_words(FILE *file, const void *field)
{
	char *const *words = *(char **const *)field;

	for (size_t i = 0; words && words[i]; i++)
		(void)fprintf(file, "%s%s", i ? " " : "", words[i]);
}

void value_print_line(FILE *file, const char *text)
{
	for (; *text; text++)
		(void)fputc(*text == '\n' ? ' ' : *text, file);
}

int value_address(const char *text, union inet_address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	union inet_address address;
	uint64_t port;
	int r;

	/* Every byte is set, as addresses are compared by memcmp(). */
	memset(&address, 0, sizeof(address));
	if (!colon || !value_part(host, sizeof(host), text, colon) ||
	    parse_uint(colon + 1, UINT16_MAX, &port) < 0 || port == 0)
		return -EINVAL;
	if (host[0] == '[' && colon[-1] == ']') {
		host[strlen(host) - 1] = '\0';
		address.in6.sin6_family = AF_INET6;
		address.in6.sin6_port = htons((uint16_t)port);
		r = inet_pton(AF_INET6, host + 1, &address.in6.sin6_addr);
	} else {
		address.in.sin_family = AF_INET;
		address.in.sin_port = htons((uint16_t)port);
		r = inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
			      &address.in.sin_addr);
	}
	if (r != 1)
		return -EINVAL;
	memcpy(ret, &address, sizeof(address));
	return 0;
}
