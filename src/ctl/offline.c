#include "ctl/offline.h"

#include "ctl/session.h"
#include "sys/ids.h"

int offline_load(const char *const *paths, size_t n_paths, struct config **ret,
		 struct diag **ret_diag)
{
	static const struct config_names names = { .user = ids_user, .group = ids_group };
	int r = diag_new(ret_diag);

	return r < 0 ? r : config_load(ret, paths, n_paths, &names, *ret_diag);
}

void offline_print(enum diag_level level, const char *text)
{
	if (level == DIAG_WARNING)
		(void)fputs("warning: ", stderr);
	ctl_complain(text);
}
