#include "sys/ipc/listeners.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * Linux lists the sockets that listen before all others in /proc/net/tcp and tcp6: reading ends with
 * them, however many connections there are.  The descriptors of a process are links to
 * "socket:[INODE]".
 */

#define STATE_LISTEN 0x0a

static void closefp(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

struct row {
	uint32_t address[4]; /* as in struct in6_addr, or the first one as in struct in_addr */
	unsigned port, state;
	uid_t uid;
	uint64_t inode;
};

/* "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 INODE" */
static bool parse_row(const char *line, bool six, struct row *ret)
{
	const char *text = strchr(line, ':');

	if (!text)
		return false;
	text += 2;
	for (int i = 0; i < (six ? 4 : 1); i++, text += 8)
		if (sscanf(text, "%8" SCNx32, &ret->address[i]) != 1)
			return false;
	return sscanf(text, ":%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u %*u %" SCNu64, &ret->port,
		      &ret->state, &ret->uid, &ret->inode) == 4;
}

/* A socket of IPv6 that listens at any address may take connections of IPv4. */
static bool reaches(const struct sockaddr *address, bool six, const struct row *row)
{
	struct in6_addr local, wanted = IN6ADDR_ANY_INIT;
	struct in_addr v4;

	if (address->sa_family == AF_INET6)
		wanted = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	else
		v4 = ((const struct sockaddr_in *)(const void *)address)->sin_addr;
	if (!six)
		return address->sa_family == AF_INET &&
		       (row->address[0] == v4.s_addr || row->address[0] == INADDR_ANY);
	memcpy(&local, row->address, sizeof(local));
	if (IN6_IS_ADDR_UNSPECIFIED(&local))
		return true;
	if (address->sa_family == AF_INET)
		return IN6_IS_ADDR_V4MAPPED(&local) && row->address[3] == v4.s_addr;
	return memcmp(&local, &wanted, sizeof(local)) == 0;
}

static unsigned port_of(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

static int read_table(const char *path, bool six, const struct sockaddr *address,
		      struct listeners *l)
{
	cleanup(closefp) FILE *file = fopen(path, "re");
	char line[512];
	struct row row;

	if (!file)
		return -errno;
	if (!fgets(line, sizeof(line), file))
		return 0;
	while (fgets(line, sizeof(line), file) && parse_row(line, six, &row) &&
	       row.state == STATE_LISTEN) {
		if (row.port != port_of(address) || !reaches(address, six, &row))
			continue;
		if (l->n == LISTENERS_MAX)
			return -E2BIG;
		l->inodes[l->n++] = row.inode;
		l->uid = row.uid;
	}
	return 0;
}

int listeners_find(const struct sockaddr *address, struct listeners *ret)
{
	struct listeners l = { .n = 0 };
	int r = read_table("/proc/self/net/tcp6", true, address, &l);

	/* A kernel without IPv6 has no such file. */
	if (r == -ENOENT)
		r = 0;
	if (r == 0 && address->sa_family == AF_INET)
		r = read_table("/proc/self/net/tcp", false, address, &l);
	if (r == 0)
		*ret = l;
	return r;
}

bool listeners_have(const struct listeners *l, uint64_t inode)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->inodes[i] == inode)
			return true;
	return false;
}

static bool is_one_of(const struct listeners *l, int dir, const char *name)
{
	char target[64];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	uint64_t inode;

	if (n < 0)
		return false;
	target[n] = '\0';
	return sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1 && listeners_have(l, inode);
}

bool listeners_held_by(const struct listeners *l, pid_t pid, unsigned *budget)
{
	cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && *budget > 0 && (entry = readdir(dir))) {
		--*budget;
		if (is_one_of(l, dirfd(dir), entry->d_name))
			return true;
	}
	return false;
}

int listeners_each_holder(const struct listeners *l, unsigned *budget,
			  bool (*each)(pid_t pid, void *arg), void *arg)
{
	cleanup(closedirp) DIR *dir = opendir("/proc");
	const struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && listeners_held_by(l, pid, budget) && each(pid, arg))
			return 1;
		if (*budget == 0)
			return -E2BIG;
	}
	return 0;
}
