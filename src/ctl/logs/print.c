/*
 * A line is printed alone, behind the padded name of its node, or as an object of JSON.  The width
 * of the names is that of the longest so far, so that it may grow while lines are followed.  A
 * file or a pipe gets each byte as it is, and a terminal with --raw.  Else a terminal gets lines as
 * less -R shows them: colours end with their line, and other control characters are ^[, <U+009B>
 * or, if they are not UTF-8, <9B>.
 */
#include "ctl/logs/print.h"

void log_printer_add(struct log_printer *p, const char *node)
{
	p->width = MAX(p->width, (int)text_columns(node));
}

/* The colour of a name is always the same. */
static void print_name(const struct log_printer *p, const char *node)
{
	static const char *const colours[] = { "36", "33", "32", "35", "34", "96", "93", "92" };
	const char *colour = colours[text_hash(node) % ARRAY_SIZE(colours)];
	FILE *file = p->ctl->out.file;

	if (p->ctl->out.colour)
		(void)fprintf(file, "\033[%sm", colour);
	(void)fprintf(file, "%s%*s |", node, p->width - (int)text_columns(node), "");
	(void)fputs(p->ctl->out.colour ? "\033[0m " : " ", file);
}

/* The length of a sequence that sets colours: ESC [ 1 ; 31 m; or 0. */
static size_t log_colour_length(const char *text, size_t length)
{
	size_t i = 2;

	if (length < 3 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (i < length &&
	       (text[i] == ';' || text[i] == ':' || (text[i] >= '0' && text[i] <= '9')))
		i++;
	return i < length && text[i] == 'm' ? i + 1 : 0;
}

/* Prints the character at @text.  Return: its length. */
static size_t print_character(FILE *file, const char *text, size_t length)
{
	char c[5] = "";
	size_t n;

	memcpy(c, text, MIN(length, sizeof(c) - 1));
	n = text_character(c);
	if ((unsigned char)*c < ' ' ? *c != '\t' : *c == 0x7f)
		(void)fprintf(file, "^%c", *c ^ 0x40);
	else if (n == 0)
		(void)fprintf(file, "<%02X>", (unsigned char)*c);
	else if (n == 2 && (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0)
		(void)fprintf(file, "<U+%04X>", (unsigned char)c[1]);
	else
		(void)fwrite(c, 1, n, file);
	return MAX(n, (size_t)1);
}

/* A terminal gets characters, tabs and colours; all else could drive it. */
static void print_for_terminal(FILE *file, const char *text, size_t length)
{
	bool coloured = false;

	for (size_t i = 0, n; i < length; i += n) {
		n = log_colour_length(text + i, length - i);
		if (n > 0)
			(void)fwrite(text + i, 1, n, file);
		else
			n = print_character(file, text + i, length - i);
		coloured |= n > 1 && text[i] == '\033';
	}
	if (coloured)
		(void)fputs("\033[0m", file);
}

/* As log-format = json has it; the text as far as it is UTF-8. */
static json_t *log_line_json(const struct log_line *line)
{
	char text[CLOCK_TEXT_MAX];
	cleanup(freep) char *message = strndup(line->text, line->length);
	bool known = line->pid > 0;

	return json_pack("{s:o*, s:o, s:o*, s:o*, s:s, s:o*}", "time",
			 line->time_usec > 0 ? json_string(clock_utc_text(text, line->time_usec))
					     : NULL,
			 "node", message_string(line->source->node), "pid",
			 known ? json_integer(line->pid) : NULL, "generation",
			 known ? json_integer((json_int_t)line->generation) : NULL, "stream",
			 line->source->kind == LOGGER_ERROR ? "stderr" : "stdout", "message",
			 message ? message_string(message) : NULL);
}

static int print_json(const struct log_printer *p, json_t *object)
{
	cleanup(freep) char *text = ctl_json_text(p->ctl, object);

	json_decref(object);
	if (!text)
		return ctl_fail(p->ctl, -ENOMEM);
	(void)fprintf(p->ctl->out.file, "%s\n", text);
	return CTL_DONE;
}

int log_print(const struct log_printer *p, const struct log_line *line)
{
	FILE *file = p->ctl->out.file;

	if (p->ctl->options.json)
		return print_json(p, log_line_json(line));
	if (p->names)
		print_name(p, line->source->node);
	if (p->ctl->out.tty && !p->ctl->options.raw)
		print_for_terminal(file, line->text, line->length);
	else
		(void)fwrite(line->text, 1, line->length, file);
	(void)fputc('\n', file);
	return ferror(file) ? CTL_FAILED : CTL_DONE;
}

int log_print_lost(const struct log_printer *p, const struct log_source *source, uint64_t bytes)
{
	if (p->ctl->options.json)
		return print_json(p, json_pack("{s:o, s:I}", "node", message_string(source->node),
					       "lost", (json_int_t)bytes));
	(void)fflush(p->ctl->out.file);
	log_line(&p->ctl->log, LOG_WARNING, "%s: %" PRIu64 " bytes of output were not read in time",
		 source->node, bytes);
	return CTL_DONE;
}
