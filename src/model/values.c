#include "model/values-private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"

static int value_socket(struct value *value, void *field)
{
	const size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);

	if (strcmp(value->text, "none") != 0 && *value->text != '/')
		return -EINVAL;
	if (strlen(value->text) >= room)
		return value_refuse(value, "is longer than a socket's path can be");
	return value_copy(value->text, field);
}

/* It is replaced by a file, and so would a device be. */
static bool is_device(const char *path)
{
	static const char devices[] = "/dev/", memory[] = "/dev/shm/";

	return strncmp(path, devices, sizeof(devices) - 1) == 0 &&
	       strncmp(path, memory, sizeof(memory) - 1) != 0;
}

/* PATH.tmp is to be a path, too. */
static int value_report(struct value *value, void *field)
{
	size_t length = strlen(value->text);
	int r = 0;

	if (strcmp(value->text, "none") != 0)
		r = value_check_path(value, value->text);
	if (r == 0 && length + sizeof(".tmp") > PATH_MAX)
		r = value_refuse(value, "is longer than a path can be");
	if (r == 0 && value->text[length - 1] == '/')
		r = value_refuse(value, "is a directory");
	if (r == 0 && is_device(value->text))
		r = value_refuse(value, "is where devices are");
	return r < 0 ? r : value_copy(value->text, field);
}

static bool id_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Not a number by another spelling, not a name with a slip in it: B is for the user database. */
static bool id_is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return *text && strchr(letters, *text) &&
	       strspn(text,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.@$-") ==
		       strlen(text);
}

/* (uid_t)-1 and (gid_t)-1 mean "none" to the kernel. */
static int value_number(struct value *value, uint32_t *ret)
{
	uint64_t number;

	if (parse_uint(value->text, UINT32_MAX - 1, &number) < 0)
		return value_refuse(value, "is beyond the largest number, 4294967294");
	*ret = (uint32_t)number;
	return 0;
}

int value_group(struct value *value, gid_t *ret)
{
	int r;

	if (id_is_number(value->text))
		return value_number(value, ret);
	if (!id_is_name(value->text))
		return -EINVAL;
	r = value->names->group(value->text, ret);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT)
		return value_refuse(value, "is no group of this system");
	return r < 0 ? value_refuse(value, "cannot be looked up") : 0;
}

static int value_control_group(struct value *value, void *field)
{
	struct config *config = field;
	int r = value_group(value, &config->control_group);

	config->control_group_set = r == 0;
	return r;
}

static int value_stated_group(struct value *value, void *field)
{
	return value_group(value, field);
}

static int value_user(struct value *value, void *field)
{
	cleanup(stated_user_done) struct stated_user user = { .has_gid = true };
	bool number = id_is_number(value->text);
	uint32_t uid = 0;
	int r;

	if (!number && !id_is_name(value->text))
		return -EINVAL;
	if (number) {
		r = value_number(value, &uid);
		if (r < 0)
			return r;
	}
	r = value_copy(value->text, &user.name);
	if (r < 0)
		return r;
	r = value->names->user(value->text, &user.uid, &user.gid, &user.home, &user.shell);
	if (r == -ENOMEM)
		return r;
	if (number && r == -ENOENT) {
		user.uid = uid;
		user.has_gid = false;
	} else if (r == -ENOENT) {
		return value_refuse(value, "is no user of this system");
	} else if (r < 0) {
		return value_refuse(value, "cannot be looked up");
	}
	if (number && user.uid != uid)
		return value_refuse(value, "is the name of another user");
	*(struct stated_user *)field = user;
	user = (struct stated_user){ .name = NULL };
	return 0;
}

int value_owner(struct value *value, uid_t *ret)
{
	cleanup(stated_user_done) struct stated_user user = { .name = NULL };
	int r = value_user(value, &user);

	if (r == 0)
		*ret = user.uid;
	return r;
}

int value_mode(struct value *value, void *field)
{
	unsigned mode;
	int r = parse_mode(value->text, &mode);

	if (r < 0 || mode > 0777)
		return -EINVAL;
	*(unsigned *)field = mode;
	return 0;
}

static int value_duration(struct value *value, void *field)
{
	return parse_duration(value->text, field) < 0 ? -EINVAL : 0;
}

static int value_bool(struct value *value, void *field)
{
	return parse_bool(value->text, field);
}

static int value_signal(struct value *value, void *field)
{
	return parse_signal(value->text, field) < 0 ? -EINVAL : 0;
}

static int value_nodes(struct value *value, void *field)
{
	return value_substituted_words(value, field);
}

static int value_command(struct value *value, void *field)
{
	struct section *section = field;
	cleanup(freep) char **argv = NULL;
	int r = value_argv(value, &argv);

	if (r < 0)
		return r;
	r = value_copy(value->text, &section->node->command);
	if (r < 0)
		return r;
	section->argv = take(argv);
	return 0;
}

static int value_type(struct value *value, void *field)
{
	return choice_find(choices_type, value->text, field);
}

int value_address(const char *text, union inet_address *ret)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	size_t length = colon ? (size_t)(colon - text) : sizeof(host);
	union inet_address address;
	uint64_t port;
	int r;

	/* Every byte, as addresses are compared whole. */
	memset(&address, 0, sizeof(address));
	if (length >= sizeof(host) || parse_uint(colon + 1, UINT16_MAX, &port) < 0 || port == 0)
		return -EINVAL;
	*(char *)mempcpy(host, text, length) = '\0';
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
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

static int value_fd_store_max(struct value *value, void *field)
{
	uint64_t n;

	if (parse_uint(value->text, CONFIG_FD_STORE_MAX, &n) < 0)
		return -EINVAL;
	*(unsigned *)field = (unsigned)n;
	return 0;
}

static int value_watchdog(struct value *value, void *field)
{
	uint64_t usec;

	if (parse_duration(value->text, &usec) < 0)
		return -EINVAL;
	if (usec == 0)
		return value_refuse(value, "leaves no time");
	*(uint64_t *)field = usec == USEC_INFINITY ? 0 : usec;
	return 0;
}

static int value_directory(struct value *value, void *field)
{
	int r = value_check_substitutions(value);

	if (r == 0)
		r = value_check_path(value, value->text);
	return r < 0 ? r : value_copy(value->text, field);
}

static int value_environment(struct value *value, void *field)
{
	cleanup(freep) char **words = NULL;
	int n = value_substituted_words(value, &words);

	if (n < 0)
		return n;
	if (n > ENVIRONMENT_MAX)
		return value_refuse(value,
				    "has more than " STRINGIFY(ENVIRONMENT_MAX) " variables");
	for (int i = 0; i < n; i++) {
		size_t length = section_variable_name(words[i]);

		if (length == 0)
			return value_refuse(value, "has a word that is not NAME=VALUE");
		for (int j = 0; j < i; j++) {
			if (strncmp(words[i], words[j], length + 1) == 0)
				return value_refuse(value, "has a variable twice");
		}
	}
	*(char ***)field = take(words);
	return 0;
}

static int value_umask(struct value *value, void *field)
{
	unsigned mode;
	int r = value_mode(value, &mode);

	if (r == 0)
		*(int *)field = (int)mode;
	return r;
}

#define DURATION_ALLOWED "a duration such as 250ms, 30s, 5min, 1h, 1d or infinity"
#define USER_ALLOWED	 "the name of a user, which begins with a letter, or a number below 4294967295"
#define GROUP_ALLOWED \
	"the name of a group, which begins with a letter, or a number below 4294967295"
#define MODE_ALLOWED  "octal permissions from 0 to 0777"
#define NODES_ALLOWED "names of nodes with blanks between them"

/* clang-format off */
const struct value_type type_socket = { value_socket,
	"an absolute path of at most 107 bytes, or none" };
const struct value_type type_control_group = { value_control_group,
	GROUP_ALLOWED };
const struct value_type type_control_mode = { value_mode, MODE_ALLOWED };
const struct value_type type_report = { value_report,
	"the absolute path of a file, or none" };
const struct value_type type_duration = { value_duration, DURATION_ALLOWED };
const struct value_type type_nodes = { value_nodes, NODES_ALLOWED };
const struct value_type type_command = { value_command,
	"a program and its arguments, quoted as in a shell" };
const struct value_type type_type = { value_type, "simple or oneshot" };
const struct value_type type_fd_store_max = { value_fd_store_max,
	"a number from 0 to " STRINGIFY(CONFIG_FD_STORE_MAX) };
const struct value_type type_watchdog = { value_watchdog,
	"a duration such as 500ms, 30s, 5min, or infinity for none" };
const struct value_type type_signal = { value_signal,
	"a signal such as SIGTERM, QUIT, 15 or SIGRTMIN+3" };
const struct value_type type_bool = { value_bool, BOOL_ALLOWED };
const struct value_type type_user = { value_user, USER_ALLOWED };
const struct value_type type_group = { value_stated_group, GROUP_ALLOWED };
const struct value_type type_directory = { value_directory,
	"an absolute path, with %n, %i and %%" };
const struct value_type type_environment = { value_environment,
	"words NAME=VALUE, quoted as in a shell, each name once" };
const struct value_type type_umask = { value_umask, MODE_ALLOWED };
/* clang-format on */
