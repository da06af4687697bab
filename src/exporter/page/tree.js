/*
 * The tree: a row for each node.  Only the rows of nodes that have changed are touched, for a few milliseconds a
 * frame: rows of a large tree come in portions.  Rows are in blocks, and the browser skips a block that is not on
 * the screen.
 */
import { el, fill, pathToUrl, setShape, setText, shape } from "./dom.js";
import { model, now } from "./model.js";
import { age, clock, count, isTrouble, isWithin, nameOf, outdatedOf, shapeOf, wordOf } from "./text.js";

const BLOCK = 16, SHOWN = ".row:not([hidden])";
const list = el("div", { role: "tree", "aria-label": "Nodes", id: "tree" });
const search = el("input", { type: "search", placeholder: "Search nodes  /", "aria-label": "Search nodes" });
export const treeView = el("section", { id: "tree-view", "aria-label": "Tree" }, search, list);

const rows = new Map();		/* by path: those that are made */
let order = [], placed = 0;	/* all nodes, and the number of those that have their place in the list */
let parents = new Set();
const changed = new Set(), folded = new Set();
let current = null;		/* the path of the open node */

const levelOf = (path) => path ? path.split("/").length + 1 : 1;
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

const isGroup = (node) => !node.service || parents.has(node.path);

const template = el("a", { role: "treeitem", class: "row" }, el("span", { class: "twisty", "aria-hidden": "true" }),
	shape("down"), el("span", { class: "name" }), el("span", { class: "notes" }), el("span", { class: "word" }), el("time"));

const makeRow = (node) => {
	const { path } = node, element = template.cloneNode(true), [, mark, name, notes, word, since] = element.children;
	const row = { path, element, mark, notes, word, since, isGroup: isGroup(node) };

	name.textContent = path.split("/").pop() || "root";
	fill(element, { href: pathToUrl(path), "data-path": path, "data-node": path, "aria-level": levelOf(path),
		"aria-expanded": row.isGroup ? String(!folded.has(path)) : null });
	element.style.setProperty("--level", levelOf(path));
	showSelected(row);
	element.hidden = isHidden(row);
	rows.set(path, row);
	return row;
};

const notesOf = (node) => [
	outdatedOf(node) && "⇡",
	node.service?.restarts ? `↻ ${node.service.restarts}` : "",
	model.held.has(node.path) ? `⚑ ${model.held.get(node.path)}` : "",
].filter(Boolean).join("  ");
const notesTitle = (node) => [
	outdatedOf(node),
	node.service?.restarts ? count(node.service.restarts, "restart") : "",
	model.held.has(node.path) ? `${count(model.held.get(node.path), "guard")} held` : "",
].filter(Boolean).join(", ");

const showSince = (row, node) => setText(row.since, age(now() - node.at));

const showRow = (row, node) => {
	const name = shapeOf(node), title = notesTitle(node);

	if (row.element.dataset.state !== wordOf(node) || row.name !== name) {
		row.element.dataset.state = wordOf(node);
		row.name = name;
		setShape(row.mark, name);
		setText(row.word, wordOf(node));
		row.element.classList.toggle("trouble", isTrouble(node));
	}
	setText(row.notes, notesOf(node));
	if (row.notes.title !== title)
		row.notes.title = title;
	if (row.at !== node.at) {
		row.at = node.at;
		row.since.title = `since ${clock(node.at)}`;
	}
	showSince(row, node);
};

export const treeTick = () => {
	for (const row of rows.values())
		if (model.nodes.has(row.path))
			showSince(row, model.nodes.get(row.path));
};

const placeRow = (node) => {
	const row = rows.get(node.path) || makeRow(node), { element } = row, n = placed % BLOCK;

	if (placed === BLOCK * list.childElementCount)
		list.append(el("div"));
	const block = list.children[(placed - n) / BLOCK], next = block.children[n];

	if (element !== next) {
		const isFocused = element === document.activeElement;

		block.insertBefore(element, next || null);
		if (isFocused)
			element.focus({ preventScroll: true });
	}
	block.hidden &&= element.hidden;
	placed++;
	showRow(row, node);
};

/* The nodes are others. */
export const treeRebuild = () => {
	order = [...model.nodes.values()];
	parents = new Set(order.map((node) => parentOf(node.path)));
	for (const row of rows.values()) {
		const node = model.nodes.get(row.path);

		if (node && row.isGroup === isGroup(node))
			continue;
		row.element.remove();
		rows.delete(row.path);
	}
	placed = 0;
};

export const treeUpdate = (paths) => paths.forEach((path) => changed.add(path));

/* For so many milliseconds.  Return: whether something remains for the next frame. */
export const treePaint = (ms) => {
	const end = performance.now() + ms;

	while (placed < order.length && performance.now() < end)
		placeRow(model.nodes.get(order[placed].path));
	for (const path of changed) {
		if (performance.now() >= end)
			return true;
		changed.delete(path);
		if (rows.has(path) && model.nodes.has(path))
			showRow(rows.get(path), model.nodes.get(path));
	}
	return placed < order.length;
};

/* --- which rows are shown --- */

const isFolded = (path) => {
	for (const top of folded)
		if (path !== top && isWithin(path, top))
			return true;
	return false;
};

const isHidden = ({ path }) => {
	const wanted = search.value.trim().toLowerCase();

	return wanted ? !nameOf(path).toLowerCase().includes(wanted) : isFolded(path);
};

const filter = () => {
	rows.forEach((row) => { row.element.hidden = isHidden(row); });
	for (const block of list.children)
		block.hidden = !block.querySelector(SHOWN);
};

const fold = (row, close) => {
	if (!row.isGroup || folded.has(row.path) === close)
		return false;
	if (close)
		folded.add(row.path);
	else
		folded.delete(row.path);
	row.element.setAttribute("aria-expanded", String(!close));
	filter();
	return true;
};

/* The tab key comes to the row of the open node, or to the root. */
const showSelected = ({ path, element }) => {
	element.tabIndex = path === (model.nodes.has(current) ? current : "") ? 0 : -1;
	element.setAttribute("aria-selected", String(path === current));
};

/* The row of the open node; null: no node is open. */
export const treeSelect = (path) => {
	current = path;
	rows.forEach(showSelected);
};

/* --- keys --- */

const focus = (element) => {
	if (!element)
		return;
	for (const row of rows.values())
		row.element.tabIndex = -1;
	element.tabIndex = 0;
	element.focus();
};

const shown = () => [...list.querySelectorAll(SHOWN)];

list.addEventListener("keydown", (event) => {
	const all = shown(), row = rows.get(event.target.dataset.path), at = all.indexOf(event.target);
	const keys = {
		ArrowDown: () => focus(all[at + 1]),
		ArrowUp: () => focus(at > 0 ? all[at - 1] : search),
		Home: () => focus(all[0]),
		End: () => focus(all.at(-1)),
		ArrowRight: () => fold(row, false) || (row.isGroup && focus(all[at + 1])),
		ArrowLeft: () => fold(row, true) || focus(rows.get(parentOf(row.path)).element),
		" ": () => event.target.click(),
	};

	if (!row || !keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
		return;
	event.preventDefault();
	keys[event.key]();
});

list.addEventListener("click", (event) => {
	const row = event.target.closest(".twisty") && rows.get(event.target.closest(".row").dataset.path);

	if (!row || !row.isGroup)
		return;
	event.preventDefault();
	event.stopPropagation();
	fold(row, !folded.has(row.path));
});

search.addEventListener("input", filter);
search.addEventListener("keydown", (event) => {
	if (event.key === "Escape") {
		search.value = "";
		filter();
	}
	if (event.key === "Escape" || event.key === "ArrowDown")
		focus(shown()[0]);
	else if (event.key === "Enter" && shown()[0])
		shown()[0].click();
});
document.addEventListener("keydown", (event) => {
	if (event.key === "/" && !event.target.closest("input") && !event.ctrlKey && !event.metaKey) {
		event.preventDefault();
		search.focus();
	}
});
