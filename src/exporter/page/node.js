/* One node; and, while none is open, the last changes of all. */
import { actionsOpen, actionsView } from "./actions.js";
import { el, nodeLink, pathToUrl, setShape, setText, shape } from "./dom.js";
import { logOpen, logView } from "./log.js";
import { fetchJson, model, now } from "./model.js";
import { pastShow, pastView } from "./past.js";
import { age, clock, count, duration, holderOf, isWithin, nameOf, sentenceOf, shapeOf } from "./text.js";

const EVENTS_SHOWN = 30, GUARDS_SHOWN = 50;

const mark = shape("down");
const heading = el("h2", { tabindex: "-1" });
const sentence = el("p", { class: "sentence" });
const facts = el("dl", { class: "facts" });
const guardRows = el("tbody");
const guardTable = el("table", { class: "guards" },
	el("thead", {}, el("tr", {}, ...["Guard", "Node", "Kind", "Held for", "Kill in"].map((text) => el("th", { scope: "col" }, text)))),
	guardRows);
const guards = el("section", {}, el("h3", {}, "Guards"), guardTable);
const relations = el("dl", { class: "facts" });
const settingRows = el("tbody");
const settings = el("details", {}, el("summary", {}, "Settings"), el("table", {},
	el("thead", {}, el("tr", {}, ...["Key", "Value", "From"].map((text) => el("th", { scope: "col" }, text)))), settingRows));
const changes = el("ol", { class: "changes" });
const changesTitle = el("h3", {}, "Last changes");
export const nodeView = el("section", { id: "node", "aria-label": "Node" },
	el("p", { class: "back" }, el("a", { href: "/", "data-node": "" }, "← all nodes")),
	el("header", {}, mark, heading), sentence, actionsView, facts, guards, logView, relations, pastView,
	settings, changesTitle, changes);

let opened = null, page = {}, plan = [];
let isLoading = false, isStale = false;	/* the settings may have come while the page of the node was loaded */

/* A row of facts; none if there is no value. */
const fact = (name, ...value) => value[0] ? [el("dt", {}, name), el("dd", {}, ...value)] : [];
const timeAgo = (at) => el("time", { title: clock(at), "data-at": at }, age(now() - at));

/* --- changes --- */

const changeRow = (event) => {
	const at = event.time_usec / 1000;

	return el("li", { "data-number": event.number, class: event.to },
		  el("time", { title: clock(at) }, new Date(at).toLocaleTimeString()),
		  el("span", {}, ...(opened === null || opened !== event.node ? [event.kind === "rollout" ? event.kind : nodeLink(event.node), " "] : []),
		     `${event.from.replace("_", " ")} → `, el("b", {}, event.to.replace("_", " "))),
		  el("span", { class: "reason" }, event.cause || event.reason || ""));
};

const isShown = (event) => opened === null || event.node === opened;

export const changesTake = (events) => {
	const shown = events.filter(isShown);

	if (!shown.length)
		return;
	changes.prepend(...shown.slice(-EVENTS_SHOWN).reverse().map(changeRow));
	while (changes.childElementCount > EVENTS_SHOWN)
		changes.lastElementChild.remove();
};

/* --- guards --- */

const guardRow = (guard) => {
	const kill = guard.kill_usec === undefined ? "" : duration(guard.kill_usec / 1000);

	return el("tr", {}, el("th", { scope: "row" }, holderOf(guard)), el("td", {}, nodeLink(guard.node)),
		  el("td", {}, guard.kind), el("td", {}, timeAgo(guard.at)), el("td", {}, kill));
};

const showGuards = () => {
	const held = model.guards.filter((guard) => isWithin(guard.node, opened));

	guards.hidden = held.length === 0;
	guardTable.classList.toggle("stopping", held.some((guard) => guard.kill_usec !== undefined));
	guardRows.replaceChildren(...held.slice(0, GUARDS_SHOWN).map(guardRow));
};

/* --- facts --- */

const showFacts = (node) => {
	const s = node.service || {}, isService = Boolean(node.service);

	facts.replaceChildren(
		...fact("Since", timeAgo(node.at), ` ago, ${clock(node.at)}`),
		...fact("Command", isService && el("code", {}, s.command)),
		...fact("Process", s.pid && String(s.pid)),
		...fact("Ready", isService && (s.ready ? "yes" : "no")),
		...fact("Health", s.health && s.health + (s.health_result ? `: ${s.health_result}` : "")),
		...fact("Restarts", isService && String(s.restarts)),
		...fact("Last end", s.result),
		...fact("Schedule", s.schedule),
		...fact("Next run", node.next && clock(node.next)),
		...fact("Log", s.logs && s.logs.join(", ") + (s.lost_lines ? `; ${count(s.lost_lines, "line")} lost` : "")));
};

const links = (paths) => paths.flatMap((path, i) => i ? [", ", nodeLink(path)] : [nodeLink(path)]);

/* The name of each kind of dependency for the nodes on both sides of it. */
const kinds = { requires: ["Requires", "Required by"], wants: ["Wants", "Wanted by"], after: ["Starts after", "Starts before"] };

const dependencyFacts = () => Object.entries(kinds).flatMap(([kind, names]) => ["from", "to"].flatMap((side, i) => {
	const paths = page.dependencies.filter((edge) => edge.kind === kind && edge[side] === opened)
		.map((edge) => i ? edge.from : edge.to);

	return fact(names[i], ...links(paths));
}));

const showRelations = () => {
	const depth = opened ? opened.split("/").length + 1 : 1;
	const below = [...model.nodes.keys()].filter((path) => path && path !== opened && isWithin(path, opened) &&
		path.split("/").length === depth);
	const own = plan.find((entry) => entry.node === opened);
	const later = plan.filter((entry) => entry.waits.includes(opened)).map((entry) => entry.node);

	relations.replaceChildren(
		...fact("Part of", opened && nodeLink(opened.slice(0, Math.max(0, opened.lastIndexOf("/"))))),
		...fact("Nodes in it", ...links(below)),
		...dependencyFacts(),
		...fact("Stops after", ...links(own?.waits || [])),
		...fact("Stops before", ...links(later)));
};

const showSettings = () => {
	settings.hidden = !page.settings;
	settingRows.replaceChildren(...(page.settings || []).map(({ key, value, origin }) =>
		el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, el("code", {}, value)), el("td", {}, origin))));
};

const clear = () => {
	for (const part of [facts, guardRows, relations])
		part.replaceChildren();
	guards.hidden = settings.hidden = pastView.hidden = true;
};

export const nodeUpdate = () => {
	const node = opened === null ? null : model.nodes.get(opened);

	mark.toggleAttribute("hidden", !node);
	if (!node) {
		clear();
		setText(sentence, opened === null ? "" : "There is no such node.");
		return;
	}
	setShape(mark, shapeOf(node));
	setText(sentence, sentenceOf(node));
	showFacts(node);
	showGuards();
	isStale = !page.settings;
	if (page.node && isStale)
		nodeLoad();
};

export const nodeTick = () => {
	for (const time of nodeView.querySelectorAll("time[data-at]"))
		setText(time, age(now() - Number(time.dataset.at)));
};

/* What the exporter knows about the node besides. */
export const nodeLoad = async () => {
	const path = opened;

	if (isLoading || !model.nodes.has(path))
		return;
	isLoading = true;
	isStale = false;
	const [data, shutdown] = await Promise.all([fetchJson(pathToUrl(path, "/api/node/")), fetchJson("/api/shutdown")]).catch(() => []);

	isLoading = false;
	if (opened !== path)
		nodeLoad();
	if (!data || opened !== path)
		return;
	page = data;
	changes.replaceChildren();
	changesTake(page.events);
	plan = shutdown.plan?.entries || [];
	showRelations();
	showSettings();
	pastShow(page.ends || [], page.availability);
	if (isStale && !page.settings)
		nodeLoad();
};

/* Opens a node; null: the last changes of all. */
export const nodeOpen = (path) => {
	opened = path;
	nodeView.classList.toggle("none", path === null);
	setText(heading, path === null ? "" : nameOf(path));
	setText(changesTitle, path === null ? "Last changes in the tree" : "Last changes");
	changes.replaceChildren();
	page = { dependencies: [] };
	plan = [];
	clear();
	nodeUpdate();
	actionsOpen(path);
	logOpen(path !== null && model.nodes.get(path)?.service ? path : null);
	if (path === null)
		changesTake(model.events);
	else
		nodeLoad();
};

export const nodeFocus = () => heading.focus();
