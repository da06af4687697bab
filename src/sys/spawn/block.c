/*
 * The same function counts the bytes and, in a second pass, copies them.  Blocks of the usual size
 * are used again: fresh memory costs the kernel more than the copy.
 */
#include "sys/spawn/block.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/macro.h"

#define STACK_SIZE   (32 * 1024)
#define USUAL_SIZE   (STACK_SIZE + 16 * 1024)
#define FREE_MIN     4U
#define ALIGNMENT    16
#define ALIGN(bytes) (((bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

struct writer {
	char *base; /* NULL: only count */
	size_t used;
};

/* Return: the copy, or NULL if the bytes are only counted or @from is NULL. */
static void *block_add(struct writer *w, const void *from, size_t n)
{
	char *at = w->base ? w->base + w->used : NULL;

	if (!from)
		return NULL;
	w->used += ALIGN(n);
	return at ? memcpy(at, from, n) : NULL;
}

static char *block_add_text(struct writer *w, const char *text)
{
	return block_add(w, text, text ? strlen(text) + 1 : 0);
}

static size_t block_count(char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

static bool block_has_place(const char *word, const char *place)
{
	return place && place >= word && place <= word + strlen(word);
}

/* The child writes its pid at a place, also behind the present end of the word. */
static size_t block_word_size(const struct spawn_spec *spec, const char *word)
{
	size_t size = strlen(word) + 1;

	for (size_t i = 0; i < ARRAY_SIZE(spec->pid_places); i++)
		if (block_has_place(word, spec->pid_places[i]))
			size = MAX(size, (size_t)(spec->pid_places[i] - word) + SPAWN_PID_MAX);
	return size;
}

static char **block_add_words(struct writer *w, const struct spawn_spec *spec, char *const *words)
{
	size_t n = block_count(words);
	char **copy = block_add(w, words, (n + 1) * sizeof(*words));

	for (size_t i = 0; i < n; i++) {
		char *word = block_add(w, words[i], block_word_size(spec, words[i]));

		if (copy)
			copy[i] = word;
	}
	return copy;
}

/* Returns the address in @copy that corresponds to @place in one of @words. */
static char *block_find_place(char *const *words, char *const *copy, const char *place)
{
	for (size_t i = 0; place && words[i]; i++)
		if (block_has_place(words[i], place))
			return copy[i] + (place - words[i]);
	return NULL;
}

static void block_add_spec(struct writer *w, struct spawn_spec *spec)
{
	const struct spawn_spec from = *spec;

	spec->argv = block_add_words(w, &from, from.argv);
	spec->envp = block_add_words(w, &from, from.envp);
	for (size_t i = 0; w->base && i < ARRAY_SIZE(from.pid_places); i++)
		spec->pid_places[i] = block_find_place(from.envp, spec->envp, from.pid_places[i]);
	spec->input = block_add_text(w, from.input);
	spec->directory = block_add_text(w, from.directory);
	spec->groups = block_add(w, from.groups, from.n_groups * sizeof(*from.groups));
	spec->files = block_add(w, from.files, from.n_files * sizeof(*from.files));
	spec->descriptors = block_add(w, from.descriptors, sizeof(*from.descriptors));
	spec->attributes = block_add(w, from.attributes, sizeof(*from.attributes));
	spec->mask = block_add(w, from.mask, sizeof(*from.mask));
	spec->ignored = block_add(w, from.ignored, sizeof(*from.ignored));
}

static struct spawn_block *block_map(struct spawn_pool *pool, size_t size)
{
	struct spawn_block *block = pool->free;

	if (size <= USUAL_SIZE && block) {
		pool->free = block->next;
		pool->n--;
		pool->used++;
		return block;
	}
	size = MAX(size, (size_t)USUAL_SIZE);
	block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	pool->used++;
	block->size = size;
	return block;
}

int spawn_block_new(struct spawn_block **ret, struct spawn_pool *pool,
		    const struct spawn_spec *spec)
{
	struct writer w = { .base = NULL };
	struct spawn_spec copy = *spec;
	struct spawn_block *block;
	size_t script = 0;

	block_add_spec(&w, &copy);
	if (spec->script)
		script = (block_count(spec->argv) + 3) * sizeof(char *);
	block = block_map(pool, STACK_SIZE + ALIGN(sizeof(*block)) + w.used + script);
	if (!block)
		return -ENOMEM;
	*block = (struct spawn_block){
		.size = block->size, .spec = *spec, .report = -1, .step = SPAWN_STEP_EXEC
	};
	w = (struct writer){ .base = (char *)block + ALIGN(sizeof(*block)) };
	block_add_spec(&w, &block->spec);
	block->script = script ? (void *)(w.base + w.used) : NULL;
	*ret = block;
	return 0;
}

static void block_keep(struct spawn_pool *pool, unsigned n)
{
	while (pool->n > n) {
		struct spawn_block *block = pool->free;

		pool->free = block->next;
		pool->n--;
		(void)munmap(block, block->size);
	}
}

struct spawn_block *spawn_block_free(struct spawn_block *block, struct spawn_pool *pool)
{
	if (!block)
		return NULL;
	pool->used--;
	if (block->size == USUAL_SIZE) {
		block->next = pool->free;
		pool->free = block;
		pool->n++;
	} else {
		(void)munmap(block, block->size);
	}
	block_keep(pool, MAX(pool->used, FREE_MIN));
	return NULL;
}

void spawn_pool_done(struct spawn_pool *pool)
{
	block_keep(pool, 0);
}

char *spawn_block_stack(struct spawn_block *block)
{
	return (char *)block + block->size / ALIGNMENT * ALIGNMENT;
}
