/* The tree: a row for each node.  Only the rows of nodes that have changed are touched. */
import { el, pathToUrl, setShape, setText, shape } from "./dom.js";
import { model, now } from "./model.js";
import { age, clock, count, isTrouble, nameOf, shapeOf, wordOf } from "./text.js";

const list = el("div", { role: "tree", "aria-label": "Nodes", id: "tree" });
const search = el("input", { type: "search", placeholder: "Search nodes  /", "aria-label": "Search nodes" });
export const treeView = el("section", { id: "tree-view", "aria-label": "Tree" }, search, list);

let rows = new Map();
const folded = new Set();
let current = "";

const levelOf = (path) => path ? path.split("/").length + 1 : 1;
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const isWithin = (path, top) => top === "" ? path !== "" : path.startsWith(top + "/");

const makeRow = (node, isGroup) => {
	const row = {
		shape: shape("down"), word: el("span", { class: "word" }), since: el("time"),
		notes: el("span", { class: "notes" }), twisty: el("span", { class: "twisty", "aria-hidden": "true" }),
	};

	row.path = node.path;
	row.isGroup = isGroup;
	row.element = el("a", {
		role: "treeitem", class: "row", href: pathToUrl(node.path), "data-path": node.path,
		"data-node": node.path, "aria-level": levelOf(node.path), tabindex: "-1",
		"aria-expanded": isGroup ? "true" : undefined,
	}, row.twisty, row.shape, el("span", { class: "name" }, node.path.split("/").pop() || "root"),
	row.notes, row.word, row.since);
	row.element.style.setProperty("--level", levelOf(node.path));
	return row;
};

const notesOf = (node) => [
	node.service && node.service.restarts ? `↻ ${node.service.restarts}` : "",
	model.held.has(node.path) ? `⚑ ${model.held.get(node.path)}` : "",
].filter(Boolean).join("  ");
const notesTitle = (node) => [
	node.service && node.service.restarts ? count(node.service.restarts, "restart") : "",
	model.held.has(node.path) ? `${count(model.held.get(node.path), "guard")} held` : "",
].filter(Boolean).join(", ");

const showSince = (row, node) => setText(row.since, age(now() - node.at));

const showRow = (row, node) => {
	const name = shapeOf(node), title = notesTitle(node);

	if (row.element.dataset.state !== wordOf(node) || row.name !== name) {
		row.element.dataset.state = wordOf(node);
		row.name = name;
		setShape(row.shape, name);
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

export const treeUpdate = (paths) => {
	for (const path of paths)
		if (rows.has(path) && model.nodes.has(path))
			showRow(rows.get(path), model.nodes.get(path));
};

export const treeTick = () => {
	for (const row of rows.values())
		showSince(row, model.nodes.get(row.path));
};

/* --- which rows are shown --- */

const isFolded = (path) => {
	for (const top of folded)
		if (isWithin(path, top))
			return true;
	return false;
};

const filter = () => {
	const wanted = search.value.trim().toLowerCase();

	for (const row of rows.values()) {
		const found = nameOf(row.path).toLowerCase().includes(wanted);

		row.element.hidden = wanted ? !found : isFolded(row.path);
	}
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

export const treeRebuild = () => {
	const nodes = [...model.nodes.values()], before = document.activeElement;
	const focused = list.contains(before) ? before.dataset.path : null;
	const parents = new Set(nodes.map((node) => parentOf(node.path)));

	rows = new Map();
	for (const node of nodes) {
		const row = makeRow(node, !node.service || parents.has(node.path));

		showRow(row, node);
		rows.set(node.path, row);
	}
	list.replaceChildren(...[...rows.values()].map((row) => row.element));
	for (const path of folded)
		if (rows.has(path))
			rows.get(path).element.setAttribute("aria-expanded", "false");
	filter();
	treeSelect(current);
	if (focused !== null && rows.has(focused))
		rows.get(focused).element.focus();
};

/* The row of the open node; null: no node is open. */
export const treeSelect = (path) => {
	for (const row of rows.values()) {
		const selected = row.path === path;

		row.element.tabIndex = -1;
		if (row.element.getAttribute("aria-selected") !== String(selected))
			row.element.setAttribute("aria-selected", String(selected));
	}
	current = path;
	if (rows.size)
		(rows.get(path) || rows.values().next().value).element.tabIndex = 0;
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

const shown = () => [...rows.values()].map((row) => row.element).filter((element) => !element.hidden);

list.addEventListener("keydown", (event) => {
	const all = shown(), row = rows.get(event.target.dataset.path), at = all.indexOf(event.target);
	const keys = {
		ArrowDown: () => focus(all[at + 1]),
		ArrowUp: () => focus(at > 0 ? all[at - 1] : search),
		Home: () => focus(all[0]),
		End: () => focus(all[all.length - 1]),
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
