/*
 * The picture of a shutdown: a lane for each node, a thin one for each guard.  Lanes are data; what has changed
 * is painted a few milliseconds a frame, as a tree may have a thousand nodes.  A lane is as wide as ten seconds:
 * the places of its elements are parts of that and stay, and another scale is another width of the lane.
 * Elements of the class "on" end at the present.  Lanes are in blocks, and the browser skips a block that is not
 * on the screen: a frame costs it time for each block, not for each lane, and only lanes of blocks on the screen
 * follow the scale and the present.
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
const GUARDS_MAX = 100, BLOCK = 20, PERCENT_MS = 100;

export const isOver = (state) => ["down", "done", "failed", "backoff"].includes(state);

const place = (element, from, to) => {
	element.style.left = `${from / PERCENT_MS}%`;
	element.classList.toggle("on", to === undefined);
	if (to !== undefined)
		element.style.right = `${100 - to / PERCENT_MS}%`;
	return element;
};

export const isKilled = (lane) => lane.bars.some((bar) => bar.part === "killing");
export const tookOf = (lane) =>
	isKilled(lane) ? `${duration(lane.to)} ✕ killed` : lane.to < 10 ? "" : duration(lane.to);
export const titleOf = (bar) => bar.to === undefined ? bar.state : `${bar.state} for ${duration(bar.to - bar.from)}`;

/* A plan ends with the scale. */
const placePlan = (chart, element) => place(element, ...element.plan.map((ms) => Math.min(ms, chart.span)));

const setWidth = (chart, block) => {
	for (const row of block.children)
		row.style.width = chart.width;
	for (const element of block.querySelectorAll(".plan"))
		placePlan(chart, element);
};

export const newChart = (nodes, indentOf) => {
	const axis = el("div"), lanes = new Map(), line = el("i", { class: "now" }), body = el("div", { class: "lanes" });

	for (const node of nodes)
		lanes.set(node.path, { path: node.path, node, level: indentOf(node.path), bars: [], guards: new Map() });
	const chart = {
		axis, body, lanes, line, span: 0, guards: 0, rows: 0, seen: new Set(), changed: new Set(lanes.values()),
		element: el("div", { class: "chart", role: "group", "aria-label": "Time of each node" },
			el("div", { class: "axis" }, axis), body),
	};

	body.addEventListener("contentvisibilityautostatechange", ({ target, skipped }) => {
		chart.seen[skipped ? "delete" : "add"](target);
		if (!skipped)
			setWidth(chart, target);
	});
	return chart;
};

/* --- painting --- */

const newRow = (chart, attributes, name, indent, ...parts) => {
	const row = el("div", attributes, name, ...parts);

	name.className = "lane-name";
	name.style.paddingLeft = `${indent}rem`;
	row.style.width = chart.width;
	return row;
};

const makeLane = (chart, lane) => {
	const name = nodeLink(lane.path);

	lane.span = el("i", { class: "span" });
	lane.row = newRow(chart, { class: lane.node.service ? "lane" : "lane group", "data-path": lane.path },
		name, lane.level * .8, lane.span);
	name.textContent = lane.path.split("/").pop() || "root";
	if (chart.rows++ % BLOCK === 0)
		chart.body.append(el("div"));
	chart.body.lastElementChild.append(lane.row);
};

const paintBar = (lane, bar) => {
	if (bar.isPainted)
		return;
	if (!bar.element)
		lane.row.append(bar.element = el("i", { class: `bar ${bar.part}` }));
	place(bar.element, bar.from, bar.to).title = titleOf(bar);
	bar.isPainted = bar.to !== undefined;
};

const paintGuard = (chart, lane, guard) => {
	if (!guard.row) {
		guard.line = el("i", { class: "held" });
		guard.row = newRow(chart, { class: "lane guard", title: guard.text }, el("div", {}, `⚑ ${guard.holder}`),
			lane.level * .8 + .9, guard.line);
		(lane.last || lane.row).after(guard.row);
		lane.last = guard.row;
	}
	place(guard.line, guard.from, guard.to);
	guard.row.classList.toggle("complete", guard.to !== undefined);
};

const paintLane = (chart, lane) => {
	const isComplete = lane.to !== undefined;

	if (!lane.row)
		makeLane(chart, lane);
	if (lane.state)
		lane.row.dataset.state = lane.state;
	if (lane.plan && !lane.planned) {
		lane.row.prepend(lane.planned = el("i", { class: "plan", title: "the plan: the worst case" }));
		lane.planned.plan = lane.plan;
		placePlan(chart, lane.planned);
	}
	lane.bars.forEach((bar) => paintBar(lane, bar));
	lane.guards.forEach((guard) => paintGuard(chart, lane, guard));
	if (!isComplete && lane.kill !== undefined) {
		if (!lane.mark)
			lane.row.append(lane.mark = el("i", { class: "kill" }));
		place(lane.mark, lane.kill, lane.kill).title = `killed at ${duration(lane.kill)}`;
	}
	/* It is behind a bar that goes on. */
	place(lane.span, 0, isComplete ? lane.to : lane.bars.find((bar) => bar.to === undefined)?.from);
	if (!isComplete)
		return;
	lane.row.classList.add("complete");
	lane.row.classList.toggle("killed", isKilled(lane));
	if (!lane.took)
		lane.span.after(lane.took = el("span", { class: "took" }));
	setText(place(lane.took, lane.to, lane.to), tookOf(lane));
	if (lane.mark)
		lane.mark.remove();
};

/* For so many milliseconds.  What remains is left to the next frame. */
export const paint = (chart, ms) => {
	const end = performance.now() + ms;

	for (const lane of chart.changed) {
		chart.changed.delete(lane);
		paintLane(chart, lane);
		if (performance.now() > end)
			return;
	}
};

/* --- what happens --- */

/* A service that does not run has no part in it. */
const isPlanned = (lane) => lane && (!lane.over || lane.bars.length > 0);

export const addPlan = (chart, entries) => {
	const services = entries.filter((entry) => entry.kind === "service" && isPlanned(chart.lanes.get(entry.node)));
	const first = Math.min(...services.map((entry) => entry.begin_usec || 0));

	for (const entry of services)
		if (entry.begin_usec !== undefined && entry.end_usec !== undefined) {
			const lane = chart.lanes.get(entry.node);

			lane.plan = [(entry.begin_usec - first) / 1000, (entry.end_usec - first) / 1000];
			chart.changed.add(lane);
		}
	return Math.max(0, ...services.map((entry) => (entry.end_usec || 0) - first)) / 1000;
};

const closeBar = (lane, at) => {
	const last = lane.bars.at(-1);

	if (last && last.to === undefined)
		last.to = at;
};

/* The service of the lane is in another state at this time. */
export const addState = (chart, lane, state, at) => {
	const part = parts[state];

	closeBar(lane, at);
	lane.state = state;
	lane.over ||= isOver(state);
	if (part)
		lane.bars.push({ part, state, from: at });
	chart.changed.add(lane);
};

/* The node of the lane is complete. */
export const addEnd = (chart, lane, at) => {
	if (lane.to !== undefined)
		return;
	lane.to = at;
	closeBar(lane, at);
	chart.changed.add(lane);
};

/* When the processes of the lane are killed. */
export const setKill = (chart, lane, at) => {
	if (lane.to !== undefined || Math.abs(lane.kill - at) < 5)
		return;
	lane.kill = at;
	chart.changed.add(lane);
};

const addGuard = (chart, lane, guard, at) => {
	const holder = holderOf(guard);

	lane.guards.set(guard.id, { holder, text: `${holder} on ${guard.node || "root"}`, from: Math.max(0, at) });
	chart.changed.add(lane);
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
				chart.changed.add(lane);
			}
};

/* --- the axis --- */

/* Blocks on the screen, or all in a browser that does not know. */
const seenOf = (chart) => "oncontentvisibilityautostatechange" in chart.body ? chart.seen : chart.body.children;

const steps = [.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];

export const setSpan = (chart, ms) => {
	const most = innerWidth < 600 ? 4 : 8, step = 1000 * (steps.find((s) => ms / 1000 / s <= most) || 7200);
	const ticks = [];

	if (chart.span === ms)
		return;
	chart.span = ms;
	chart.step = step;
	chart.width = `${10000 * PERCENT_MS / ms}%`;
	for (const block of [chart.axis.parentElement, ...seenOf(chart)])
		setWidth(chart, block);
	for (let at = 0; at <= ms; at += step)
		ticks.push(place(el("span", {}, at < 60000 ? `${+(at / 1000).toFixed(2)} s` :
			`${Math.floor(at / 60000)}:${String(at / 1000 % 60).padStart(2, "0")}`), at));
	chart.axis.replaceChildren(...ticks, chart.line);
};

export const setNow = (chart, at) => {
	const present = Math.max(0, at), right = `${100 - present / PERCENT_MS}%`;

	place(chart.line, present);
	for (const block of seenOf(chart))
		for (const element of block.querySelectorAll(".on"))
			element.style.right = right;
};

/* All that goes on ends at this time. */
export const endAll = (chart, at) => {
	setGuards(chart, [], at, 0);
	for (const lane of chart.lanes.values())
		if (lane.to === undefined) {
			addState(chart, lane, "down", at);
			addEnd(chart, lane, at);
		}
	chart.line.hidden = true;
};
