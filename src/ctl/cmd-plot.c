#include "ctl/cmd.h"

#include "ctl/past.h"
#include "ctl/plot.h"

int cmd_plot(struct ctl *ctl, int argc, char **argv)
{
	struct past past;
	int r = past_load(ctl, &past);

	(void)argc;
	(void)argv;
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		r = ctl_print_json(ctl, past.root);
	else if (!ctl->options.quiet)
		plot_write(ctl->out.file, &past);
	past_done(&past);
	return r;
}
