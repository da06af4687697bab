/*
 * The last ends of a node, as a strip: a bar is as high as its end was long.  And the last 30 days of a
 * service, a bar for each day: as high as the part of it in which the service was not ready, marked if by failure.
 */
import { el, setText } from "./dom.js";
import { clock, count, duration } from "./text.js";

const DAY = 86400e6;
const strip = el("ol", { class: "bars ends" }), caption = el("p");
const days = el("ol", { class: "bars" }), sum = el("p");
const ends = el("section", {}, el("h3", {}, "Last ends"), strip, caption);
const month = el("section", {}, el("h3", {}, "30 days"), days, sum);
export const pastView = el("section", {}, month, ends);

const bar = (name, part, text) => {
	const item = el("li", { class: name, title: text }, el("span", { class: "unseen" }, text));

	item.style.setProperty("--part", part);
	return item;
};

const endBar = (end, longest) => bar(end.forced && "forced", end.total_usec / 1000 / longest,
	`${clock(end.time_usec / 1000)}: ${duration(end.total_usec / 1000)}, ${end.forced ? "forced, " : ""}${end.why}`);

/* The day of the ledger that begins us this time. */
const dayBar = (ledger, from) => {
	const lost = {};

	for (const { from_usec, until_usec, cause } of ledger.outages) {
		const us = Math.min(until_usec, from + DAY) - Math.max(from_usec, from);

		if (us > 0)
			lost[cause] = (lost[cause] || 0) + us;
	}
	return from + DAY < ledger.since_usec ? "" : bar(lost.failure && "forced",
		Object.values(lost).reduce((all, us) => all + us / DAY, 0), clock(from / 1000) +
		Object.entries(lost).map(([cause, us]) => `, ${cause} ${duration(us / 1000)}`).join(""));
};

export const pastShow = (all, ledger) => {
	const longest = Math.max(...all.map((end) => end.total_usec / 1000), 1), forced = all.filter((end) => end.forced).length;

	strip.replaceChildren(...all.map((end) => endBar(end, longest)));
	setText(caption, `${count(all.length, "end")}; the longest took ${duration(longest)}; ` +
		`${forced ? `${forced} forced ✕` : "none was forced"}.`);
	ends.hidden = !all.length;
	pastView.hidden = false;
	if ((month.hidden = !ledger))
		return;
	days.replaceChildren(...Array.from({ length: 30 }, (_, i) => dayBar(ledger, ledger.until_usec - (30 - i) * DAY)));
	setText(sum, `Ready for ${(100 * ledger.ready_usec / (ledger.known_usec || 1)).toFixed(3)} % of ${duration(ledger.known_usec / 1000)}.`);
};
