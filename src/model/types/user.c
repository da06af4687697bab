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
	struct credentials *user; /* or NULL: a group */
	gid_t *gid;
	bool found;
};

static int user_take_text(char **ret, const char *text, size_t size)
{
	*ret = size ? strndup(text, size) : NULL;
	return size && !*ret ? -ENOMEM : 0;
}

/* @word is "GID", or "GID UID HOME\nSHELL". */
static int user_on_word(void *arg, const char *word, char *text, size_t size)
{
	struct look_up *l = arg;
	const char *home;
	size_t length;
	int used = 0, r;

	l->found = true;
	if (!l->user)
		return sscanf(word, "%u", l->gid) == 1 ? 0 : -EBADMSG;
	if (sscanf(word, "%u %u%n", l->gid, &l->user->uid, &used) != 2 || word[used] != ' ')
		return -EBADMSG;
	home = word + used + 1;
	length = strcspn(home, "\n");
	r = user_take_text(&l->user->home, home, length);
	if (r == 0 && home[length])
		r = user_take_text(&l->user->shell, home + length + 1, strlen(home + length + 1));
	return r;
}

/* Return: the result of the function of @names, with the word. */
static int user_ask(const struct look_up *l, const char *name, char **word)
{
	cleanup(freep) char *home = NULL;
	cleanup(freep) char *shell = NULL;
	uid_t uid = 0;
	gid_t gid = 0;
	int r = l->user ? l->names->user(name, &uid, &gid, &home, &shell)
			: l->names->group(name, &gid);

	if (r < 0)
		return r;
	r = l->user ? asprintf(word, "%u %u %s\n%s", gid, uid, home ? home : "", shell ? shell : "")
		    : asprintf(word, "%u", gid);
	return r < 0 ? -ENOMEM : 0;
}

static int user_look_up(struct look_up *l, const char *name)
{
	const struct source source = { .tape = l->names->tape, .each = user_on_word, .arg = l };
	cleanup(freep) char *word = NULL;
	int r = 0;

	if (!source_is_played(source.tape))
		r = user_ask(l, name, &word);
	if (r < 0 && r != -ENOENT)
		return r;
	r = source_words(&source, &word, word != NULL);
	return r < 0 || l->found ? r : -ENOENT;
}

/* Translates the result of a look-up. */
static int user_check_found(struct value *value, int r, const char *missing)
{
	if (r == 0 || r == -ENOMEM)
		return r;
	return value_refuse(value, r == -ENOENT ? missing : "look-up failed");
}

int value_group(struct value *value, void *field)
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
	r = user_look_up(
		&(struct look_up){ .names = value->names, .user = user, .gid = &user->user_gid },
		value->text);
	if (number && r == -ENOENT) {
		user->uid = uid;
		user->user_gid = (gid_t)-1;
		return 0;
	}
	r = user_check_found(value, r, "no such user on this system");
	if (r == 0 && number && user->uid != uid)
		r = value_refuse(value, "the name of another user");
	return r;
}

int value_owner(struct value *value, void *field)
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
	credentials->user = take(user.user);
	credentials->home = take(user.home);
	credentials->shell = take(user.shell);
	return 0;
}

static bool user_equal(const void *a, const void *b)
{
	const struct credentials *x = a, *y = b;

	if (x->set != y->set)
		return false;
	/* Without key group, the group is the user's own. */
	if (x->set && (x->uid != y->uid || (!x->set_group && !y->set_group && x->gid != y->gid)))
		return false;
	return value_equal_text(&x->user, &y->user) && value_equal_text(&x->home, &y->home) &&
	       value_equal_text(&x->shell, &y->shell);
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
	if (!credentials->set_group)
		credentials->gid = stated->user_gid;
	if (user_copy_text(&credentials->user, stated->user) < 0 ||
	    user_copy_text(&credentials->home, stated->home) < 0)
		return -ENOMEM;
	return user_copy_text(&credentials->shell, stated->shell);
}

#define USER_EXPECTED "the name of a user, for example www-data, or a number below 4294967295"

TYPE(user, .parse = user_parse, .equal = user_equal, .print = user_print, .inherit = user_inherit,
     .expected = USER_EXPECTED, .examples = { "redis", "web" });

/* The number of a user or group; -1: none. */
static void user_print_id(FILE *file, const void *field)
{
	const uint32_t *id = field;

	if (*id != UINT32_MAX)
		(void)fprintf(file, "%u", *id);
}

TYPE(uid, .parse = value_owner, .print = user_print_id, .size = sizeof(uid_t),
     .expected = USER_EXPECTED, .examples = { "100", "101" });

#define GROUP_EXPECTED "the name of a group, for example www-data, or a number below 4294967295"

static int group_parse(struct value *value, void *field)
{
	struct credentials *credentials = field;
	int r = value_group(value, &credentials->gid);

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
     .inherit = group_inherit, .expected = GROUP_EXPECTED, .examples = { "4", "5" });

TYPE(gid, .parse = value_group, .print = user_print_id, .size = sizeof(gid_t),
     .expected = GROUP_EXPECTED, .examples = { "4", "5" });

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
		int r = value_group(&group, &groups[i]);

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

	if (x->set_groups != y->set_groups || x->n_groups != y->n_groups)
		return false;
	return x->n_groups == 0 ||
	       memcmp(x->groups, y->groups, x->n_groups * sizeof(*x->groups)) == 0;
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
	if (stated->n_groups == 0)
		return 0;
	credentials->groups = calloc(stated->n_groups, sizeof(*stated->groups));
	if (!credentials->groups)
		return -ENOMEM;
	memcpy(credentials->groups, stated->groups, stated->n_groups * sizeof(*stated->groups));
	credentials->n_groups = stated->n_groups;
	return 0;
}

TYPE(groups, .parse = groups_parse, .equal = groups_equal, .print = groups_print,
     .inherit = groups_inherit,
     .expected =
	     "names or numbers of groups separated by blanks, each once, for example adm 4, or none",
     .examples = { "4 7", "none" });
