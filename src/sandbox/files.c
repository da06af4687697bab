/*
 * A ruleset of Landlock for each of three limits, one upon the other.  A ruleset handles what the kernel has: later
 * versions know more of writing, and ports.  Without the right to move files every ruleset of files would
 * refuse that, so it is allowed where it is not limited.
 */
#include "sandbox/files.h"

/* As in <linux/landlock.h>, which is older than the kernel on some systems. */
#define EXECUTE	     (1ULL << 0)
#define WRITE_FILE   (1ULL << 1)
#define READ_FILE    (1ULL << 2)
#define READ_DIR     (1ULL << 3)
#define MAKE_REMOVE  (0x1ffULL << 4) /* of each kind of file */
#define REFER	     (1ULL << 13)
#define TRUNCATE     (1ULL << 14)
#define BIND_TCP     (1ULL << 0)
#define CONNECT_TCP  (1ULL << 1)
#define OF_FILES     (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE)
#define ABI_REFER    2
#define ABI_TRUNCATE 3
#define ABI_TCP	     4
#define RULE_PATH    1
#define RULE_PORT    2

struct rules {
	int fd;
	uint64_t files, ports; /* handled ones */
	const char **subject;
};

/* Paths that every program may read, and may write. */
static const char *const read_always[] = {
	"-/usr", "-/bin", "-/sbin", "-/lib", "-/lib32", "-/lib64", "-/proc", "-/etc/ld.so.cache",
	NULL,
};
static const char *const write_always[] = {
	"-/dev/null", "-/dev/zero", "-/dev/full", "-/dev/random", "-/dev/urandom",
	"-/dev/tty",  "-/dev/ptmx", "-/dev/pts",  "-/dev/shm",	  NULL,
};
static const char *const private_tmps[] = { "-/tmp", "-/var/tmp", NULL };
static const char *const interfaces[] = { "-/dev", "-/proc", "-/sys", NULL };

static int files_begin(struct rules *rules, uint64_t files, uint64_t ports)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

	if (abi < 0 || (abi < ABI_TCP && ports))
		return abi < 0 ? -errno : -EOPNOTSUPP;
	rules->files =
		files & ~(abi < ABI_REFER ? REFER : 0) & ~(abi < ABI_TRUNCATE ? TRUNCATE : 0);
	rules->ports = ports;
	rules->fd = (int)syscall(SYS_landlock_create_ruleset, &rules->files,
				 abi < ABI_TCP ? sizeof(uint64_t) : 2 * sizeof(uint64_t), 0);
	return rules->fd < 0 ? -errno : 0;
}

/* Ends with @r if it is an error. */
static int files_end(const struct rules *rules, int r)
{
	if (r == 0) {
		*rules->subject = NULL;
		r = syscall(SYS_landlock_restrict_self, rules->fd, 0) < 0 ? -errno : 0;
	}
	(void)fd_close(rules->fd);
	return r;
}

static int files_allow(const struct rules *rules, const char *path, uint64_t rights, bool optional)
{
	cleanup(closep) int fd = open(path, O_PATH | O_CLOEXEC);
	struct {
		uint64_t rights;
		int32_t fd;
	} __attribute__((packed)) rule = { rights & rules->files, fd };
	struct stat st;

	*rules->subject = path;
	if (fd < 0)
		return optional && errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		rule.rights &= OF_FILES;
	return rule.rights && syscall(SYS_landlock_add_rule, rules->fd, RULE_PATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

/* A path with - may be missing. */
static int files_allow_all(const struct rules *rules, int r, const char *const *paths)
{
	for (; r == 0 && *paths; paths++)
		r = files_allow(rules, *paths + (**paths == '-'), UINT64_MAX, **paths == '-');
	return r;
}

static int files_allow_shared(const struct rules *rules, const struct options *o)
{
	int r = files_allow_all(rules, 0, write_always);

	if (option_is_set(o, PRIVATE_TMP))
		r = files_allow_all(rules, r, private_tmps);
	return files_allow_all(rules, r, (const char *const *)o->words[WRITE_PATHS]);
}

int files_limit_reading(const struct options *o, const char **subject)
{
	struct rules rules = { .fd = -1, .subject = subject };
	int r = files_begin(&rules, EXECUTE | READ_FILE | READ_DIR | REFER, 0);

	if (r == 0)
		r = files_allow(&rules, "/", REFER, false);
	r = files_allow_all(&rules, r, read_always);
	r = files_allow_all(&rules, r, (const char *const *)o->words[READ_PATHS]);
	return files_end(&rules, r < 0 ? r : files_allow_shared(&rules, o));
}

int files_limit_writing(const struct options *o, const char **subject)
{
	struct rules rules = { .fd = -1, .subject = subject };
	int r = files_begin(&rules, WRITE_FILE | MAKE_REMOVE | REFER | TRUNCATE, 0);

	if (option_is_set(o, READ_ONLY_SYSTEM))
		r = files_allow_all(&rules, r, interfaces);
	return files_end(&rules, r < 0 ? r : files_allow_shared(&rules, o));
}

static int files_allow_ports(const struct rules *rules, char *const *ports, uint64_t right)
{
	uint64_t rule[2] = { right };

	for (; *ports && strcmp(*ports, "none") != 0; ports++) {
		*rules->subject = *ports;
		if (parse_uint(*ports, UINT16_MAX, &rule[1]) < 0)
			return -EINVAL;
		if (syscall(SYS_landlock_add_rule, rules->fd, RULE_PORT, rule, 0) < 0)
			return -errno;
	}
	return 0;
}

int files_limit_ports(const struct options *o, const char **subject)
{
	struct rules rules = { .fd = -1, .subject = subject };
	int r = files_begin(&rules, 0,
			    (option_is_set(o, TCP_BIND) ? BIND_TCP : 0) |
				    (option_is_set(o, TCP_CONNECT) ? CONNECT_TCP : 0));

	if (r == 0)
		r = files_allow_ports(&rules, o->words[TCP_BIND], BIND_TCP);
	return files_end(&rules,
			 r < 0 ? r : files_allow_ports(&rules, o->words[TCP_CONNECT], CONNECT_TCP));
}
