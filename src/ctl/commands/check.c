/*
 * In a format for programs, each error and warning goes to a function of the format: into a document, which is
 * printed at the end, or to standard output at once.
 */
#include "ctl/commands/cmd.h"

#include <ctype.h>

#include "ctl/session/offline.h"

/* The document and its part that grows; both NULL: none. */
struct check {
	struct ctl *ctl;
	json_t *all, *results;
	bool failed; /* out of memory */
};

static const char *const levels[] = { [DIAG_WARNING] = "warning", [DIAG_ERROR] = "error" };

/* Without the place in front of it. */
static const char *check_message(struct place place, const char *text)
{
	const char *end = place.file ? strstr(text + strlen(place.file), ": ") : NULL;

	return end ? end + 2 : text;
}

/* Writes control characters and those of @specials as %XX; NULL: all but those of a path in a URI. */
static char *check_escape(const char *text, const char *specials)
{
	char *escaped = malloc(3 * strlen(text) + 1), *out = escaped;

	for (; escaped && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (specials ? c < ' ' || strchr(specials, c)
			     : c >= 0x80 || (!isalnum(c) && !strchr("-._~/", c)))
			out += snprintf(out, sizeof("%XX"), "%%%02X", c);
		else
			*out++ = *text;
	}
	if (escaped)
		*out = '\0';
	return escaped;
}

static void check_add_text(enum diag_level level, struct place place, const char *text, void *arg)
{
	struct check *check = arg;
	json_t *list = json_object_get(check->all, level == DIAG_ERROR ? "errors" : "warnings");

	check->failed |= json_array_append_new(list, message_string(text)) < 0;
}

/* A command of a workflow of GitHub. */
static void check_print_command(enum diag_level level, struct place place, const char *text,
				void *arg)
{
	struct check *check = arg;
	cleanup(freep) char *message = check_escape(check_message(place, text), "%");
	cleanup(freep) char *file = check_escape(place.file ? place.file : "", "%:,");
	FILE *out = check->ctl->out.file;

	check->failed |= !message || !file;
	if (check->failed)
		return;
	fprintf(out, "::%s%s%s", levels[level], *file ? " file=" : "", file);
	if (place.line)
		fprintf(out, ",line=%u", place.line);
	fprintf(out, "::%s\n", message);
}

static void check_add_result(enum diag_level level, struct place place, const char *text, void *arg)
{
	struct check *check = arg;
	cleanup(freep) char *uri = check_escape(place.file ? place.file : "", NULL);
	json_t *at = json_pack("{s:{s:s}}", "artifactLocation", "uri", uri ? uri : "");
	json_t *result = json_pack("{s:s, s:s, s:{s:o}, s:[{s:o}]}", "ruleId", "configuration", "level",
				   levels[level], "message", "text",
				   message_string(check_message(place, text)), "locations",
				   "physicalLocation", at);

	if (result && place.line)
		(void)json_object_set_new(at, "region", json_pack("{s:i}", "startLine", (int)place.line));
	if (result && !place.file)
		(void)json_object_del(result, "locations");
	check->failed |= json_array_append_new(check->results, result) < 0;
}

static int check_load(struct check *check, const char *const *paths, size_t n_paths, size_t *warnings,
		      struct config **ret)
{
	struct ctl *ctl = check->ctl;
	const char *format = ctl->options.format ? ctl->options.format : ctl->options.json ? "json" : NULL;
	struct offline_report report = { .add = check_print_command, .arg = check };

	if (format && strcmp(format, "json") == 0) {
		check->all = json_pack("{s:[], s:[]}", "errors", "warnings");
		report.add = check_add_text;
	} else if (format && strcmp(format, "sarif") == 0) {
		check->results = json_array();
		check->all = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s}}, s:o}]}", "$schema",
				       "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
				       "runs", "tool", "driver", "name", "swansongctl", "version",
				       PACKAGE_VERSION, "results", check->results);
		report.add = check_add_result;
	}
	ctl->options.json |= check->all != NULL;
	return offline_load(ctl, paths, n_paths, format ? &report : NULL, warnings, ret);
}

int cmd_check(struct ctl *ctl, int argc, char **argv)
{
	cleanup(config_unrefp) struct config *config = NULL;
	const char *const *paths = (const char *const *)argv;
	size_t n_paths = argc > 0 ? (size_t)argc : config_default_paths(&paths), warnings = 0;
	struct check check = { .ctl = ctl };
	int r = check_load(&check, paths, n_paths, &warnings, &config);
	cleanup(json_decrefp) json_t *all = check.all;
	char nodes[SHOW_COUNT_MAX], services[SHOW_COUNT_MAX], files[4096];
	struct words w = words_in(files, sizeof(files));
	size_t n = 0;

	if (check.failed)
		return ctl_fail(ctl, -ENOMEM);
	if (all && (r == CTL_DONE || r == CTL_CONFIG) && ctl_print_json(ctl, all) != CTL_DONE)
		return CTL_FAILED;
	if (r != CTL_DONE)
		return r;
	if (ctl->options.strict && warnings > 0)
		return CTL_CONFIG;
	for (size_t i = 0; i < config->n_nodes; i++)
		n += config->nodes[i]->argv != NULL;
	for (size_t i = 0; i < n_paths; i++)
		words_add(&w, " ", "%s", paths[i]);
	ctl_print(ctl, "%s: ok, %s, %s", files, show_count(nodes, config->n_nodes, "node"),
		  show_count(services, n, "service"));
	return CTL_DONE;
}
