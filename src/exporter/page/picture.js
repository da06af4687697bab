/* The picture of a shutdown as a file. */
import { svg } from "./dom.js";
import { legend, titleOf, tookOf } from "./chart.js";
import { clock } from "./text.js";

const NAMES = 260, WIDTH = 900, LANE = 22, TOP = 84, RIGHT = 90;
const colours = { draining: "#56b4e9", waiting: "#c9ccd1", stopping: "#e69f00", killing: "#d55e00", closing: "#cc79a7" };

const text = (x, y, content, attributes = {}) => svg("text", { x, y, ...attributes }, content);

export const makePicture = (stop) => {
	const { chart, total } = stop, x = (ms) => NAMES + WIDTH * Math.min(1, ms / chart.span);
	const root = svg("svg", { "font-family": "sans-serif", "font-size": 12, fill: "#1c1f23" });
	let y = TOP, at = 20;

	root.append(svg("rect", { width: "100%", height: "100%", fill: "#fff" }),
		    text(20, 30, stop.text, { "font-size": 18, "font-weight": "bold" }));
	for (const [part, name] of Object.entries(legend)) {
		root.append(svg("rect", { x: at, y: 46, width: 14, height: 11, fill: colours[part] }), text(at + 19, 56, name));
		at += 40 + 7 * name.length;
	}
	for (let ms = 0; ms <= total; ms += chart.step)
		root.append(svg("line", { x1: x(ms), x2: x(ms), y1: TOP, y2: "100%", stroke: "#ddd" }),
			    text(x(ms), TOP - 6, `${ms / 1000} s`, { "text-anchor": "middle", fill: "#555" }));
	for (const lane of chart.lanes.values()) {
		const { level } = lane;

		root.append(text(20 + 12 * level, y + 15, lane.path.split("/").pop() || "root"),
			    svg("line", { x1: x(0), x2: x(lane.to), y1: y + 11, y2: y + 11, stroke: "#999" }));
		for (const bar of lane.bars)
			root.append(svg("rect", { x: x(bar.from), y: y + 4, width: Math.max(.8, x(bar.to) - x(bar.from)),
						  height: LANE - 8, fill: colours[bar.part] }, svg("title", {}, titleOf(bar))));
		root.append(text(x(lane.to) + 6, y + 15, tookOf(lane), { fill: "#555" }));
		y += LANE;
		for (const guard of lane.guards.values()) {
			root.append(text(32 + 12 * level, y + 12, `⚑ ${guard.text}`, { fill: "#555", "font-size": 11 }),
				    svg("line", { x1: x(guard.from), x2: x(guard.to), y1: y + 8, y2: y + 8, stroke: "#1c1f23", "stroke-width": 2 }));
			y += LANE - 6;
		}
	}
	root.append(text(20, y + 24, clock(stop.began), { fill: "#555" }));
	root.setAttribute("viewBox", `0 0 ${NAMES + WIDTH + RIGHT} ${y + 40}`);
	return new XMLSerializer().serializeToString(root);
};

export const savePicture = (stop) => {
	const url = URL.createObjectURL(new Blob([makePicture(stop)], { type: "image/svg+xml" }));
	const link = document.createElement("a");

	link.href = url;
	link.download = "shutdown.svg";
	link.click();
	URL.revokeObjectURL(url);
};
