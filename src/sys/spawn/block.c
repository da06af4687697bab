/*
 * The same function counts the bytes and, in a second pass, copies them.  Blocks of the usual size
 * are used again: fresh memory costs the kernel more than the copy.
 */
#include "sys/spawn/block.h"

#include "sys/spawn/raw.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

#define STACK_SIZE   (64 * 1024) /* also for a walk, sys/file/path.h */
#define USUAL_SIZE   (STACK_SIZE + 16 * 1024)
#define FREE_MIN     4U
#define ALIGNMENT    16
#define ALIGN(bytes) (((bytes) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

#define FILES_MAX 28
#define SENT_MAX  (FILES_MAX + 4) /* with the standard streams and the report */

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

/* Words of @before, which may be NULL, and of @words. */
static char **block_add_words(struct writer *w, const struct spawn_spec *spec, char *const *before,
			      char *const *words)
{
	size_t first = before ? block_count(before) : 0, n = block_count(words);
	char **copy = w->base ? (void *)(w->base + w->used) : NULL;

	w->used += ALIGN((first + n + 1) * sizeof(*words));
	for (size_t i = 0; i < first + n; i++) {
		const char *from = i < first ? before[i] : words[i - first];
		char *word = block_add(w, from, block_word_size(spec, from));

		if (copy)
			copy[i] = word;
	}
	if (copy)
		copy[first + n] = NULL;
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

	spec->argv = block_add_words(w, &from, from.before, from.argv);
	spec->envp = block_add_words(w, &from, NULL, from.envp);
	for (size_t i = 0; w->base && i < ARRAY_SIZE(from.pid_places); i++)
		spec->pid_places[i] = block_find_place(from.envp, spec->envp, from.pid_places[i]);
	spec->input = block_add_text(w, from.input);
	spec->root = block_add_text(w, from.root);
	spec->directory = block_add_text(w, from.directory);
	spec->groups = block_add(w, from.groups, from.n_groups * sizeof(*from.groups));
	spec->files = block_add(w, from.files, from.n_files * sizeof(*from.files));
	spec->descriptors = block_add(w, from.descriptors, sizeof(*from.descriptors));
	spec->file_size = block_add(w, from.file_size, sizeof(*from.file_size));
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
	*block = (struct spawn_block){ .size = size, .channel = { -1, -1 } };
	return block;
}

static void block_unmap(struct spawn_block *block)
{
	(void)fd_close(block->channel[0]);
	(void)fd_close(block->channel[1]);
	(void)munmap(block, block->size);
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
		.size = block->size,
		.spec = *spec,
		.report = -1,
		.channel = { block->channel[0], block->channel[1] },
		.step = SPAWN_STEP_EXEC,
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
		struct spawn_block **at = pool->free->next ? &pool->free->next : &pool->free;
		struct spawn_block *block = *at;

		*at = block->next;
		pool->n--;
		block_unmap(block);
	}
}

struct spawn_block *spawn_block_free(struct spawn_block *block, struct spawn_pool *pool)
{
	if (!block)
		return NULL;
	pool->used--;
	if (block->size == USUAL_SIZE) {
		struct spawn_block **at = &pool->free;

		/* The first has the lowest channel: a child copies the table up to that. */
		if (*at && (*at)->channel[1] < block->channel[1])
			at = &(*at)->next;
		block->next = *at;
		*at = block;
		pool->n++;
	} else {
		block_unmap(block);
	}
	block_keep(pool, MAX(pool->kept, FREE_MIN));
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

/* --- descriptors --- */

struct message {
	struct msghdr header;
	struct iovec byte;
	char text;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(SENT_MAX * sizeof(int))];
	} control;
};

/* @m must not move. */
static SPAWN_PLAIN void block_prepare_message(struct message *m, size_t n)
{
	m->byte = (struct iovec){ &m->text, 1 };
	m->header = (struct msghdr){
		.msg_iov = &m->byte,
		.msg_iovlen = 1,
		.msg_control = &m->control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
}

/* Returns the place of descriptor @i of the child, the last one of which is its report; NULL: no more. */
static SPAWN_PLAIN int *block_descriptor(struct spawn_block *block, size_t i)
{
	struct spawn_spec *spec = &block->spec;
	size_t n = ARRAY_SIZE(spec->stdio);

	if (i < n)
		return &spec->stdio[i];
	if (i < n + spec->n_files)
		return (int *)&spec->files[i - n].from; /* the block's own */
	return i == n + spec->n_files ? &block->report : NULL;
}

/*
 * Copies those of the child's descriptors that the message has to @fds, or from there.  The standard streams of
 * the parent stay.  Return: their number.
 */
static SPAWN_PLAIN size_t block_exchange(struct spawn_block *block, int *fds, bool take)
{
	size_t n = 0;
	int *fd;

	for (size_t i = 0; (fd = block_descriptor(block, i)); i++)
		if (*fd > STDERR_FILENO && take)
			*fd = fds[n++];
		else if (*fd > STDERR_FILENO)
			fds[n++] = *fd;
	return n;
}

bool spawn_block_send(struct spawn_block *block)
{
	const struct spawn_spec *spec = &block->spec;
	struct message m = { .text = 0 };
	int *fds = (void *)CMSG_DATA(&m.control.header);
	size_t n;

	if (spec->keep_descriptors || spec->directory_fd > 0 || spec->n_files > FILES_MAX)
		return false;
	/* The child depends on this call: old kernels and sandboxes refuse it before they see that the range is none. */
	if (block->channel[0] < 0 &&
	    (raw(SYS_close_range, 1, 0, CLOSE_RANGE_UNSHARE) != -EINVAL ||
	     socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, block->channel) < 0))
		return false;
	n = block_exchange(block, fds, false);
	block_prepare_message(&m, n);
	m.control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(n * sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	return n > 0 && sendmsg(block->channel[0], &m.header, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

SPAWN_PLAIN long spawn_block_take(struct spawn_block *block)
{
	struct message m;
	int *fds = (void *)CMSG_DATA(&m.control.header), report = block->report;
	size_t n = block_exchange(block, fds, false);
	long r;

	/* The number may belong to another descriptor of the parent by now. */
	block->report = -1;
	r = raw(SYS_close_range, block->channel[1] + 1, UINT_MAX, CLOSE_RANGE_UNSHARE);
	if (r < 0)
		return r;
	block_prepare_message(&m, n);
	r = raw(SYS_recvmsg, block->channel[1], &m.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	block->took = r > 0;
	if (r < 0)
		return r;
	if (m.header.msg_controllen < CMSG_LEN(n * sizeof(int)) ||
	    m.control.header.cmsg_len != CMSG_LEN(n * sizeof(int)))
		return -EMFILE;
	block->report = report;
	(void)block_exchange(block, fds, true);
	return 0;
}

void spawn_block_drop(struct spawn_block *block)
{
	struct msghdr nothing = { .msg_iov = NULL };

	if (block->shares && !block->took)
		(void)recvmsg(block->channel[1], &nothing, MSG_DONTWAIT);
	block->shares = false;
}
