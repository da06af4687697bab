/*
 * An option is a word of a key of PART_SANDBOX that differs from its default.  A launch writes its own words behind
 * them, which are copied with the process.
 */
#include "daemon/spawn/sandbox.h"

#include "model/keys/keys.h"
#include "sys/spawn/child-attributes.h"

#define LAUNCH_WORDS (SANDBOX_VARIABLES_MAX + 4) /* program, report, --, NULL */

DEFINE_CLEANUP(struct sandbox_words *, sandbox_free)

static int sandbox_add(struct sandbox_words *s, const char *prefix, const char *word)
{
	int r = array_reserve(s->words, s->n);

	if (r < 0 || asprintf(&s->words[s->n], "%s%s", prefix, word) < 0)
		return -ENOMEM;
	s->n++;
	return 0;
}

/* The words of a list are separate options: they may have blanks. */
static int sandbox_add_key(struct sandbox_words *s, const struct key *key, const void *field)
{
	cleanup(freep) char *text = NULL, *prefix = NULL;
	struct memstream m;
	int r = asprintf(&prefix, "--%s=", key->name) < 0 ? -ENOMEM : memstream_open(&m);

	if (r < 0)
		return r;
	type_print(key->type, m.file, field);
	r = memstream_close(&m, &text);
	if (r < 0 || key->type->print != value_print_words)
		return r < 0 ? r : sandbox_add(s, prefix, text);
	for (char *const *word = *(char **const *)field; r == 0 && word && *word; word++)
		r = sandbox_add(s, prefix, *word);
	return r;
}

static int sandbox_add_keys(struct sandbox_words *s, const struct node_config *config)
{
	static const struct node_config none;
	int r = 0;

	for (const struct key *key = keys; r == 0 && key < keys + N_KEYS; key++)
		if (key->part == PART_SANDBOX && key != &keys[KEY_SANDBOX] &&
		    !type_equal(key->type, key_field(key, config), key_field(key, &none)))
			r = sandbox_add_key(s, key, key_field(key, config));
	return r;
}

int sandbox_new(struct sandbox_words **ret, const struct node_config *config)
{
	const struct attributes *attributes = node_config_part(config, PART_ATTRIBUTES);
	cleanup(sandbox_freep) struct sandbox_words *s = NULL;
	char set[24];
	int r;

	if (!config->parts.sandbox)
		return 0;
	s = calloc(1, sizeof(*s));
	r = s ? sandbox_add(s, "swansong-sandbox", "") : -ENOMEM;
	if (r == 0)
		r = sandbox_add_keys(s, config);
	if (r < 0 || s->n == 1)
		return r;
	(void)snprintf(set, sizeof(set), "%" PRIu64, attributes->capabilities);
	r = sandbox_add_key(s, &keys[KEY_SANDBOX], key_field(&keys[KEY_SANDBOX], config));
	if (r == 0)
		r = sandbox_add(s, "--directory=", config->directory ? "stated" : "any");
	if (r == 0 && attributes->capabilities != CAPABILITIES_KEEP)
		r = sandbox_add(s, "--capabilities=", set);
	for (size_t room = s->n; r == 0 && room < s->n + LAUNCH_WORDS; room++)
		r = array_reserve(s->words, room);
	if (r == 0)
		*ret = take(s);
	return r;
}

struct sandbox_words *sandbox_free(struct sandbox_words *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free(s->words[i]);
	if (s)
		free(s->words);
	return free_memory(s);
}

static bool sandbox_is_of_loader(const char *variable)
{
	return strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "GLIBC_TUNABLES=", 15) == 0;
}

int sandbox_wrap(struct sandbox_words *s, struct context *ctx, struct activation_plan *plan,
		 struct spawn_spec *spec, struct attributes *attributes)
{
	char **word = s->words + s->n, **envp = ctx->environment.child, **kept = envp;
	size_t n = plan->n_files;
	uint64_t own = attributes_read_permitted();
	int r = helper_program_open(ctx->sandbox);

	if (r < 0)
		return r;
	spec->program = n ? plan->files[n - 1].to + 1 : STDERR_FILENO + 1;
	plan->files[n] = (struct spawn_file){ ctx->sandbox->fd, spec->program };
	spec->n_files = ++plan->n_files;
	spec->report = spec->program + 1;
	(void)snprintf(s->program, sizeof(s->program), "--program=%d", spec->program);
	*word++ = s->program;
	(void)snprintf(s->report, sizeof(s->report), "--report=%d", spec->report);
	*word++ = s->report;
	for (char **v = envp; *v; v++) {
		if (!sandbox_is_of_loader(*v))
			*kept++ = *v;
		else if (word - s->words - (ptrdiff_t)s->n > SANDBOX_VARIABLES_MAX + 1)
			return -E2BIG;
		else
			*word++ = *v;
	}
	*kept = NULL;
	*word++ = (char *)"--";
	*word = NULL;
	spec->before = s->words;
	*attributes = spec->attributes ? *spec->attributes : (struct attributes)ATTRIBUTES_NONE;
	/* Root has them without. */
	if ((spec->set_user ? spec->uid : geteuid()) != 0 ||
	    attributes->capabilities != CAPABILITIES_KEEP)
		attributes->capabilities = own ? own : CAPABILITIES_KEEP;
	spec->attributes = attributes;
	return 0;
}
