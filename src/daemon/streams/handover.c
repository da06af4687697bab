/*
 * Neighbours with the same variable share one text, to which each further one adds its number.
 */
#include "daemon/streams/handover.h"

/* Begins the text of @variable, or adds @number to the last text if it is of the same variable. */
static void handover_add_number(struct handover_plan *plan, const char *variable, bool more,
				int number)
{
	char *text = plan->variables[plan->n_variables - more];
	size_t used = more ? strlen(text) : 0;

	if (more)
		(void)snprintf(text + used, HANDOVER_TEXT_MAX - used, ":%d", number);
	else
		(void)snprintf(text, HANDOVER_TEXT_MAX, "%.*s=%d", HANDOVER_NAME_MAX, variable,
			       number);
	plan->n_variables += !more;
}

void handover_plan(struct handover_plan *plan, const struct handover *list, size_t n, int first,
		   int taken)
{
	int number = first;

	plan->n_files = plan->n_variables = 0;
	for (size_t i = 0; i < MIN(n, (size_t)HANDOVER_MAX); i++) {
		if (number == taken)
			number++;
		plan->files[plan->n_files++] =
			(struct spawn_file){ .from = list[i].fd, .to = number };
		handover_add_number(plan, list[i].variable,
				    i > 0 && strcmp(list[i].variable, list[i - 1].variable) == 0,
				    number);
		number++;
	}
}
