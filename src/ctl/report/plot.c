#include "ctl/report/plot.h"

#include "ctl/terminal/show.h"
#include "ctl/report/svg.h"

/*
 *	margin | names     | time, SPAN wide                      | durations | margin
 *	       | root      |------------------------------------->|  4.2s     |
 *	       |   web     |=========]                            |           |
 *
 * Names are cut to their column.  The time of a lane is written at its end, with free space for it at the
 * right.  With many lanes each gets less height, down to that of its text, and the page grows.
 */

#define FONT	    11.0
#define BOLD	    1.12 /* times as wide */
#define MARGIN	    20.0
#define NAMES_LEAST 120.0
#define NAMES_MOST  330.0
#define INDENT	    12.0
#define GAP	    10.0
#define SPAN	    900.0
#define TEXT_RIGHT  130.0
#define HEAD	    112.0 /* title, cause, legend, axis */
#define FOOT	    46.0
#define LANE_MOST   24.0
#define LANE_LEAST  15.0
#define PAGE	    760.0 /* height of all lanes, beyond which each gets lower */
#define TICKS_MAX   12

struct plot {
	FILE *file;
	const struct past *past;
	const struct report *report;
	uint64_t usec; /* all of the axis */
	double left, names, lane, width, height;
};

static const struct {
	const char *class, *legend;
} parts[N_REPORT_PARTS] = {
	[REPORT_DRAINING] = { "draining", "drain-delay" },
	[REPORT_WAITING] = { "waiting", "waits for others" },
	[REPORT_STOPPING] = { "stopping", "stopping" },
	[REPORT_KILLING] = { "killing", "killed" },
	[REPORT_CLOSING] = { "closing", "post-stop" },
};

/* Grey values differ as much as hues, and bad parts are hatched as well. */
#include <ctl/report/style.inc>

/* --- time --- */

uint64_t plot_step(uint64_t usec, unsigned max)
{
	static const uint64_t steps[] = {
		15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200
	};
	static const unsigned round[] = { 2, 5, 10 };
	uint64_t step = 1;

	while (usec / step > max && step <= USEC_PER_SEC) {
		uint64_t power = step;

		for (size_t i = 0; i < ARRAY_SIZE(round) && usec / step > max; i++)
			step = power * round[i];
	}
	if (usec / step <= max)
		return step;
	for (size_t i = 0; i < ARRAY_SIZE(steps) && usec / step > max; i++)
		step = steps[i] * USEC_PER_SEC;
	while (usec / step > max)
		step *= 2;
	return step;
}

/* The decimals that a step of @usec needs in units of @unit. */
static int plot_decimals(uint64_t step, uint64_t unit)
{
	int n = 0;

	for (uint64_t part = unit; step < part || step % part; part /= 10)
		n++;
	return n;
}

char *plot_tick(char buf[static PLOT_TICK_MAX], uint64_t usec, uint64_t step)
{
	uint64_t sec = usec / USEC_PER_SEC;

	if (step < USEC_PER_SEC && sec == 0)
		(void)snprintf(buf, PLOT_TICK_MAX, "%.*fms", plot_decimals(step, USEC_PER_MSEC),
			       (double)usec / USEC_PER_MSEC);
	else if (step < 15 * USEC_PER_SEC)
		(void)snprintf(buf, PLOT_TICK_MAX, "%.*fs", plot_decimals(step, USEC_PER_SEC),
			       (double)usec / USEC_PER_SEC);
	else if (step < 3600 * USEC_PER_SEC)
		(void)snprintf(buf, PLOT_TICK_MAX, "%" PRIu64 ":%02u min", sec / 60,
			       (unsigned)(sec % 60));
	else
		(void)snprintf(buf, PLOT_TICK_MAX, "%" PRIu64 " h", sec / 3600);
	return buf;
}

/* The place of a time on the axis; times before the stop are at its beginning. */
static double plot_x_of(const struct plot *p, int64_t usec)
{
	double part = usec > 0 ? (double)usec / (double)p->usec : 0;

	return p->left + SPAN * (part > 1 ? 1 : part);
}

static double plot_y_of(size_t row, const struct plot *p)
{
	return HEAD + (double)row * p->lane;
}

/* --- the frame --- */

static double plot_indent_of(const struct plot *p, size_t i)
{
	double indent = 0;

	while ((i = p->past->forest->nodes[i].parent) != FOREST_NONE)
		indent += INDENT;
	return MIN(indent, NAMES_MOST / 2);
}

static void plot_measure(struct plot *p)
{
	const struct forest *f = p->past->forest;
	double n = (double)p->report->n;

	p->names = NAMES_LEAST;
	for (size_t i = 0; i < p->report->n; i++) {
		double need = plot_indent_of(p, i) + FONT * svg_width(forest_name(f, i));

		if (need > p->names)
			p->names = MIN(need, NAMES_MOST);
	}
	p->left = MARGIN + p->names + GAP;
	p->lane = n > 0 ? PAGE / n : LANE_MOST;
	p->lane = p->lane > LANE_MOST ? LANE_MOST : p->lane < LANE_LEAST ? LANE_LEAST : p->lane;
	p->width = p->left + SPAN + TEXT_RIGHT + MARGIN;
	p->height = HEAD + n * p->lane + FOOT;
}

static void plot_draw_axis(const struct plot *p)
{
	uint64_t step = plot_step(p->usec, TICKS_MAX);
	double top = HEAD, bottom = plot_y_of(p->report->n, p);
	char text[PLOT_TICK_MAX];

	for (uint64_t usec = 0; usec <= p->usec; usec += step) {
		double x = plot_x_of(p, (int64_t)usec);

		plot_tick(text, usec, step);
		svg_line(p->file, "grid", x, top - 4, x, bottom + 4);
		svg_text(p->file, "faint", x, top - 8, "middle", text);
		svg_text(p->file, "faint", x, bottom + 17, "middle", text);
	}
	svg_line(p->file, "axis", p->left, top, p->left + SPAN, top);
	svg_line(p->file, "axis", p->left, bottom, p->left + SPAN, bottom);
	(void)fputs("\n", p->file);
}

static void plot_draw_budget(const struct plot *p)
{
	uint64_t usec = p->report->view.budget_usec;
	double x, bottom = plot_y_of(p->report->n, p);

	if (usec > p->usec)
		return;
	x = plot_x_of(p, (int64_t)usec);
	svg_line(p->file, "budget", x, HEAD, x, bottom + 22);
	svg_text(p->file, "bad", x, bottom + 33, "middle", "shutdown-timeout");
}

static void plot_draw_legend(const struct plot *p)
{
	double x = MARGIN, y = 64;

	for (size_t i = REPORT_DRAINING; i <= REPORT_CLOSING; i++) {
		svg_rect(p->file, parts[i].class, x, y, 18, 11);
		svg_text(p->file, "faint", x + 23, y + 9.5, "start", parts[i].legend);
		x += 23 + FONT * svg_width(parts[i].legend) + 16;
	}
	svg_line(p->file, "guard", x, y + 8, x + 18, y + 8);
	svg_diamond(p->file, "mark", x + 18, y + 4);
	svg_text(p->file, "faint", x + 28, y + 9.5, "start", "guard, until dropped");
	x += 28 + FONT * svg_width("guard, until dropped") + 16;
	svg_diamond(p->file, "lost", x + 4, y + 4);
	svg_text(p->file, "faint", x + 13, y + 9.5, "start", "guard, until killed or revoked");
}

static void plot_draw_head(const struct plot *p)
{
	const struct report_view *v = &p->report->view;
	char when[PAST_WHEN_MAX], took[CLOCK_TEXT_MAX], text[1024];

	(void)snprintf(text, sizeof(text), "Shutdown of %.100s: %s%s", v->host,
		       clock_text_fine(took, v->total_usec), v->forced ? ", forced" : "");
	svg_text(p->file, "h1", MARGIN, 30, "start", text);
	(void)snprintf(text, sizeof(text), "%s, exit status %" PRIu64 "%s%s: %s",
		       past_when(when, v), v->status, v->signal ? ", by " : "",
		       v->signal ? v->signal : "", v->cause);
	(void)fprintf(p->file, "<text class=\"faint\" x=\"%.2f\" y=\"49\">", MARGIN);
	svg_escape_cut(p->file, text, (p->width - 2 * MARGIN) / FONT);
	(void)fputs("</text>\n", p->file);
	if (v->lost) {
		(void)snprintf(text, sizeof(text), "%" PRIu64 " guards or states are missing",
			       v->lost);
		svg_text(p->file, "bad", p->width - MARGIN, 30, "end", text);
	}
}

/* --- lanes --- */

static void plot_draw_name(const struct plot *p, size_t row, size_t i)
{
	const struct report_lane *lane = &p->report->lanes[i];
	bool forced = lane->node.late_usec != FIELD_NONE;
	double indent = plot_indent_of(p, i), font = forced ? FONT * BOLD : FONT;

	(void)fprintf(p->file, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", forced ? "bad" : "name",
		      MARGIN + indent, plot_y_of(row, p) + p->lane / 2 + FONT * 0.36);
	svg_title(p->file, "%s", node_name(lane->node.path));
	svg_escape_cut(p->file, forest_name(p->past->forest, i), (p->names - indent) / font);
	(void)fputs("</text>\n", p->file);
}

/* The text that a browser shows when the pointer is on a bar. */
static void plot_title_state(const struct plot *p, const struct report_lane *lane, size_t i)
{
	const struct report_guard *main = NULL;
	char holder[SHOW_NOTE_MAX] = "", from[CLOCK_TEXT_MAX], took[CLOCK_TEXT_MAX];
	int64_t at = lane->states[i].at_usec;

	for (size_t g = 0; g < lane->n_guards && !main; g++)
		if (strcmp(lane->guards[g].kind, "process") == 0)
			main = &lane->guards[g];
	if (main) {
		struct guard_view view = past_guard(p->report, lane, main);

		show_holder(holder, &view);
	}
	svg_title(p->file, "%s: %s for %s, from %s on%s%s", node_name(lane->node.path),
		  lane->states[i].state, clock_text_fine(took, past_state_usec(p->report, lane, i)),
		  clock_text_fine(from, at > 0 ? (uint64_t)at : 0), main ? "; " : "", holder);
}

static void plot_draw_states(const struct plot *p, const struct report_lane *lane, double top)
{
	for (size_t i = 0; i < lane->n_states; i++) {
		const char *class = parts[report_part(lane->states[i].state)].class;
		double x1 = plot_x_of(p, lane->states[i].at_usec);
		double x2 = plot_x_of(p, past_state_end(p->report, lane, i));

		/* A wait that is over at once takes no time. */
		if (!class || past_state_usec(p->report, lane, i) < p->usec / 10000)
			continue;
		(void)fputs("<g>", p->file);
		plot_title_state(p, lane, i);
		svg_rect(p->file, class, x1, top + 2, x2 - x1 > 0.8 ? x2 - x1 : 0.8, p->lane - 4);
		(void)fputs("</g>\n", p->file);
	}
}

static void plot_draw_guard(const struct plot *p, const struct report_lane *lane,
			    const struct report_guard *g, double y)
{
	struct guard_view view = past_guard(p->report, lane, g);
	char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX];
	uint64_t gone = g->gone_usec == FIELD_NONE ? p->report->view.total_usec : g->gone_usec;
	double x1 = plot_x_of(p, g->taken_usec), x2 = plot_x_of(p, (int64_t)gone);
	bool lost = g->end && strcmp(g->end, "dropped") != 0 && strcmp(g->end, "ended") != 0;

	(void)fputs("<g>", p->file);
	svg_title(p->file, "%s on %s for %s%s%s; %s", g->kind, node_name(lane->node.path),
		  clock_text_fine(age, view.age_usec), g->end ? ", " : "", g->end ? g->end : "",
		  show_holder(holder, &view));
	svg_line(p->file, "halo", x1, y, x2, y);
	svg_line(p->file, "guard", x1, y, x2, y);
	svg_diamond(p->file, lost ? "lost" : "mark", x2, y - 4);
	(void)fputs("</g>\n", p->file);
}

static void plot_draw_lane(const struct plot *p, size_t row, size_t i)
{
	const struct report_lane *lane = &p->report->lanes[i];
	double top = plot_y_of(row, p), middle = top + p->lane / 2;
	double begin = plot_x_of(p, lane->node.stop_usec);
	double end = plot_x_of(p, (int64_t)past_end(p->report, lane));
	bool forced = lane->node.late_usec != FIELD_NONE;
	char took[CLOCK_TEXT_MAX], text[CLOCK_TEXT_MAX + 16];

	plot_draw_name(p, row, i);
	/* From the stop to the end; a group has no other bars. */
	svg_line(p->file, "span", begin, middle, end, middle);
	svg_line(p->file, "span", end, middle - 3, end, middle + 3);
	(void)fputs("\n", p->file);
	plot_draw_states(p, lane, top);
	/* The bars of a service show its process. */
	for (size_t g = 0; g < lane->n_guards; g++)
		if (strcmp(lane->guards[g].kind, "process") != 0)
			plot_draw_guard(p, lane, &lane->guards[g], top + p->lane - 5);
	(void)snprintf(text, sizeof(text), "%s%s",
		       clock_text_fine(took, past_total(p->report, lane)),
		       forced ? ", forced" : "");
	svg_text(p->file, forced ? "took bad" : "took faint", end + 8, middle + FONT * 0.36,
		 "start", text);
}

void plot_write(FILE *file, const struct past *past)
{
	const struct forest *f = past->forest;
	struct plot p = { .file = file, .past = past, .report = &past->report };
	size_t row = 0;

	p.usec = p.report->view.total_usec ? p.report->view.total_usec : 1;
	plot_measure(&p);
	(void)fprintf(file,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" "
		      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
		      p.width, p.height, p.width, p.height);
	svg_title(file, "Shutdown of %s", p.report->view.host);
	(void)fputs(style, file);
	svg_rect(file, "page", 0, 0, p.width, p.height);
	plot_draw_head(&p);
	plot_draw_legend(&p);
	for (size_t i = 1; i < p.report->n; i += 2) {
		svg_rect(file, "odd", MARGIN - 4, plot_y_of(i, &p), p.width - 2 * MARGIN + 8,
			 p.lane);
		(void)fputs("\n", file);
	}
	plot_draw_axis(&p);
	plot_draw_budget(&p);
	for (size_t i = f->first; i != FOREST_NONE; i = forest_next(f, i))
		plot_draw_lane(&p, row++, i);
	(void)fputs("</svg>\n", file);
}
