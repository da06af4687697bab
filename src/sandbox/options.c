/*
 * The words stay as they are, and are compared where they matter; those of a choice are checked here, so that no
 * limit is missed that a later daemon asks for.
 */
#include "sandbox/options.h"

static const struct {
	const char *name, *choices[4];
} rows[N_OPTIONS] = {
#define OPTION(option, name, ...) { name, { __VA_ARGS__ } },
	OPTIONS(OPTION)
#undef OPTION
};
static const char *const protections[] = {
	"all",
#define PROTECTION_ROW(word) word,
#include <base/protections.inc>
	NULL,
};

static bool options_add(struct options *options, enum option option, char *word)
{
	const char *const *choices = option == PROTECT ? protections : rows[option].choices;
	size_t n = 0;

	while (options->words[option][n])
		n++;
	if (!*word || n == OPTION_WORDS_MAX ||
	    (*choices && !text_is_one_of(word + (option == PROTECT && *word == '~'), choices)))
		return false;
	options->words[option][n] = word;
	return true;
}

static bool options_read(struct options *options, char *word)
{
	size_t length = strcspn(word, "=");

	for (enum option i = 0; word[length] && i < N_OPTIONS; i++)
		if (strlen(rows[i].name) == length && strncmp(rows[i].name, word, length) == 0)
			return options_add(options, i, word + length + 1);
	return false;
}

const char *options_parse(struct options *options, char **argv)
{
	*options = (struct options){ .argv = NULL };
	for (; *argv && strncmp(*argv, "--", 2) == 0 && (*argv)[2]; argv++)
		if (!options_read(options, *argv + 2))
			return *argv;
	options->variables = argv;
	while (*argv && strcmp(*argv, "--") != 0)
		if (!strchr(*argv++, '='))
			return argv[-1];
	if (!*argv || !argv[1])
		return "--";
	options->argv = argv + 1;
	return NULL;
}

bool option_protects(const struct options *o, const char *word)
{
	bool protects = false;

	for (char *const *w = o->words[PROTECT]; *w; w++)
		if (strcmp(*w + (**w == '~'), word) == 0 || strcmp(*w, "all") == 0)
			protects = **w != '~';
	return protects;
}

uint64_t option_number(const struct options *o, enum option option, uint64_t otherwise)
{
	uint64_t number = otherwise;

	if (option_is_set(o, option))
		(void)parse_uint(o->words[option][0], UINT64_MAX, &number);
	return number;
}

int options_add_directories(struct options *options)
{
	static const char *const names[] = { "RUNTIME_DIRECTORY", "STATE_DIRECTORY",
					     "CACHE_DIRECTORY", "LOGS_DIRECTORY" };
	char *word;

	if (!option_is_set(options, WRITE_PATHS) && !option_is_set(options, READ_ONLY_SYSTEM))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path = getenv(names[i]);

		while (path && *path == '/') {
			size_t length = strcspn(path, ":");

			if (asprintf(&word, "-%.*s", (int)length, path) < 0 ||
			    !options_add(options, WRITE_PATHS, word))
				return -ENOMEM;
			path += length + (path[length] == ':');
		}
	}
	return 0;
}
