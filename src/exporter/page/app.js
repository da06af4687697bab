/* Which view is shown, and when it is drawn: once a frame, as far as something has changed. */
import { changesTake, nodeFocus, nodeLoad, nodeOpen, nodeTick, nodeUpdate, nodeView } from "./node.js";
import { catchUp, connect, fetchJson, isFlapping, model, on, setPast } from "./model.js";
import { isStopping, shutdownFind, shutdownFrame, shutdownLoad, shutdownTake, shutdownText, shutdownUpdate,
	shutdownView } from "./shutdown.js";
import { el, nodeLink, setText, shape } from "./dom.js";
import { isWithin, summaryOf } from "./text.js";
import { treePaint, treeRebuild, treeSelect, treeTick, treeUpdate, treeView } from "./tree.js";

const summary = document.getElementById("summary"), badge = document.getElementById("connection");
const views = document.getElementById("views"), icon = document.getElementById("icon");
const PAINT_MS = 3;		/* of a frame */
let opened = null;		/* path of a node */
let changed = new Set(), events = [], rebuild = false, scheduled = false;
let ready = false;		/* the past is known */
const marks = el("ol", { id: "rollout" });	/* one for each service of the rollout */
let drawn;

summary.after(marks);

const goToShutdown = () => {
	if (location.pathname !== "/shutdown")
		go("/shutdown");
};

/* --- drawing --- */

/* Returns a sentence, or "". */
const showRollout = ({ rollout }) => {
	if (rollout?.state === "done")
		rollout = null;
	if (drawn !== rollout)
		marks.replaceChildren(...(rollout?.steps || []).map(({ node, state }) =>
			el("li", {}, shape({ pending: "down", restarting: "starting", ready: "up" }[state] || state), nodeLink(node))));
	drawn = rollout;
	return rollout ? ` ${rollout.confirm_usec ? "Reload" : "Rollout"} ${rollout.state}${rollout.reason ? ": " + rollout.reason : ""}.` : "";
};

const showSummary = () => {
	const text = isStopping() ? shutdownText() : summaryOf([...model.nodes.values()], model.up, isFlapping);

	setText(summary, text + showRollout(model));
	document.body.classList.toggle("down", !model.up || !model.connected);
	setText(badge, !model.connected ? "connection lost" : model.up ? "live" : "daemon down");
	document.title = `${isStopping() ? "◑ " : /attention/.test(text) ? "✕ " : ""}Swansong`;
};

const draw = () => {
	scheduled = false;
	if (rebuild)
		treeRebuild();
	treeUpdate(changed);
	changesTake(events);
	if (rebuild && ready)
		nodeLoad();
	if (opened !== null && (rebuild || [...changed].some((path) => isWithin(path, opened))))
		nodeUpdate();
	if (ready && shutdownFind())
		goToShutdown();
	shutdownUpdate();
	showSummary();
	changed = new Set();
	events = [];
	rebuild = false;
	if (treeView.isConnected && treePaint(PAINT_MS))
		schedule();
};

const schedule = () => {
	if (!scheduled)
		requestAnimationFrame(draw);
	scheduled = true;
};

/* --- views --- */

const show = (...parts) => {
	views.replaceChildren(...parts);
	document.body.dataset.view = parts.includes(shutdownView) ? "shutdown" : opened === null ? "all" : "node";
};

const route = () => {
	const path = location.pathname;

	opened = path.startsWith("/node/") ? path.slice(6).split("/").map(decodeURIComponent).join("/") : null;
	if (path === "/shutdown") {
		show(shutdownView);
		shutdownFrame();
		return;
	}
	show(treeView, nodeView);
	schedule();
	treeSelect(opened);
	nodeOpen(opened);
};

const go = (url) => {
	history.pushState(null, "", url);
	route();
};

document.addEventListener("click", (event) => {
	const link = event.target.closest("a[data-node]");

	if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey)
		return;
	event.preventDefault();
	go(link.getAttribute("href"));
	if (opened !== null && !link.matches(".row"))
		nodeFocus();
});
addEventListener("popstate", route);

/* --- events --- */

on("tree", () => { rebuild = true; });
on("node", (node) => changed.add(node.path));
on("event", (event) => {
	changed.add(event.node);
	events.push(event);
	if (shutdownTake(event, opened))
		goToShutdown();
});
on("guard", () => model.nodes.forEach((_, path) => changed.add(path)));
for (const name of ["tree", "node", "event", "guard", "shutdown", "summary", "connection"])
	on(name, schedule);

const begin = async () => {
	const data = await fetchJson("/api/shutdown").catch(() => ({}));

	shutdownLoad("", data);
	setPast(data.events || []);
	ready = true;
	document.getElementById("table").remove();
	document.body.classList.add("live");
	icon.hidden = false;
	route();
	if (isStopping())
		goToShutdown();
	setInterval(() => {
		treeTick();
		nodeTick();
		schedule();
	}, 1000);
};

let begun = false;

on("tree", () => {
	if (begun)
		catchUp();
	else
		begin();
	begun = true;
});
connect();
