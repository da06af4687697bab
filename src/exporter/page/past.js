/* The last ends of a node, as a strip: a bar is as high as its end was long. */
import { el, setText } from "./dom.js";
import { clock, count, duration } from "./text.js";

const strip = el("ol", { class: "ends" }), caption = el("p");
export const pastView = el("section", {}, el("h3", {}, "Last ends"), strip, caption);

const endItem = (end, longest) => {
	const ms = end.total_usec / 1000;
	const text = `${clock(end.time_usec / 1000)}: ${duration(ms)}, ${end.forced ? "forced, " : ""}${end.why}`;
	const item = el("li", { class: end.forced && "forced", title: text }, el("span", { class: "unseen" }, text));

	item.style.setProperty("--part", ms / longest);
	return item;
};

export const pastShow = (ends) => {
	const longest = Math.max(...ends.map((end) => end.total_usec / 1000), 1), forced = ends.filter((end) => end.forced).length;

	strip.replaceChildren(...ends.map((end) => endItem(end, longest)));
	setText(caption, `${count(ends.length, "end")}; the longest took ${duration(longest)}; ` +
		`${forced ? `${forced} forced ✕` : "none was forced"}.`);
	pastView.hidden = !ends.length;
};
