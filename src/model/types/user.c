/*
 * A name is checked for its form before the user database is asked, which may be slow or remote.  A
 * number needs no entry in the database; then it has no group, no home and no shell.
 */
#include "model/types/type.h"

#include "model/file/source.h"

/* Types of users and groups. */

#define GROUPS_MAX 1000 /* in one section */

static bool user_id_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Refuses numbers in other notations and invalid names before the user database is asked. */
static bool user_id_is_name(const char *text)
{
	return strspn(text, TEXT_LETTERS "_") > 0 &&
	       !text[strspn(text, TEXT_LETTERS TEXT_DIGITS "_.@$-")];
}

/* (uid_t)-1 and (gid_t)-1 mean "none" to the kernel. */
static int user_parse_id(struct value *value, uint32_t *ret)
{
	uint64_t number;

	if (parse_uint(value->text, UINT32_MAX - 1, &number) < 0)
		return value_refuse(value, "above the largest number, 4294967294");
	*ret = (uint32_t)number;
	return 0;
}

/* --- look-ups, which are kept on the tape: after a fault the user database may be out of reach --- */

struct look_up {
	const struct config_names *names;
	struct credentials *user; /* NULL: a group */
	gid_t *gid;		  /* of the group */
	bool found;
};

static int user_take_text(char **ret, const char *text, size_t size)
{
	*ret = size ? strndup(text, size) : NULL;
	return size && !*ret ? -ENOMEM : 0;
}

/* The numbers of @word, each behind a blank. */
static int user_take_groups(struct credentials *user, const char *word)
{
	size_t n = 0;
	int used;

	for (const char *at = word; *at; at++)
		n += *at == ' ';
	user->user_groups = calloc(n + 1, sizeof(*user->user_groups));
	if (!user->user_groups)
		return -ENOMEM;
	while (user->n_user_groups < n &&
	       sscanf(word, " %u%n", &user->user_groups[user->n_user_groups], &used) == 1) {
		user->n_user_groups++;
		word += used;
	}
	return *word ? -EBADMSG : 0;
}

/*
 * @word is "GID UID HOME\nSHELL\nLOGIN GID...".  Without a login name, it is of a version that asked for it, and
 * for the groups, later.
 */
static int user_take_word(struct credentials *user, const char *word)
{
	char **const texts[] = { &user->home, &user->shell, &user->login };
	int used = 0, r = 0;

	if (sscanf(word, "%u %u%n", &user->user_gid, &user->uid, &used) != 2 || word[used] != ' ')
		return -EBADMSG;
	word += used;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts) && *word; i++) {
		size_t length = strcspn(++word, texts[i] == &user->login ? " " : "\n");

		r = user_take_text(texts[i], word, length);
		word += length;
	}
	return r == 0 && user->login ? user_take_groups(user, word) : r;
}

/* The word of a group is "GID". */
static int user_on_word(void *arg, const char *word, char *text, size_t size)
{
	struct look_up *l = arg;

	if (l->found)
		return -EBADMSG; /* a damaged tape */
	l->found = true;
	if (l->user)
		return user_take_word(l->user, word);
	return sscanf(word, "%u", l->gid) == 1 ? 0 : -EBADMSG;
}

/* Return: the result of the functions of @names, with the word; -ENOSYS without functions. */
static int user_ask_group(const struct look_up *l, const char *name, char **word)
{
	gid_t gid = 0;
	int r = l->names->group ? l->names->group(name, &gid) : -ENOSYS;

	if (r == 0 && asprintf(word, "%u", gid) < 0)
		r = -ENOMEM;
	return r;
}

static int user_ask(const struct look_up *l, const char *name, char **word)
{
	cleanup(credentials_done) struct credentials user = { .user = NULL };
	struct memstream m;
	int r = l->names->user
			? l->names->user(name, &user.uid, &user.user_gid, &user.home, &user.shell)
			: -ENOSYS;

	if (r == 0 && l->names->groups)
		r = l->names->groups(name, user.user_gid, &user.login, &user.user_groups,
				     &user.n_user_groups);
	if (r < 0)
		return r;
	r = memstream_open(&m);
	if (r < 0)
		return r;
	(void)fprintf(m.file, "%u %u %s\n%s\n%s", user.user_gid, user.uid,
		      user.home ? user.home : "", user.shell ? user.shell : "",
		      user.login ? user.login : "");
	for (size_t i = 0; i < user.n_user_groups; i++)
		(void)fprintf(m.file, " %u", user.user_groups[i]);
	return memstream_close(&m, word);
}

static int user_look_up(struct look_up *l, const char *name)
{
	const struct source source = { .tape = l->names->tape, .each = user_on_word, .arg = l };
	cleanup(freep) char *word = NULL;
	int r = 0;

	if (!source_is_played(source.tape))
		r = l->user ? user_ask(l, name, &word) : user_ask_group(l, name, &word);
	if (r < 0 && r != -ENOENT)
		return r;
	r = source_words(&source, &word, word != NULL);
	if (r == 0 && l->found && l->user && !l->user->login && l->names->groups)
		r = l->names->groups(name, l->user->user_gid, &l->user->login,
				     &l->user->user_groups, &l->user->n_user_groups);
	return r < 0 || l->found ? r : -ENOENT;
}

/* Translates the result of a look-up. */
static int user_check_found(struct value *value, int r, const char *missing)
{
	if (r == 0 || r == -ENOMEM || r == -ENOSYS)
		return r;
	return value_refuse(value, r == -ENOENT ? missing : "look-up failed");
}

/* Finds the number of the group.  Return: 0, -EINVAL or -ENOMEM. */
static int gid_parse(struct value *value, void *field)
{
	if (user_id_is_number(value->text))
		return user_parse_id(value, field);
	if (!user_id_is_name(value->text))
		return -EINVAL;
	return user_check_found(
		value,
		user_look_up(&(struct look_up){ .names = value->names, .gid = field }, value->text),
		"no such group on this system");
}

/* Fills in the members of a user.  The caller frees @user, also on failure. */
static int user_find(struct value *value, struct credentials *user)
{
	bool number = user_id_is_number(value->text);
	uint32_t uid = 0;
	int r;

	if (!number && !user_id_is_name(value->text))
		return -EINVAL;
	r = number ? user_parse_id(value, &uid) : 0;
	if (r == 0)
		r = value_copy(value->text, &user->user);
	if (r < 0)
		return r;
	r = user_look_up(&(struct look_up){ .names = value->names, .user = user }, value->text);
	if (number && r == -ENOENT) {
		user->uid = uid;
		user->user_gid = (gid_t)-1;
		return asprintf(&user->login, "%u", uid) < 0 ? -ENOMEM : 0;
	}
	r = user_check_found(value, r, "no such user on this system");
	if (r == 0 && number && user->uid != uid)
		r = value_refuse(value, "the name of another user");
	return r;
}

static int uid_parse(struct value *value, void *field)
{
	cleanup(credentials_done) struct credentials user = { .user = NULL };
	int r = user_find(value, &user);

	if (r == 0)
		*(uid_t *)field = user.uid;
	return r;
}

/* The fields of user, group and groups are the whole struct credentials. */
static int user_parse(struct value *value, void *field)
{
	cleanup(credentials_done) struct credentials user = { .user = NULL };
	struct credentials *credentials = field;
	int r = user_find(value, &user);

	if (r < 0)
		return r;
	credentials->set = true;
	credentials->uid = user.uid;
	credentials->user_gid = user.user_gid;
	credentials->user_groups = take(user.user_groups);
	credentials->n_user_groups = user.n_user_groups;
	credentials->user = take(user.user);
	credentials->login = take(user.login);
	credentials->home = take(user.home);
	credentials->shell = take(user.shell);
	return 0;
}

static bool group_lists_are_equal(const gid_t *x, size_t n_x, const gid_t *y, size_t n_y)
{
	return n_x == n_y && (n_x == 0 || memcmp(x, y, n_x * sizeof(*x)) == 0);
}

static int group_list_copy(gid_t **ret, size_t *n_ret, const gid_t *groups, size_t n)
{
	if (n == 0)
		return 0;
	*ret = calloc(n, sizeof(*groups));
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, groups, n * sizeof(*groups));
	*n_ret = n;
	return 0;
}

static bool user_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	if (x->set != y->set || !group_lists_are_equal(x->user_groups, x->n_user_groups,
						       y->user_groups, y->n_user_groups))
		return false;
	/* Without key group, the group is the user's own. */
	if (x->set && (x->uid != y->uid || (!x->set_group && !y->set_group && x->gid != y->gid)))
		return false;
	return value_equal_text(&x->user, &y->user) && value_equal_text(&x->login, &y->login) &&
	       value_equal_text(&x->home, &y->home) && value_equal_text(&x->shell, &y->shell);
}

static void user_print(FILE *file, const void *field)
{
	value_print_text(file, &((const struct credentials *)field)->user);
}

static int user_copy_text(char **field, const char *text)
{
	return text ? value_copy(text, field) : 0;
}

static int user_inherit(void *field, const void *from, const char *path)
{
	const struct credentials *stated = from;
	struct credentials *credentials = field;

	credentials->set = stated->set;
	credentials->uid = stated->uid;
	credentials->user_gid = stated->user_gid;
	if (!credentials->set_group)
		credentials->gid = stated->user_gid;
	if (user_copy_text(&credentials->user, stated->user) < 0 ||
	    user_copy_text(&credentials->login, stated->login) < 0 ||
	    user_copy_text(&credentials->home, stated->home) < 0 ||
	    group_list_copy(&credentials->user_groups, &credentials->n_user_groups,
			    stated->user_groups, stated->n_user_groups) < 0)
		return -ENOMEM;
	return user_copy_text(&credentials->shell, stated->shell);
}

#define USER_EXPECTED "the name of a user, for example www-data, or a number below 4294967295"

TYPE(user, .parse = user_parse, .equal = user_equal, .print = user_print, .inherit = user_inherit,
     .expected = USER_EXPECTED);

/* The number of a user or group; -1: none. */
static void user_print_id(FILE *file, const void *field)
{
	const uint32_t *id = field;

	if (*id != UINT32_MAX)
		(void)fprintf(file, "%u", *id);
}

TYPE(uid, .parse = uid_parse, .print = user_print_id, .size = sizeof(uid_t),
     .expected = USER_EXPECTED);

#define GROUP_EXPECTED "the name of a group, for example www-data, or a number below 4294967295"

static int group_parse(struct value *value, void *field)
{
	struct credentials *credentials = field;
	int r = gid_parse(value, &credentials->gid);

	credentials->set_group = r == 0;
	return r;
}

static bool group_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	return x->set_group == y->set_group && (!x->set_group || x->gid == y->gid);
}

static void group_print(FILE *file, const void *field)
{
	const struct credentials *credentials = field;

	if (credentials->set_group)
		(void)fprintf(file, "%u", credentials->gid);
}

static int group_inherit(void *field, const void *from, const char *path)
{
	const struct credentials *stated = from;
	struct credentials *credentials = field;

	credentials->set_group = stated->set_group;
	credentials->gid = stated->gid;
	return 0;
}

TYPE(group, .parse = group_parse, .equal = group_equal, .print = group_print,
     .inherit = group_inherit, .expected = GROUP_EXPECTED);

TYPE(gid, .parse = gid_parse, .print = user_print_id, .size = sizeof(gid_t),
     .expected = GROUP_EXPECTED);

static int groups_parse(struct value *value, void *field)
{
	struct credentials *credentials = field;
	cleanup(freep) char **words = NULL;
	cleanup(freep) gid_t *groups = NULL;
	bool none = strcmp(value->text, "none") == 0;
	int n = none ? 0 : value_words(value, &words);

	if (n < 0)
		return n;
	if (n == 0 && !none)
		return -EINVAL;
	if (n > GROUPS_MAX)
		return value_refuse(value, "more than " STRINGIFY(GROUPS_MAX) " groups");
	groups = calloc((size_t)n + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		struct value group = { .text = words[i], .names = value->names };
		int r = gid_parse(&group, &groups[i]);

		if (r == -EINVAL)
			return value_refuse(value, group.why ? "no such group on this system"
							     : "not a group");
		if (r < 0)
			return r;
		for (int j = 0; j < i; j++) {
			if (groups[i] == groups[j])
				return value_refuse(value, "duplicate group");
		}
	}
	credentials->set_groups = true;
	credentials->groups = take(groups);
	credentials->n_groups = (size_t)n;
	return 0;
}

static bool groups_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	return x->set_groups == y->set_groups &&
	       group_lists_are_equal(x->groups, x->n_groups, y->groups, y->n_groups);
}

static void groups_print(FILE *file, const void *field)
{
	const struct credentials *credentials = field;

	if (credentials->set_groups && credentials->n_groups == 0)
		(void)fputs("none", file);
	for (size_t i = 0; i < credentials->n_groups; i++)
		(void)fprintf(file, "%s%u", i ? " " : "", (unsigned)credentials->groups[i]);
}

static int groups_inherit(void *field, const void *from, const char *path)
{
	const struct credentials *stated = from;
	struct credentials *credentials = field;

	credentials->set_groups = stated->set_groups;
	return group_list_copy(&credentials->groups, &credentials->n_groups, stated->groups,
			       stated->n_groups);
}

TYPE(groups, .parse = groups_parse, .equal = groups_equal, .print = groups_print,
     .inherit = groups_inherit,
     .expected =
	     "names or numbers of groups separated by blanks, each once, for example adm 4, or none");
