#include "model/config/environment.h"

#include <search.h>

#include "model/file/source.h"
#include "model/file/substitute.h"

/*
 * A file is read for the first service that names it, and shared by all: so its errors are reported
 * once.  Its variables are stored in the form of a section, with each % doubled: so the variables
 * of files and sections are merged first, and substituted together.
 */
struct word_list {
	char **words; /* NULL-terminated, or NULL */
	size_t n;
};

static int environment_list_add(struct word_list *list, char *word)
{
	char **words = reallocarray(list->words, list->n + 2, sizeof(*words));

	if (!words)
		return -ENOMEM;
	list->words = words;
	words[list->n++] = word;
	words[list->n] = NULL;
	return 0;
}

struct file {
	char *path; /* the first member, by which files are compared */
	bool missing, reported;
	struct word_list variables; /* NAME=VALUE, each of its own allocation */
	struct diag *diag;     /* while it is read */
};

static void environment_free_file(void *p)
{
	struct file *file = p;

	for (size_t i = 0; i < file->variables.n; i++)
		free(file->variables.words[i]);
	free(file->variables.words);
	free(file->path);
	free(file);
}
DEFINE_CLEANUP(struct file *, environment_free_file)

void environment_files_done(struct environment_files *files)
{
	tdestroy(files->by_path, environment_free_file);
}

static int environment_compare_files(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Skips the word export, which scripts for a shell have. */
static char *environment_skip_export(char *line)
{
	size_t length = strlen("export");

	if (strncmp(line, "export", length) != 0 || (line[length] != ' ' && line[length] != '\t'))
		return line;
	return text_trim(line + length, " \t");
}

/* Copies @line, unquoted and with each % doubled; "": invalid quotes; NULL: out of memory. */
static char *environment_new_variable(const char *line, size_t name_length)
{
	char *word = malloc(2 * strlen(line) + 1);
	size_t percents = 0, length;

	if (!word)
		return NULL;
	memcpy(word, line, name_length + 1);
	if (parse_unquote(line + name_length + 1, word + name_length + 1) < 0) {
		/*
		 * A quote inside of a value, as in it's, is a plain character, as in other readers.
		 */
		if (strchr("'\"", line[name_length + 1]))
			*word = '\0';
		else
			strcpy(word, line);
	}
	for (const char *p = word; *p; p++)
		percents += *p == '%';
	length = strlen(word) + 1;
	for (char *from = word + length, *to = from + percents; from > word;) {
		*--to = *--from;
		if (*from == '%')
			*--to = '%';
	}
	return word;
}

static int environment_parse_line(struct file *file, struct place place, char *line)
{
	cleanup(freep) char *variable = NULL;
	char excerpt[DIAG_EXCERPT_MAX];
	size_t length;

	line = text_trim(line, " \t\r");
	if (!*line || *line == '#' || *line == ';')
		return 0;
	line = environment_skip_export(line);
	length = value_variable_name(line);
	if (length == 0) {
		diag_add(file->diag, DIAG_WARNING, place,
			 "line ignored: expected NAME=VALUE, not '%s'",
			 diag_excerpt(excerpt, line));
		return 0;
	}
	if (file->variables.n == ENVIRONMENT_MAX) {
		diag_add(file->diag, DIAG_ERROR, place,
			 "too many variables: at most " STRINGIFY(ENVIRONMENT_MAX));
		return -E2BIG;
	}
	variable = environment_new_variable(line, length);
	if (!variable || (*variable && environment_list_add(&file->variables, variable) < 0))
		return -ENOMEM;
	if (!*variable)
		diag_add(file->diag, DIAG_WARNING, place, "%.*s ignored: open quote in its value",
			 (int)length, line);
	else
		(void)take(variable);
	return 0;
}

static int environment_parse_file(void *arg, const char *path, char *text, size_t size)
{
	struct file *file = arg;
	struct place place = { .file = path };
	char *next;
	int r = 0;

	if (strlen(text) != size) {
		diag_add(file->diag, DIAG_ERROR, place, "NUL byte: expected text");
		return 0;
	}
	for (char *line = text; line && r == 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		place.line++;
		r = environment_parse_line(file, place, line);
	}
	return r == -ENOMEM ? r : 0;
}

/* Finds the file @path, or reads it. */
static int environment_get_file(struct environment_files *files, const char *path,
				struct diag *diag, struct file **ret)
{
	cleanup(environment_free_filep) struct file *file = NULL;
	struct file *const *found = tfind(&path, &files->by_path, environment_compare_files);
	int r;

	if (found) {
		*ret = *found;
		return 0;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->diag = diag;
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	r = source_one(&(struct source){ true, files->tape, diag, environment_parse_file, file,
					 files->open },
		       path);
	if (r < 0 && r != -ENOENT)
		return r;
	file->missing = r == -ENOENT;
	if (!tsearch(file, &files->by_path, environment_compare_files))
		return -ENOMEM;
	*ret = take(file);
	return 0;
}

struct environment {
	struct environment_files *files;
	const struct node_config *node;
	struct diag *diag;
	struct word_list variables, paths; /* their words are borrowed */
};

/* Replaces the variable's value by @word, or appends the variable. */
static int environment_put_variable(struct environment *e, char *word)
{
	size_t length = (size_t)(strchr(word, '=') - word) + 1;

	for (size_t i = 0; i < e->variables.n; i++) {
		if (strncmp(e->variables.words[i], word, length) == 0) {
			e->variables.words[i] = word;
			return 0;
		}
	}
	return environment_list_add(&e->variables, word);
}

static int environment_put_file(struct environment *e, const struct node_config *source, char *word)
{
	cleanup(freep) char *path = NULL;
	bool optional = *word == '-';
	struct file *file = NULL;
	int r;

	r = substitute_text(word + optional, e->node->path, &path);
	if (r == 0)
		r = environment_get_file(e->files, path, e->diag, &file);
	if (r == 0)
		r = environment_list_add(&e->paths, word);
	if (r < 0)
		return r;
	if (file->missing && !optional && !file->reported) {
		file->reported = true;
		section_error(source, e->diag, KEY_ENVIRONMENT_FILE,
			      "no file %s: write -%s if it may be missing", path, path);
	}
	for (size_t i = 0; r == 0 && i < file->variables.n; i++)
		r = environment_put_variable(e, file->variables.words[i]);
	return r;
}

static int environment_put_section(struct environment *e, const struct node_config *source)
{
	const struct node_config *stated = source->inherited;
	int r = 0;

	for (char **word = stated ? stated->environment : NULL; r == 0 && word && *word; word++)
		r = environment_put_variable(e, *word);
	for (char **word = stated ? stated->environment_files : NULL; r == 0 && word && *word;
	     word++)
		r = environment_put_file(e, source, *word);
	return r;
}

int environment_resolve(struct environment_files *files, struct node_config *node,
			struct diag *diag)
{
	struct environment e = { .files = files, .node = node, .diag = diag };
	const struct node_config *chain[CONFIG_DEPTH_MAX + 1];
	size_t depth = 0;
	int r = 0;

	for (const struct node_config *n = node; n; n = n->parent)
		chain[depth++] = n;
	while (r == 0 && depth-- > 0)
		r = environment_put_section(&e, chain[depth]);
	if (r == 0)
		r = substitute_words(e.variables.words, node->path, &node->environment);
	if (r == 0)
		r = substitute_words(e.paths.words, node->path, &node->environment_files);
	free(e.variables.words);
	free(e.paths.words);
	return r;
}
