#include "sys/file/refusal.h"

#include "sys/spawn/ids.h"

char *refusal_text(int error, const struct path_doubt *doubt)
{
	const mode_t mode = doubt->mode;
	const char *kind = mode & S_IWUSR ? "user " : mode & S_IWOTH ? "every user" : "group ";
	const char *reason = path_error_text(error);
	char name[IDS_NAME_MAX] = "";

	if (*kind == 'u')
		(void)ids_user_text(name, doubt->uid);
	else if (*kind == 'g')
		(void)ids_group_text(name, doubt->gid);
	return *doubt->at ? text_format("%s: %s%s may change %s", reason, kind, name, doubt->at) :
			    strdup(reason);
}

int refusal_open(const char *path, char **why)
{
	int fd = path_open(path, O_RDONLY | O_NONBLOCK, 0);
	struct path_doubt doubt;
	int r = fd < 0 ? path_refusal(path, O_NONBLOCK, geteuid(), &doubt) : 0;

	if (fd < 0)
		*why = r < 0 ? refusal_text(-r, &doubt) : strdup(path_error_text(-fd));
	return fd;
}
