#include "ctl/cmd.h"

#include "ctl/nodes.h"

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log_line(&ctl->log, LOG_ERR, "not yet");
	return CTL_FAILED;
}
