#include "world.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUPS "/sys/fs/cgroup"

/* Stays behind, outside, for the parent that waits for this program. */
static _Noreturn void await(pid_t inside)
{
	int status;

	if (waitpid(inside, &status, 0) < 0)
		err(EXIT_FAILURE, "waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

void world_enter(void)
{
	pid_t inside;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
		return;
	inside = fork();
	if (inside < 0)
		err(EXIT_FAILURE, "fork");
	if (inside > 0)
		await(inside);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		err(EXIT_FAILURE, "mount /proc");
}

bool world_hide_groups(void)
{
	return mount("tmpfs", GROUPS, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

void world_show_groups(void)
{
	(void)umount2(GROUPS, 0);
}

char *world_make_folder(void)
{
	const char *base = getenv("TMPDIR");
	char *folder;

	if (asprintf(&folder, "%s/swansong-bench.XXXXXX", base ? base : "/tmp") < 0 ||
	    !mkdtemp(folder))
		err(EXIT_FAILURE, "cannot make a folder");
	return folder;
}

void world_remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	(void)rmdir(folder);
}
