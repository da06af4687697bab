/*
 * Values of options are parsed here; the programs own the loop of getopt_long(). The functions
 * return words for messages and log nothing, as layer sys does not log.
 */
#include "sys/process/command.h"

#define ROWS_MAX 32 /* options that a name is compared with */

void command_options_init(struct command_options *options)
{
	const char *session = getenv("DUMB_INIT_SETSID");

	*options = (struct command_options){
		.leftover_timeout_usec = COMMAND_LEFTOVER_TIMEOUT_USEC,
	};
	forward_init(&options->forward);
	/* As in dumb-init: a command without its own session is the only one to get the signals. */
	if (session && strcmp(session, "0") == 0)
		(void)command_option(options, COMMAND_SINGLE, NULL);
}

const char *command_option(struct command_options *options, int option, const char *value)
{
	struct forward *forward = &options->forward;
	uint64_t status;

	switch (option) {
	case 'g':
		forward->scope = FORWARD_GROUP;
		return NULL;
	case COMMAND_SINGLE:
		options->single = true;
		forward->scope = FORWARD_MAIN;
		return NULL;
	case 'w':
		options->log_reaped = true;
		return NULL;
	case COMMAND_SCOPE:
		return forward_parse_scope(value, &forward->scope) < 0 ? "group, main or all"
								       : NULL;
	case 'r':
		return forward_rewrite(forward, value) < 0
			       ? "FROM:TO, for example TERM:QUIT; TO 0 drops the signal"
			       : NULL;
	case 'p':
		return parse_signal(value, &options->death_signal) < 0
			       ? "a signal, for example TERM"
			       : NULL;
	case 'e':
		if (parse_uint(value, 255, &status) < 0)
			return "an exit status from 0 to 255";
		options->success[status / 64] |= UINT64_C(1) << status % 64;
		return NULL;
	case COMMAND_LEFTOVER:
		return parse_duration(value, &options->leftover_timeout_usec) < 0
			       ? "a duration, for example 500ms, 30s or infinity"
			       : NULL;
	default:
		return "a known option";
	}
}

const char *command_option_name(const struct option *rows, int option)
{
	while (rows->name && rows->val != option)
		rows++;
	return rows->name;
}

/* Writes the refusal of the long option @text: unknown, or an ambiguous abbreviation. */
static void command_refuse_option(char buf[static COMMAND_REFUSAL_MAX], const struct option *rows,
				  const char *text)
{
	const char *names[ROWS_MAX], *closest;
	char name[COMMAND_REFUSAL_MAX / 4];
	size_t n = 0, length;

	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	length = strlen(name + 2);
	for (; n < ROWS_MAX && rows[n].name; n++) {
		names[n] = rows[n].name;
		if (strncmp(name + 2, names[n], length) == 0) {
			(void)snprintf(buf, COMMAND_REFUSAL_MAX, "ambiguous option '%s'", name);
			return;
		}
	}
	closest = text_closest(name + 2, names, n);
	(void)snprintf(buf, COMMAND_REFUSAL_MAX, "unknown option '%s': %s%s%s", name,
		       closest ? "did you mean '--" : "see --help", closest ? closest : "",
		       closest ? "'?" : "");
}

const char *command_refusal(char buf[static COMMAND_REFUSAL_MAX], const struct option *rows,
			    int result, const char *text)
{
	const char *name = optopt ? command_option_name(rows, optopt) : NULL;

	if (result == ':' && name)
		(void)snprintf(buf, COMMAND_REFUSAL_MAX, "--%s: missing value", name);
	else if (name)
		(void)snprintf(buf, COMMAND_REFUSAL_MAX, "--%s: takes no value", name);
	else if (optopt)
		(void)snprintf(buf, COMMAND_REFUSAL_MAX,
			       result == ':' ? "-%c: missing value"
					     : "unknown option '-%c': see --help",
			       optopt);
	else
		command_refuse_option(buf, rows, text);
	return buf;
}

void command_watch_parent(const struct command_options *options, pid_t parent)
{
	if (!options->death_signal)
		return;
	(void)prctl(PR_SET_PDEATHSIG, options->death_signal);
	if (getppid() != parent)
		(void)kill(getpid(), options->death_signal);
}

int command_leave_directory(void)
{
	int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	/* The descriptor must not take the number of a missing standard stream. */
	if (r == 0 && fd <= STDERR_FILENO)
		r = -EBADF;
	if (r == 0 && chdir("/") < 0)
		r = -errno;
	if (r == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return r;
}

int command_status(const struct command_options *options, bool signaled, int value)
{
	unsigned status = (unsigned)(signaled ? 128 + value : value) & 0xff;

	return options->success[status / 64] >> status % 64 & 1 ? 0 : (int)status;
}

char *command_listen_pid(char **envp, char buf[static COMMAND_LISTEN_PID_MAX])
{
	static const char name[] = "LISTEN_PID=";
	uint64_t pid;

	for (; *envp; envp++)
		if (strncmp(*envp, name, sizeof(name) - 1) == 0)
			break;
	if (!*envp || parse_uint(*envp + sizeof(name) - 1, INT32_MAX, &pid) < 0 ||
	    (pid_t)pid != getpid())
		return NULL;
	(void)memcpy(buf, name, sizeof(name));
	*envp = buf;
	return buf + sizeof(name) - 1;
}
