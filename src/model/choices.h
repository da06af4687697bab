#pragma once

/* What configurations call the values of keys that are one of a few. */

struct choice {
	const char *name; /* NULL: the end of the table */
	int value;
};

extern const struct choice choices_type[];
extern const struct choice choices_restart[];
extern const struct choice choices_on_failed[];
extern const struct choice choices_strategy[];
extern const struct choice choices_exit_when[];
extern const struct choice choices_signal_scope[];
extern const struct choice choices_on_unhealthy[];

/* Of what may also be more than a word. */
extern const struct choice choices_input[];
extern const struct choice choices_output[]; /* has those of an input too */
extern const struct choice choices_ready[];
extern const struct choice choices_health[];

/* Return: 0, or -EINVAL if nothing is called that. */
int choice_find(const struct choice *choices, const char *name, int *ret);

/* NULL if the value is none of them. */
const char *choice_name(const struct choice *choices, int value);
