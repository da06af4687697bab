/*
 * Words with a number set a member, and words without one a flag.  A hook that is given no time ends
 * at once with success, as most commands around a service do.
 */
#include "tests/sim/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

static void program_parse_word(struct program *p, const char *word)
{
	const struct {
		const char *name;
		int *member;
	} numbers[] = {
		{ "starts=", &p->starts },   { "runs=", &p->runs },   { "exits=", &p->exits },
		{ "daemon=", &p->daemon },   { "file=", &p->file },   { "ready=", &p->ready },
		{ "ends=", &p->ends },	     { "forks=", &p->forks }, { "lasts=", &p->lasts },
		{ "crashes=", &p->crashes },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0)
			*numbers[i].member = atoi(word + strlen(numbers[i].name));
	if (strcmp(word, "deaf") == 0)
		p->deaf = true;
	else if (strcmp(word, "graceful") == 0)
		p->graceful = true;
	else if (strcmp(word, "works") == 0)
		p->works = true;
	else if (strcmp(word, "leaver") == 0)
		p->leaver = true;
}

static enum role program_role(const char *name)
{
	static const char *const names[] = {
		[ROLE_MAIN] = "main", [ROLE_HOOK] = "hook", [ROLE_FINAL] = "final"
	};

	for (size_t i = ROLE_MAIN; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return ROLE_OTHER;
}

void program_parse(struct program *program, char *const *argv)
{
	*program = (struct program){
		.role = program_role(argv[0]),
		.runs = PROGRAM_NEVER,
		.ready = PROGRAM_NEVER,
		.lasts = PROGRAM_NEVER,
		.daemon = PROGRAM_NEVER,
		.file = PROGRAM_NEVER,
	};
	if (program->role != ROLE_MAIN)
		program->runs = 0;
	for (argv++; *argv; argv++)
		program_parse_word(program, *argv);
}

void program_begin(struct program *program, unsigned run, bool calm)
{
	if (calm) {
		program->deaf = false;
		if (program->ready != PROGRAM_NEVER)
			program->ready = 1;
		if (program->daemon != PROGRAM_NEVER)
			program->daemon = program->file = 0;
		program->runs = program->role == ROLE_MAIN && !program->works ? PROGRAM_NEVER : 0;
	} else if (program->crashes == 0 || run <= (unsigned)program->crashes) {
		return;
	} else if (program->role == ROLE_MAIN && program->exits != 0 && !program->works) {
		program->runs = PROGRAM_NEVER;
	}
	program->exits = 0;
}
