/*
 * The output of the open node: its last lines, then each as it comes.  Lines are shown ten times a second, and only
 * the last ones, so that a service may write any number of them.
 */
import { el, setText } from "./dom.js";
import { follow, model, on } from "./model.js";
import { clock, count } from "./text.js";

const LINES_MAX = 500, LOADED = 200, SHOWN_MS = 100, END_PX = 30;
/* Colours, titles and the like; then other control characters. */
const ESCAPES = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?/g;
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

const lines = el("div", { role: "log", "aria-live": "off", "aria-label": "Output", tabindex: "0" });
const pause = el("button", { type: "button" });
const note = el("p");
export const logView = el("section", { class: "output" }, el("header", {}, el("h3", {}, "Output"), pause), note, lines);

let wanted = null, opened = null;	/* the open node; null if its output cannot be shown */
let error = "";
let queue = [], skipped = 0;	/* lines that are still to be shown, and the number of those that never will be */
let timer = 0, isFresh = false, isLoading = false, isPaused = false, isAtEnd = true;

const makeLine = ({ stream, text, time }) => el("p", { class: stream, title: clock(time) },
	text.replace(ESCAPES, "").replace(CONTROLS, ""));

const append = (elements) => {
	lines.append(...elements);
	while (lines.childElementCount > LINES_MAX)
		lines.firstElementChild.remove();
	if (isAtEnd)
		lines.scrollTop = lines.scrollHeight;
};

const bound = (max) => {
	if (queue.length > max)
		skipped += queue.splice(0, queue.length - LINES_MAX).length;
};

const show = () => {
	timer = 0;
	if (!isPaused && !isLoading) {
		bound(LINES_MAX);
		const news = queue.filter((line) => line.node === opened);

		error = (news.find((line) => line.error) || { error }).error;
		append(skipped ? [el("p", {}, `${count(skipped, "line")} left out`)] : []);
		append(news.filter((line) => !line.error).map(makeLine));
		queue = [];
		skipped = 0;
	}
	lines.hidden = pause.hidden = !lines.childElementCount;
	setText(note, error || (lines.hidden && !isLoading ? "There is no output yet." : ""));
	setText(pause, isPaused ? `Continue (${count(queue.length + skipped, "new line")})` : "Pause");
};

const showSoon = () => { timer ||= setTimeout(show, SHOWN_MS); };

/* The stream has begun: lines from now on come by it, and may be among the last ones, too. */
const load = async () => {
	const path = opened;

	isLoading = true;
	queue = [];
	const reply = await fetch(`/api/logs?node=${encodeURIComponent(path)}&lines=${LOADED}`).catch(() => null);
	const data = reply ? await reply.json().catch(() => ({})) : {};

	if (path !== opened)
		return;
	isLoading = false;
	error = data.error || "";
	const last = (data.lines || []).at(-1);

	queue = queue.filter((line) => !last || line.time > last.time);
	lines.replaceChildren();
	append((data.lines || []).map(makeLine));
	show();
};

on("log", (line) => {
	queue.push(line);
	bound(2 * LINES_MAX);
	showSoon();
});
/* Shows the output of a node; null: of none. */
export const logOpen = (path) => {
	wanted = path;
	opened = model.features.logs ? path : null;
	logView.hidden = path === null;
	isPaused = false;
	isAtEnd = true;
	lines.replaceChildren();
	error = opened === path ? "" : "It is not shown, as swansong-exporter runs without --logs.";
	isLoading = opened !== null;
	show();
	if (!follow(opened) && opened !== null)
		load();
};

on("connection", () => { isFresh = model.connected; });
/* A stream has begun, of an exporter that may have been started with other options. */
on("tree", () => {
	if (wanted !== null && (opened !== null) !== Boolean(model.features.logs))
		logOpen(wanted);
	else if (opened !== null && isFresh)
		load();
	isFresh = false;
});

lines.addEventListener("scroll", () => {
	isAtEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < END_PX;
});
pause.addEventListener("click", () => {
	isPaused = !isPaused;
	isAtEnd = true;
	show();
});
