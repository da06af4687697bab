/*
 * The picture of a shutdown: a lane for each node, a thin one for each guard.  An element has its
 * times as numbers, --from and --to, and the chart has --span: the style sheet makes places of them, so
 * that another scale is one change.  What goes on has the present as its --to, and is in chart.growing.
 */
import { el, nodeLink, setText } from "./dom.js";
import { duration, holderOf } from "./text.js";

const parts = {
	draining: "draining", waiting: "waiting", asking: "stopping", stopping: "stopping",
	cleaning: "stopping", killing: "killing", closing: "closing", finishing: "closing",
};
export const legend = {
	draining: "draining", waiting: "waits for others", stopping: "stopping",
	killing: "killed", closing: "post-stop",
};
const GUARDS_MAX = 100;

export const isOver = (state) => ["down", "done", "failed", "backoff"].includes(state);

const place = (element, from, to) => {
	element.style.setProperty("--from", from);
	if (to !== undefined)
		element.style.setProperty("--to", to);
	return element;
};
const grow = (chart, element, from) => {
	chart.growing.add(place(element, from, from));
	return element;
};
const end = (chart, element, at) => {
	chart.growing.delete(element);
	element.style.setProperty("--to", at);
};

export const newChart = (nodes, indentOf) => {
	const axis = el("div", { class: "axis" }), lanes = new Map(), line = el("i", { class: "now" });
	const body = el("div", { class: "lanes" });
	const chart = { axis, body, lanes, line, span: 0, guards: 0, growing: new Set() };

	chart.element = el("div", { class: "chart", role: "group", "aria-label": "Time of each node" }, axis, body);

	for (const node of nodes) {
		const track = el("div", { class: "track" }), took = el("span", { class: "took" });
		const name = nodeLink(node.path);
		const row = el("div", { class: node.service ? "lane" : "lane group", "data-path": node.path },
			       el("div", { class: "lane-name" }, name), track);
		const span = grow(chart, el("i", { class: "span" }), 0);

		name.textContent = node.path.split("/").pop() || "root";
		row.style.setProperty("--level", indentOf(node.path));
		track.append(span, took);
		body.append(row);
		lanes.set(node.path, { path: node.path, node, row, track, span, took, bars: [], guards: new Map() });
	}
	return chart;
};

/* A service that does not run has no part in it. */
const isPlanned = (lane) => lane && (!lane.over || lane.bars.length > 0);

export const addPlan = (chart, entries) => {
	const services = entries.filter((entry) => entry.kind === "service" && isPlanned(chart.lanes.get(entry.node)));
	const first = Math.min(...services.map((entry) => entry.begin_usec || 0));

	for (const entry of services)
		if (entry.begin_usec !== undefined && entry.end_usec !== undefined)
			chart.lanes.get(entry.node).track.prepend(
				place(el("i", { class: "plan", title: "the plan: the worst case" }),
				      (entry.begin_usec - first) / 1000, (entry.end_usec - first) / 1000));
	return Math.max(0, ...services.map((entry) => (entry.end_usec || 0) - first)) / 1000;
};

/* The service of the lane is in another state at this time. */
export const addState = (chart, lane, state, at) => {
	const last = lane.bars[lane.bars.length - 1], part = parts[state];

	if (last && last.to === undefined) {
		last.to = at;
		end(chart, last.element, at);
		last.element.title = `${last.state} for ${duration(at - last.from)}`;
	}
	lane.row.dataset.state = state;
	if (isOver(state))
		lane.over = true;
	if (!part)
		return;
	const bar = { part, state, from: at, element: grow(chart, el("i", { class: `bar ${part}`, title: state }), at) };

	lane.bars.push(bar);
	lane.track.append(bar.element);
};

/* The node of the lane is complete. */
export const addEnd = (chart, lane, at) => {
	if (lane.to !== undefined)
		return;
	lane.to = at;
	end(chart, lane.span, at);
	lane.row.classList.add("complete");
	lane.took.style.setProperty("--from", at);
	const killed = lane.bars.some((bar) => bar.part === "killing");

	lane.row.classList.toggle("killed", killed);
	setText(lane.took, killed ? `${duration(at)} ✕ killed` : at < 10 ? "" : duration(at));
	if (lane.kill)
		lane.kill.remove();
};

/* When the processes of the lane are killed. */
export const setKill = (lane, at) => {
	if (lane.to !== undefined)
		return;
	if (!lane.kill)
		lane.track.append(lane.kill = el("i", { class: "kill" }));
	lane.kill.title = `killed at ${duration(at)}`;
	place(lane.kill, at);
};

const addGuard = (chart, lane, guard, at) => {
	const line = grow(chart, el("i", { class: "held" }), Math.max(0, at));
	const text = `${holderOf(guard)} on ${guard.node || "root"}`;
	const row = el("div", { class: "lane guard", title: text },
		       el("div", { class: "lane-name" }, `⚑ ${holderOf(guard)}`), el("div", { class: "track" }, line));
	const after = [...lane.guards.values()].pop();

	row.style.setProperty("--level", lane.row.style.getPropertyValue("--level"));
	(after ? after.row : lane.row).after(row);
	lane.guards.set(guard.id, { row, line, text, from: Math.max(0, at) });
	chart.guards++;
};

/* All guards of the tree, at this time; @began is the time of the stop. */
export const setGuards = (chart, guards, at, began) => {
	const ids = new Set(guards.map((guard) => guard.id));

	for (const guard of guards) {
		const lane = chart.lanes.get(guard.node);

		if (lane && lane.to === undefined && !lane.guards.has(guard.id) && chart.guards < GUARDS_MAX &&
		    !["process", "log"].includes(guard.kind))
			addGuard(chart, lane, guard, guard.at - began);
	}
	for (const lane of chart.lanes.values())
		for (const [id, guard] of lane.guards)
			if (guard.to === undefined && !ids.has(id)) {
				guard.to = at;
				end(chart, guard.line, at);
				guard.row.classList.add("complete");
			}
};

/* --- the axis --- */

const steps = [.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

export const setSpan = (chart, ms) => {
	const step = 1000 * (steps.find((s) => ms / 1000 / s <= 8) || 7200);
	const ticks = [];

	if (chart.span === ms)
		return;
	chart.span = ms;
	chart.step = step;
	chart.element.style.setProperty("--span", ms);
	chart.element.style.setProperty("--step", step);
	for (let at = 0; at <= ms; at += step)
		ticks.push(place(el("span", {}, at < 60000 ? `${+(at / 1000).toFixed(2)} s` :
			`${Math.floor(at / 60000)}:${String(at / 1000 % 60).padStart(2, "0")}`), at));
	chart.axis.replaceChildren(...ticks, chart.line);
};

export const setNow = (chart, at) => {
	place(chart.line, Math.max(0, at).toFixed(0));
	for (const element of chart.growing)
		element.style.setProperty("--to", Math.max(0, at).toFixed(0));
};

/* All that goes on ends at this time. */
export const endAll = (chart, at) => {
	setGuards(chart, [], at, 0);
	for (const lane of chart.lanes.values()) {
		addState(chart, lane, "down", at);
		addEnd(chart, lane, at);
	}
	chart.element.classList.add("over");
	setNow(chart, at);
};
