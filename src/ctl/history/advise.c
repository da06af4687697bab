#include "ctl/history/history.h"

#include "ctl/history/source.h"
#include "ctl/session/offline.h"
#include "ctl/terminal/show.h"
#include "proto/history/advice.h"

/*
 * The timeouts that past ends contradict, each with its arithmetic.  The present settings are those of
 * the daemon, or of the files of --config.
 */

enum advice_key { ADVISE_STOP, ADVISE_DRAIN, ADVISE_SHUTDOWN, N_ADVICE_KEYS };

static const char *const key_names[N_ADVICE_KEYS] = { "stop-timeout", "drain-timeout",
						      "shutdown-timeout" };

/* The present timeouts of one node; USEC_INFINITY: no limit, or not known. */
struct present {
	uint64_t usec[N_ADVICE_KEYS];
};

struct advise {
	struct ctl *ctl;
	struct config *config; /* of --config, or NULL */
	json_t *list;	       /* with --json, else NULL */
	const char *section;   /* the last that was printed, or NULL */
	size_t n;
};

/* --- the present settings --- */

/* Return: CTL_DONE; CTL_NO_NODE, without a message: the node is gone; or another exit status. */
static int advise_fetch_present(struct ctl *ctl, const char *node, struct present *ret)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = session_ask(ctl, METHOD_SHOW,
			    json_pack("{s:s}", "node", *node ? node : CONFIG_ROOT_NAME), &reply);
	json_t *settings, *setting;
	size_t i;

	if (r != CTL_DONE)
		return r;
	if (reply.error && strcmp(reply.error, interface_error_name(ERROR_NO_SUCH_NODE)) == 0)
		return CTL_NO_NODE;
	if (reply.error)
		return session_refused(ctl, &reply);
	settings = json_object_get(reply.parameters, "settings");
	json_array_foreach (settings, i, setting) {
		const char *key = json_string_value(json_object_get(setting, "key"));
		const char *value = json_string_value(json_object_get(setting, "value"));

		for (size_t k = 0; key && value && k < N_ADVICE_KEYS; k++)
			if (strcmp(key, key_names[k]) == 0)
				(void)parse_duration(value, &ret->usec[k]);
	}
	return CTL_DONE;
}

static int advise_find_present(const struct advise *a, const char *node, struct present *ret)
{
	const struct node_config *config;

	*ret = (struct present){ .usec = { [0 ... N_ADVICE_KEYS - 1] = USEC_INFINITY } };
	if (!a->config)
		return advise_fetch_present(a->ctl, node, ret);
	config = *node ? config_find(a->config, node) : a->config->nodes[0];
	if (!config)
		return CTL_NO_NODE;
	ret->usec[ADVISE_STOP] = config->stop_timeout_usec;
	ret->usec[ADVISE_DRAIN] = config->drain_timeout_usec;
	ret->usec[ADVISE_SHUTDOWN] = config->shutdown_timeout_usec;
	return CTL_DONE;
}

/* --- advice --- */

/* "drain-timeout = 10s ; is 5min: p99 4.0s of 212 ends, none killed; 4.0s * 1.5 = 6.0s" */
static void advise_print_line(struct ctl *ctl, enum advice_key key, const struct advice *advice)
{
	char proposed[DURATION_TEXT_MAX], present[DURATION_TEXT_MAX], p99[CLOCK_TEXT_MAX];
	char more[CLOCK_TEXT_MAX], killed[32] = "none";

	if (advice->n_killed)
		(void)snprintf(killed, sizeof(killed), "%zu", advice->n_killed);
	clock_text_fine(p99, advice->p99_usec);
	clock_text_fine(more, clock_add(advice->p99_usec, advice->p99_usec / 2));
	ctl_print(ctl, "%s = %s ; is %s: p99 %s of %zu ends, %s killed; %s * 1.5 = %s",
		  key_names[key], parse_duration_text(proposed, advice->proposed_usec),
		  parse_duration_text(present, advice->present_usec), p99, advice->n, killed, p99,
		  more);
}

static int advise_key(struct advise *a, const struct figures *f, const struct present *present,
		      enum advice_key key)
{
	const struct samples *samples[N_ADVICE_KEYS] = { &f->stopping, &f->draining, &f->total };
	size_t killed[N_ADVICE_KEYS] = { f->n_stopping_killed, f->n_draining_killed, f->n_forced };
	struct advice advice = advice_give(samples[key], killed[key], present->usec[key]);

	/* A shutdown may take longer than all before: its budget is never lowered. */
	if (advice.kind == ADVICE_NONE || present->usec[key] == USEC_INFINITY ||
	    (key == ADVISE_SHUTDOWN && advice.kind == ADVICE_LOWER))
		return 0;
	a->n++;
	if (a->list)
		return json_array_append_new(
			a->list,
			json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "node", f->node,
				  "key", key_names[key], "kind",
				  advice.kind == ADVICE_RAISE ? "raise" : "lower", "ends",
				  (json_int_t)advice.n, "killed", (json_int_t)advice.n_killed,
				  "p99_usec", (json_int_t)advice.p99_usec, "present_usec",
				  (json_int_t)advice.present_usec, "proposed_usec",
				  (json_int_t)advice.proposed_usec));
	if (a->section != f->node)
		ctl_print(a->ctl, "[%s]", *f->node ? f->node : "swansong");
	a->section = f->node;
	advise_print_line(a->ctl, key, &advice);
	return 0;
}

/* Gives no advice for the total of a service: it includes the wait for other nodes, which the budgets above limit. */
static int advise_node(struct advise *a, const struct figures *f)
{
	struct present present;
	int r;

	if (f->n < ADVICE_ENDS)
		return CTL_DONE;
	r = advise_find_present(a, f->node, &present);
	if (r != CTL_DONE)
		return r == CTL_NO_NODE ? CTL_DONE : r;
	if (!*f->node)
		r = advise_key(a, f, &present, ADVISE_SHUTDOWN);
	for (enum advice_key key = 0; r == 0 && *f->node && key < ADVISE_SHUTDOWN; key++)
		r = advise_key(a, f, &present, key);
	return r < 0 ? ctl_fail(a->ctl, -ENOMEM) : CTL_DONE;
}

static int advise_all(struct advise *a, const struct history *h, int argc, char **argv)
{
	char count[SHOW_COUNT_MAX];
	size_t enough = 0;
	int r = CTL_DONE;

	for (size_t i = 0; i < h->n && r == CTL_DONE; i++) {
		if (!source_is_asked_for(h->nodes[i]->node, argc, argv))
			continue;
		enough += h->nodes[i]->n >= ADVICE_ENDS;
		r = advise_node(a, h->nodes[i]);
	}
	if (r == CTL_DONE && a->n == 0)
		ctl_print(a->ctl, "no advice: the timeouts of %s with %d ends or more fit",
			  show_count(count, enough, "node"), ADVICE_ENDS);
	return r;
}

int cmd_advise(struct ctl *ctl, int argc, char **argv)
{
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(history_freep) struct history *h = NULL;
	cleanup(freep) char *path = NULL;
	cleanup(json_decrefp) json_t *all =
		ctl->options.json ? json_pack("{s:[]}", "advice") : NULL;
	struct advise a = { .ctl = ctl, .list = json_object_get(all, "advice") };
	int r = CTL_DONE;

	if (ctl->options.configs.n)
		r = offline_load(ctl, ctl->options.configs.words, ctl->options.configs.n, NULL,
				 NULL, &config);
	a.config = config;
	if (r == CTL_DONE)
		r = source_load(ctl, &h, &path);
	if (r == CTL_DONE)
		r = advise_all(&a, h, argc, argv);
	return r == CTL_DONE && all ? ctl_print_json(ctl, all) : r;
}
