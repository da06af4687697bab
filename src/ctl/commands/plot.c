#include "ctl/commands/cmd.h"

#include "ctl/report/past.h"
#include "ctl/report/plot.h"

static int draw(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	plot_write(ctl->out.file, past);
	return CTL_DONE;
}

int cmd_plot(struct ctl *ctl, int argc, char **argv)
{
	return past_run(ctl, argc, argv, draw);
}
