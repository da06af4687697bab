/*
 * Types of paths, of lists of words, and of streams.  A value with % substitutions is checked when
 * it is read, and resolved when the path of its node is known.
 */
#include "model/types/type.h"

#include <sys/un.h>

#include "model/file/substitute.h"

static int socket_parse(struct value *value, void *field)
{
	const size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);

	if (strcmp(value->text, "none") != 0 && *value->text != '/')
		return -EINVAL;
	if (strlen(value->text) >= room)
		return value_refuse(value, "too long for the path of a socket");
	return value_copy(value->text, field);
}

TYPE(socket, .parse = socket_parse, .equal = value_equal_text, .print = value_print_text,
     .expected = "an absolute path of at most 107 bytes, for example /run/app.socket, or none");

/* The report replaces an existing file: it must not replace a device. */
static bool report_is_device(const char *path)
{
	static const char devices[] = "/dev/", memory[] = "/dev/shm/";

	return strncmp(path, devices, sizeof(devices) - 1) == 0 &&
	       strncmp(path, memory, sizeof(memory) - 1) != 0;
}

/* PATH.tmp must be a valid path, too. */
static int report_parse(struct value *value, void *field)
{
	size_t length = strlen(value->text);
	int r = 0;

	if (strcmp(value->text, "none") != 0)
		r = value_check_path(value, value->text);
	if (r == 0 && length + sizeof(".tmp") > PATH_MAX)
		r = value_refuse(value, "too long for a path");
	if (r == 0 && value->text[length - 1] == '/')
		r = value_refuse(value, "a directory");
	if (r == 0 && report_is_device(value->text))
		r = value_refuse(value, "below /dev, among devices");
	return r < 0 ? r : value_copy(value->text, field);
}

TYPE(report, .parse = report_parse, .equal = value_equal_text, .print = value_print_text,
     .expected = "the absolute path of a file, for example /var/lib/swansong/last.json, or none");

static int directory_parse(struct value *value, void *field)
{
	int r = value_check_substitutions(value);

	if (r == 0)
		r = value_check_path(value, value->text);
	return r < 0 ? r : value_copy(value->text, field);
}

static int directory_inherit(void *field, const void *from, const char *path)
{
	return substitute_text(*(char *const *)from, path, field);
}

TYPE(directory, .parse = directory_parse, .equal = value_equal_text, .print = value_print_text,
     .inherit = directory_inherit,
     .expected = "an absolute path, for example /srv/%n; %n, %i and %% are replaced");

static int pid_file_resolve(struct value *value, void *field)
{
	return substitute_text_of(field, value->path);
}

TYPE(pid_file, .parse = directory_parse, .equal = value_equal_text, .print = value_print_text,
     .resolve = pid_file_resolve,
     .expected = "an absolute path, for example /run/%n.pid; %n, %i and %% are replaced");

/* --- the environment, which environment_resolve() merges from all sections above --- */

static int environment_parse(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	int n = value_substituted_words(value, &words);

	if (n < 0)
		return n;
	if (n > ENVIRONMENT_MAX)
		return value_refuse(value, "more than " STRINGIFY(ENVIRONMENT_MAX) " variables");
	for (int i = 0; i < n; i++) {
		size_t length = value_variable_name(words[i]);

		if (length == 0)
			return value_refuse(value, "word without NAME=");
		for (int j = 0; j < i; j++) {
			if (strncmp(words[i], words[j], length + 1) == 0)
				return value_refuse(value, "duplicate variable");
		}
	}
	*(char ***)field = take(words);
	return 0;
}

/* The values may come from files that not every user may read. */
static void environment_print(FILE *file, const void *field)
{
	char *const *variables = *(char **const *)field;

	for (size_t i = 0; variables && variables[i]; i++)
		(void)fprintf(file, "%s%.*s", i ? " " : "", (int)strcspn(variables[i], "="),
			      variables[i]);
}

TYPE(environment, .parse = environment_parse, .equal = value_equal_words,
     .print = environment_print,
     .expected = "words NAME=VALUE, quoted as in a shell, each name once, for example A=1 B='2 3'");

/* Types of a word or more, each of which is valid. */
#define WORDS(name, ...)                                                   \
	TYPE(name, .equal = value_equal_words, .print = value_print_words, \
	     .parse = text_parse_words, __VA_ARGS__)

static int text_parse_words(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	int n = value_substituted_words(value, &words);

	if (n < 0 || (n == 0 && value->type != &type_names))
		return n < 0 ? n : -EINVAL;
	for (int i = 0; i < n; i++)
		if (value->type->is_valid && !value->type->is_valid(value, words[i]))
			return -EINVAL;
	*(char ***)field = take(words);
	return 0;
}

static bool file_is_valid(struct value *value, const char *word)
{
	return value_check_path(value, word + (*word == '-')) == 0;
}

WORDS(files, .is_valid = file_is_valid,
      .expected =
	      "absolute paths separated by blanks, for example /etc/app.env -/etc/%n.env; a - marks a "
	      "file that may be missing");

static bool name_is_valid(struct value *value, const char *word)
{
	size_t length = value_name(word);

	if (length > 0 && !word[length])
		return true;
	value->why = "not the name of a variable";
	return false;
}

static int names_inherit(void *field, const void *from, const char *path)
{
	return substitute_words(*(char **const *)from, path, field);
}

WORDS(names, .is_valid = name_is_valid, .inherit = names_inherit,
      .expected = "names of variables separated by blanks, for example PATH HOME");

/* Returns true if the path stays below the directory that it begins in; it may end with :MODE. */
static bool folders_are_valid(const char *word)
{
	unsigned mode;

	for (;; word++) {
		size_t n = strcspn(word, "/:");

		if (n <= 2 && strspn(word, ".") >= n)
			return false;
		word += n;
		if (*word != '/')
			return !*word || parse_mode(word + 1, &mode) == 0;
	}
}

static int text_resolve_words(struct value *value, void *field)
{
	return substitute_words_of(field, value->path);
}

/* The nodes may come and go, so resolve_sections() only warns about one that is missing. */
WORDS(chain, .resolve = text_resolve_words,
      .expected = "names of nodes separated by blanks, for example report backup/copy");

static int folders_resolve(struct value *value, void *field)
{
	char ***folders = field;
	int r = text_resolve_words(value, field);

	for (char **word = *folders; r == 0 && word && *word; word++) {
		value->text = *word;
		if (!folders_are_valid(*word))
			r = value_refuse(value, "not a path below the directory of the key, or a mode");
	}
	return r;
}

WORDS(folders, .resolve = folders_resolve,
      .expected = "relative paths separated by blanks, and modes, for example app app/cache:0750");

/* --- limits of a sandbox --- */

WORDS(paths, .is_valid = file_is_valid, .inherit = names_inherit,
      .expected =
	      "absolute paths separated by blanks, for example /var/lib/%n -/srv; a - marks a path "
	      "that may be missing");

static bool port_is_valid(struct value *value, const char *word)
{
	uint64_t port;

	return parse_uint(word, UINT16_MAX, &port) == 0 && port > 0;
}

static int ports_parse(struct value *value, void *field)
{
	if (strcmp(value->text, "none") == 0)
		return value_words(value, field) < 0 ? -ENOMEM : 0;
	return text_parse_words(value, field);
}

TYPE(ports, .parse = ports_parse, .is_valid = port_is_valid, .equal = value_equal_words,
     .print = value_print_words, .inherit = names_inherit,
     .expected = "ports from 1 to 65535 separated by blanks, for example 80 443, or none");

static bool call_is_valid(struct value *value, const char *word)
{
	const char *name = word + (*word == '~');

	name += *name == '@';
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789-")];
}

WORDS(calls, .is_valid = call_is_valid, .inherit = names_inherit,
      .expected = "names of system calls and of groups, for example @system-service ~@privileged");

static const struct choice protections[] = {
	{ "all", 0 },
#define PROTECTION_ROW(word) { word, 0 },
#include <base/protections.inc>
	{},
};
static const struct choice families[] = {
	{ "none", 0 },
#define FAMILY_ROW(name, number) { name, 0 },
#include <base/protections.inc>
	{},
};

static bool text_is_choice(struct value *value, const char *word)
{
	int unused;

	return choice_find(value->type->choices, word + (*word == '~'), &unused) == 0;
}

WORDS(protections, .is_valid = text_is_choice, .inherit = names_inherit, .choices = protections,
      .expected = "all, or words such as tunables, and exceptions with ~, for example all ~clock");

WORDS(families, .is_valid = text_is_choice, .inherit = names_inherit, .choices = families,
      .expected = "families of sockets, for example unix inet inet6, or ~packet, or none");

/* --- the standard streams: a word, or file: and a path --- */

static const struct choice words[] = {
	{ "journal", OUTPUT_JOURNAL }, { "syslog", OUTPUT_SYSLOG },
	{ "inherit", OUTPUT_INHERIT }, /* the words from here on are for an input, too */
	{ "null", OUTPUT_NULL },       {},
};

/* Paths that mean another output as the path of a log, and are refused for an input. */
static const struct choice special_paths[] = {
	{ "/dev/stdout", OUTPUT_STDOUT },     { "/dev/fd/1", OUTPUT_STDOUT },
	{ "/proc/self/fd/1", OUTPUT_STDOUT }, { "/dev/stderr", OUTPUT_STDERR },
	{ "/dev/fd/2", OUTPUT_STDERR },	      { "/proc/self/fd/2", OUTPUT_STDERR },
	{ "/dev/null", OUTPUT_NULL },	      {},
};

/* Return: 1: the output is what the path stands for; 0: it is a file; or -errno. */
static int output_parse_special(struct value *value, const char *path, struct output *output)
{
	int kind;

	if (choice_find(special_paths, path, &kind) == 0) {
		output->kind = (enum output_kind)kind;
		return 1;
	}
	if (path[strlen(path) - 1] == '/')
		return value_refuse(value, "is a directory");
	return report_is_device(path) ? value_refuse(value, "is a device") : 0;
}

static int output_parse(struct value *value, void *field)
{
	bool is_input = value->type->choices != words;
	struct output *output = field;
	int kind, r;

	r = choice_find(value->type->choices, value->text, &kind);
	if (r == 0) {
		output->kind = (enum output_kind)kind;
		return 0;
	}
	if (strncmp(value->text, "file:", 5) != 0)
		return r;
	r = value_check_substitutions(value);
	if (r == 0)
		r = value_check_path(value, value->text + 5);
	if (r == 0 && !is_input)
		r = output_parse_special(value, value->text + 5, output);
	if (r == 0)
		r = value_copy(value->text + 5, &output->path);
	if (r == 0)
		output->kind = OUTPUT_FILE;
	return r < 0 ? r : 0;
}

static bool output_equal(const void *a, const void *b)
{
	const struct output *x = a, *y = b;

	return x->kind == y->kind && value_equal_text(&x->path, &y->path);
}

static void output_print(FILE *file, const void *field)
{
	const struct output *output = field;
	const char *name = choice_name(words, (int)output->kind);
	const char *special = name ? NULL : choice_name(special_paths, (int)output->kind);

	if (output->kind == OUTPUT_FILE || special)
		(void)fprintf(file, "file:%s", special ? special : output->path);
	else if (name)
		(void)fputs(name, file);
}

static int output_inherit(void *field, const void *from, const char *path)
{
	const struct output *stated = from;
	struct output *output = field;

	output->kind = stated->kind;
	return substitute_text(stated->path, path, &output->path);
}

#define OUTPUT(list, text)                                                                         \
	{                                                                                          \
		.parse = output_parse, .equal = output_equal, .print = output_print,               \
		.inherit = output_inherit, .expected = text " or file:PATH with an absolute path", \
		.choices = (list)                                                                  \
	}

const struct type type_input = OUTPUT(&words[2], "inherit, null,");
const struct type type_output = OUTPUT(words, "inherit, null, journal, syslog,");
