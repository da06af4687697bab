/*
 * Types of commands and of names.  A command is split into words when it is read; the %
 * substitutions are made when the path of the node is known.
 */
#include "model/types/type.h"

#include "model/file/substitute.h"

#define CREDENTIAL_NAME_MAX 200 /* of the name of a file */

/* The field is the whole node, which has both the words and the text. */
static int command_parse(struct value *value, void *field)
{
	struct node_config *node = field;
	cleanup(freep) char **argv = NULL;
	int r = value_argv(value, &argv);

	if (r == 0)
		r = value_copy(value->text, &node->command);
	if (r == 0)
		node->argv = take(argv);
	return r;
}

static bool command_equal(const void *a, const void *b)
{
	const struct node_config *x = a, *y = b;

	return !x->argv == !y->argv && value_equal_words(&x->argv, &y->argv);
}

static void command_print(FILE *file, const void *field)
{
	const struct node_config *node = field;

	if (node->argv)
		value_print_line(file, node->command);
}

static int command_resolve(struct value *value, void *field)
{
	struct node_config *node = field;
	int r = substitute_words_of(&node->argv, value->path);

	return r < 0 ? r : substitute_text_of(&node->command, value->path);
}

TYPE(command, .parse = command_parse, .equal = command_equal, .print = command_print,
     .resolve = command_resolve,
     .expected = "a program and its arguments, quoted as in a shell, "
		 "for example /usr/bin/app -m \"a b\"");

static int commands_parse(struct value *value, void *field)
{
	cleanup(freep) char **argv = NULL;
	struct commands *commands = field;
	int r = value_argv(value, &argv);

	if (r == 0)
		r = array_append(commands->argv, commands->n, argv);
	if (r == 0)
		(void)take(argv);
	return r;
}

static bool commands_equal(const void *a, const void *b)
{
	const struct commands *x = a, *y = b;

	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		if (!value_equal_words(&x->argv[i], &y->argv[i]))
			return false;
	}
	return true;
}

static void commands_print(FILE *file, const void *field)
{
	const struct commands *commands = field;

	for (size_t i = 0; i < commands->n; i++) {
		(void)fputs(i ? "; " : "", file);
		value_print_words(file, &commands->argv[i]);
	}
}

static int commands_resolve(struct value *value, void *field)
{
	const struct commands *commands = field;
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++)
		r = substitute_words_of(&commands->argv[i], value->path);
	return r;
}

TYPE(commands, .parse = commands_parse, .equal = commands_equal, .print = commands_print,
     .resolve = commands_resolve,
     .expected = "a program and its arguments, quoted as in a shell, "
		 "for example /usr/bin/app -m \"a b\"");

static int conditions_parse(struct value *value, void *field)
{
	const char *text = value->text + (*value->text == '!'), *env = text + strlen("env:");

	if (strncmp(text, "path:", 5) == 0) {
		int r = value_check_path(value, text + 5);

		if (r < 0)
			return r;
	} else if (strncmp(text, "env:", 4) == 0 ? !value_name(env) || env[value_name(env)]
						 : strncmp(value->text, "exec:", 5) != 0 ||
							   strchr(" \t", value->text[5])) {
		return -EINVAL;
	}
	return commands_parse(value, field);
}

TYPE(conditions, .parse = conditions_parse, .equal = commands_equal, .print = commands_print,
     .resolve = commands_resolve,
     .expected = "path:PATH, env:NAME, both also behind a !, or exec: and a command");

/* A name that begins with a dot is that of a file while it is written. */
static int credential_parse(struct value *value, void *field)
{
	size_t length = strspn(value->text, TEXT_LETTERS TEXT_DIGITS "_.@-");
	const struct commands *others = field;
	int r;

	if (length == 0 || length > CREDENTIAL_NAME_MAX || *value->text == '.' || value->text[length] != ':' ||
	    strpbrk(value->text, " \t'\"\\"))
		return -EINVAL;
	r = value_check_path(value, value->text + length + 1);
	for (size_t i = 0; r == 0 && i < others->n; i++)
		if (strncmp(others->argv[i][0], value->text, length + 1) == 0)
			r = value_refuse(value, "duplicate name");
	return r < 0 ? r : commands_parse(value, field);
}

TYPE(credential, .parse = credential_parse, .equal = commands_equal, .print = commands_print,
     .resolve = commands_resolve,
     .expected =
	     "a name and the absolute path of a file without blanks, for example db:/etc/app/db.key");

/* --- names of other nodes, and of the instances of a template --- */

static bool nodes_equal(const void *a, const void *b)
{
	struct node_config *const *x = *(struct node_config * *const *)a;
	struct node_config *const *y = *(struct node_config * *const *)b;

	if (!x || !y)
		return (!x || !*x) && (!y || !*y);
	for (; *x && *y; x++, y++) {
		if (strcmp((*x)->path, (*y)->path) != 0)
			return false;
	}
	return !*x && !*y;
}

static void nodes_print(FILE *file, const void *field)
{
	struct node_config *const *nodes = *(struct node_config * *const *)field;

	for (size_t i = 0; nodes && nodes[i]; i++)
		(void)fprintf(file, "%s%s", i ? " " : "", nodes[i]->path);
}

/* The field has names until resolve_sections() has found the nodes. */
TYPE(nodes, .parse = value_substituted_words, .equal = nodes_equal, .print = nodes_print,
     .expected = "names of nodes separated by blanks, for example db/redis web");

/* --- a number of instances means 1, 2, ... up to it --- */

#define DIGITS_MAX 6

static int instances_count_up(uint64_t count, char ***ret)
{
	char **names = malloc((count + 1) * sizeof(*names) + count * DIGITS_MAX);
	char *out;

	if (!names)
		return -ENOMEM;
	out = (char *)(names + count + 1);
	for (uint64_t i = 0; i < count; i++) {
		names[i] = out;
		out += snprintf(out, DIGITS_MAX, "%u", (unsigned)i + 1) + 1;
	}
	names[count] = NULL;
	*ret = names;
	return 0;
}

static int nodes_check_names(struct value *value, char *const *names, int n)
{
	if (n == 0)
		return -EINVAL;
	if (n > CONFIG_INSTANCES_MAX)
		return value_refuse(value, "too many instances");
	for (int i = 0; i < n; i++) {
		if (!*names[i] || strpbrk(names[i], "/@"))
			return value_refuse(value, "not the name of an instance");
		for (int j = 0; j < i; j++) {
			if (strcmp(names[i], names[j]) == 0)
				return value_refuse(value, "duplicate instance");
		}
	}
	return 0;
}

static int instances_parse(struct value *value, void *field)
{
	cleanup(freep) char **names = NULL;
	const char *text;
	uint64_t count;
	int n, r;

	if (parse_uint(value->text, CONFIG_INSTANCES_MAX, &count) == 0) {
		r = instances_count_up(count, &names);
	} else {
		n = value_words(value, &names);
		r = n < 0 ? n : nodes_check_names(value, names, n);
		text = r == 0 ? names[0] + (*names[0] == '-') : NULL;
		/* A number that is negative or beyond the limit is not a name. */
		if (r == 0 && n == 1 && text[strspn(text, "0123456789")] == '\0')
			r = -EINVAL;
	}
	if (r == 0)
		*(char ***)field = take(names);
	return r;
}

/* Only instances are nodes: the key of a template is neither compared nor shown. */
TYPE(instances, .parse = instances_parse,
     .expected = "a number up to " STRINGIFY(
	     CONFIG_INSTANCES_MAX) ", or names separated by blanks, for example 4 or red blue");
