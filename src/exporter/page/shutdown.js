/* A shutdown as it happens: of the root, or of the group that is open. */
import { actionsStop, shutdownActions } from "./actions.js";
import { addEnd, addPlan, addState, endAll, isOver, isKilled, legend, newChart, paint, setGuards, setKill, setNow,
	setSpan } from "./chart.js";
import { el, nodeLink, setText } from "./dom.js";
import { catchUp, fetchJson, isBehind, model, now } from "./model.js";
import { savePicture } from "./picture.js";
import { clock, count, countdownOf, duration, holderOf, isWithin, nameOf } from "./text.js";

const FRAME_MS = 33, PAINT_MS = 3, SPAN_MS = 10000, LISTED = 8;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const title = el("h2", { id: "shutdown-title", tabindex: "-1" });
const countdown = el("p", { id: "countdown", role: "timer", "aria-live": "off" });
const list = el("ol", { id: "held-up" });
const side = el("aside", { "aria-label": "Held up by" }, el("h3", {}, "Held up by"), list);
const place = el("div", { id: "chart-place" });
const save = el("button", { type: "button", hidden: true }, "Save as SVG");
const key = el("p", { class: "legend" },
	...Object.entries(legend).map(([part, text]) => el("span", {}, el("i", { class: `bar ${part}` }), text)),
	el("span", {}, el("i", { class: "held" }), "guard"), el("span", {}, el("i", { class: "plan" }), "plan, at worst"));
export const shutdownView = el("section", { id: "shutdown", "aria-labelledby": "shutdown-title" },
	el("header", {}, title, countdown, el("p", { class: "actions" }, el("a", { href: "/" , "data-node": "" }, "Back to the tree"), save), shutdownActions),
	el("div", { class: "shutdown-body" }, el("div", {}, key, place), side));

let stop = null;	/* { top, began, chart, ended, forced } */

export const shutdownText = () => stop?.text;
export const isStopping = () => Boolean(stop && !stop.ended);

const depthOf = (path, top) => (path ? path.split("/").length : 0) - (top ? top.split("/").length : 0);
const services = () => [...stop.chart.lanes.values()].filter((lane) => lane.node.service);
const left = () => services().filter((lane) => !lane.over && lane.to === undefined).length;

const finish = (at, text) => {
	const n = services().length, killed = services().filter(isKilled);

	stop.ended = true;
	stop.total = at;
	endAll(stop.chart, at);
	setSpan(stop.chart, Math.max(10, at * 1.08));
	stop.text = text || `Shut down ${nameOf(stop.top)}: ${count(n, "service")} in ${duration(at)}` +
		(killed.length ? `, ${killed.length} killed.` : stop.forced ? ", by force." : ". Nothing was killed.");
	setText(countdown, `${clock(stop.began)}, ${duration(at)}`);
	save.hidden = false;
	side.hidden = true;
	setText(title, stop.text);
	actionsStop(null);
};

const take = (event) => {
	const lane = stop.chart.lanes.get(event.node), at = event.time_usec / 1000 - stop.began;

	if (!lane || at < 0 || event.number <= stop.number)
		return;
	stop.number = event.number;
	if (event.kind === "service")
		addState(stop.chart, lane, event.to, at);
	else if (event.to === "complete") {
		addEnd(stop.chart, lane, at);
		if (event.node === stop.top)
			finish(at);
	}
};

const begin = (top, began, events) => {
	const nodes = [...model.nodes.values()].filter((node) => isWithin(node.path, top));

	stop = { top, began, chart: newChart(nodes, (path) => depthOf(path, top)), ended: false, forced: false, number: 0 };
	for (const node of nodes)
		if (node.service && isOver(node.service.state))
			stop.chart.lanes.get(node.path).over = true;
	side.hidden = false;
	save.hidden = true;
	setSpan(stop.chart, SPAN_MS);
	place.replaceChildren(stop.chart.element);
	actionsStop(top);
	events.forEach(take);
	if (!stop.ended)
		setGuards(stop.chart, model.guards, now() - began, began);
	shutdownUpdate();
	shutdownFrame();
};

const addPlanOf = (own, data) => {
	if (!data.plan || own !== stop)
		return;
	const worst = addPlan(own.chart, data.plan.entries);

	if (!own.ended && worst > 0 && worst < 3 * SPAN_MS)
		setSpan(own.chart, Math.max(own.chart.span, worst * 1.05));
	shutdownFrame();
};

/* Shows the last stop of the node in the reply of /api/shutdown, if there is one. */
export const shutdownLoad = (top, data) => {
	const events = data.events || [];
	const i = events.map((event) => event.kind === "node" && event.node === top && event.to === "shutting_down")
		.lastIndexOf(true);

	if (i < 0 || stop)
		return;
	begin(top, events[i].time_usec / 1000, events.slice(i));
	addPlanOf(stop, data);
};

/* Fetches the plan besides. */
const beginNow = (top, began, events) => {
	begin(top, began, events);
	const own = stop;

	fetchJson("/api/shutdown").then((data) => addPlanOf(own, data)).catch(() => {});
};

/* When many nodes stop at once, the event of the root may be lost.  Return: whether a stop begins. */
export const shutdownFind = () => {
	const root = model.nodes.get("");
	const begins = model.up && root?.state === "shutting_down" && !isStopping() &&
		!(stop && root.at <= stop.began + stop.total);

	if (begins)
		beginNow("", root.at, model.events.filter((event) => event.time_usec / 1000 >= root.at));
	return begins;
};

/* Return: whether a stop begins that is to be shown. */
export const shutdownTake = (event, opened) => {
	const begins = event.kind === "node" && event.to === "shutting_down" &&
		(event.node === "" || (event.node === opened && !model.nodes.get(opened).service));

	if (begins)
		beginNow(event.node, event.time_usec / 1000, [event]);
	else if (isStopping())
		take(event);
	return begins;
};

/* --- what holds it up --- */

/* The main process of a service says less than those that are beside it. */
const isOwn = (guard) => guard.kind === "process";
/* A service that has no signal yet waits for others. */
const isWaiting = (guard) => model.nodes.get(guard.node)?.service?.state === "waiting";
const blocking = () => (model.stopping?.guards || [])
	.filter((guard) => isWithin(guard.node, stop.top) && stop.chart.lanes.has(guard.node) &&
		stop.chart.lanes.get(guard.node).to === undefined)
	.sort((a, b) => isWaiting(a) - isWaiting(b) || (b.kill_usec ?? Infinity) -
		(a.kill_usec ?? Infinity) || isOwn(a) - isOwn(b) || a.id - b.id);

/* The guard that the sentence names, and of which the time is counted down. */
const leaderOf = (held) => held.find((guard) => !isOwn(guard) && !isWaiting(guard)) || held[0];

const leftOf = (guard) => guard.kill_usec / 1000 - (now() - model.stopping.at);

/* The sentence for all, and a screen reader: it has no times. */
const say = (held) => {
	const first = leaderOf(held);
	const waits = first ? `, waiting for ${holderOf(first)} on ${nameOf(first.node)}` : "";

	stop.text = `Shutting down${stop.top ? " " + stop.top : ""}: ${left()} of ` +
		`${count(services().length, "service")} left${waits}.`;
	setText(title, stop.text);
};

const endOf = (guard) => guard.kind === "process" || guard.kind === "leftover" ? "killed" : "revoked";

const showItem = (item, guard) => {
	const time = guard.kill_usec === undefined ? "no limit" :
		leftOf(guard) <= 0 ? "now" : `${endOf(guard)} in ${countdownOf(leftOf(guard))}`;

	setText(item.querySelector("b"), holderOf(guard));
	setText(item.querySelector("time"), time);
};

const showList = (held) => {
	const shown = held.slice(0, LISTED), ids = shown.map((guard) => guard.id).join();

	if (list.dataset.ids !== ids) {
		list.dataset.ids = ids;
		list.replaceChildren(...shown.map((guard) =>
			el("li", { class: guard.kind }, el("b"), el("span", {}, "on ", nodeLink(guard.node)), el("time"))));
	}
	shown.forEach((guard, i) => showItem(list.children[i], guard));
};

const showCountdown = (held) => {
	const first = leaderOf(held), ms = first?.kill_usec > 0 ? leftOf(first) : 0;
	const text = `${duration(Math.floor((now() - stop.began) / 100) * 100)} so far`;

	setText(countdown, ms > 0 ? `${text}; ${endOf(first)} in ${countdownOf(ms)}` : text);
};

/* Nodes may have ended before, or without an event that was seen. */
const endLanes = () => {
	for (const lane of stop.chart.lanes.values()) {
		const node = model.nodes.get(lane.path);

		if (lane.to === undefined && node?.state === "complete")
			addEnd(stop.chart, lane, Math.max(0, node.at - stop.began));
	}
	if (stop.chart.lanes.get(stop.top).to !== undefined)
		finish(stop.chart.lanes.get(stop.top).to);
};

/* After a change of the model. */
export const shutdownUpdate = () => {
	if (!isStopping() || isBehind())
		return;
	if (!model.up && !stop.isLast) {
		stop.isLast = true;
		catchUp();
		return;
	}
	const held = blocking(), at = now() - stop.began, top = model.nodes.get(stop.top);

	endLanes();
	if (stop.ended)
		return;
	stop.forced ||= Boolean(top?.forced);
	setGuards(stop.chart, model.guards, at, stop.began);
	for (const guard of held)
		if (isOwn(guard) && guard.kill_usec !== undefined)
			setKill(stop.chart, stop.chart.lanes.get(guard.node), model.stopping.at - stop.began + guard.kill_usec / 1000);
	say(held);
	showList(held);
	if (!model.up)
		finish(at, "The daemon has ended. This is the last that was seen of its shutdown.");
};

let drawn = 0, isRunning = false;

const frame = () => {
	isRunning = Boolean(stop) && shutdownView.isConnected && (!stop.ended || stop.chart.changed.size > 0);
	if (!isRunning)
		return;
	if (!stop.ended && performance.now() - drawn >= (calm.matches ? 1000 : FRAME_MS)) {
		const at = now() - stop.began, held = blocking();

		drawn = performance.now();
		if (at > stop.chart.span * .94)
			setSpan(stop.chart, stop.chart.span * 1.5);
		setNow(stop.chart, at);
		showCountdown(held);
		showList(held);
	}
	paint(stop.chart, PAINT_MS);
	requestAnimationFrame(frame);
};

/* The view is shown, or has something to show. */
export const shutdownFrame = () => {
	if (!isRunning)
		frame();
};

save.addEventListener("click", () => savePicture(stop));
