/* Elements.  Text from outside comes in as text nodes and attributes, never as HTML. */

const SVG = "http://www.w3.org/2000/svg";

export const fill = (element, attributes, children = []) => {
	for (const [name, value] of Object.entries(attributes))
		if (value != null && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children);
	return element;
};

export const el = (tag, attributes = {}, ...children) =>
	fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
	fill(document.createElementNS(SVG, tag), attributes, children);

/* A shape of index.html; the word beside it says the same. */
export const shape = (name) =>
	svg("svg", { class: `shape ${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
	    svg("use", { href: `#${name}` }));

export const setShape = (element, name) => {
	element.setAttribute("class", `shape ${name}`);
	element.firstChild.setAttribute("href", `#${name}`);
};

/* Touches the document only if the text is another one. */
export const setText = (element, text) => {
	if (element.textContent !== text)
		element.textContent = text;
};

export const pathToUrl = (path, base = "/node/") => base + path.split("/").map(encodeURIComponent).join("/");

export const nodeLink = (path) => el("a", { href: pathToUrl(path), "data-node": path }, path || "root");
