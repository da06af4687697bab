/* Start, stop and restart of the open node, if the exporter has a token for that. */
import { el, setText } from "./dom.js";
import { fetchJson, model, on } from "./model.js";
import { count, isWithin, nameOf } from "./text.js";

const SHOWN = 10;
const buttons = ["start", "stop", "restart"].map((action) => el("button", { type: "button", value: action }, action));
const result = el("p", { role: "status" });
export const actionsView = el("section", { class: "actions", "aria-label": "Actions" }, ...buttons, result);

const title = el("h2", { id: "action-title" }), others = el("p"), fault = el("p", { class: "fault", role: "alert" });
const token = el("input", { type: "password", autocomplete: "off", required: true });
const label = el("label", {}, "Token of the exporter ", token);
const confirm = el("button"), cancel = el("button", { type: "button" }, "Cancel");
const form = el("form", {}, title, others, label, fault, el("p", { class: "actions" }, confirm, cancel));
const dialog = el("dialog", { "aria-labelledby": "action-title" }, form);

let opened = null, action = "";

const isDown = (path) => model.nodes.get(path)?.service?.state === "down";

/* Nodes that stop with @top, as they require it or one that stops with it. */
const dependents = (top, edges) => {
	const found = [top];

	for (const node of found)
		for (const edge of edges)
			if (edge.kind === "requires" && isWithin(edge.to, node) && !found.some((path) => isWithin(edge.from, path)) &&
			    !isDown(edge.from))
				found.push(edge.from);
	return found.slice(1);
};

const verbs = { stop: ["stops", "stop"], restart: ["restarts", "restart"] };

const showOthers = async () => {
	const asked = action, { dependencies = [] } = await fetchJson("/api/dependencies").catch(() => ({}));
	const found = dependents(opened, dependencies), more = found.length - SHOWN;
	const inside = [...model.nodes.values()].filter((node) => node.service && node.path !== opened && isWithin(node.path, opened));

	if (asked !== action || !verbs[action])
		return;
	others.textContent = [
		inside.length ? `${count(inside.length, "service")} in it ${verbs[action][inside.length === 1 ? 0 : 1]}.` : "",
		found.length ? `${found.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${count(more, "other")}` : ""} ` +
			`${verbs[action][found.length === 1 ? 0 : 1]} as well, by requires.` : "",
	].join(" ");
};

const ask = (text) => {
	setText(title, `${action[0].toUpperCase()}${action.slice(1)} ${nameOf(opened)}?`);
	setText(fault, text);
	setText(confirm, action);
	label.hidden = token.disabled = Boolean(sessionStorage.token);
	if (!dialog.open)
		dialog.showModal();
};

const send = async () => {
	const node = opened, wanted = action;
	const reply = await fetch("/api/action", {
		method: "POST",
		headers: { "Authorization": `Bearer ${sessionStorage.token}`, "Content-Type": "application/json" },
		body: JSON.stringify({ action: wanted, node }),
	}).catch(() => null);
	const data = reply ? await reply.json().catch(() => ({})) : { error: "The exporter does not answer." };

	if (reply?.status === 401) {
		delete sessionStorage.token;
		ask("This is not the token.");
	} else {
		dialog.close();
		setText(result, `${wanted} ${nameOf(node)}: ${reply?.ok ? "begun" : data.error || reply.status}`);
	}
};

actionsView.addEventListener("click", ({ target }) => {
	if (!target.value)
		return;
	action = target.value;
	setText(others, "");
	ask("");
	showOthers();
});
form.addEventListener("submit", (event) => {
	event.preventDefault();
	if (token.value)
		sessionStorage.token = token.value;
	token.value = "";
	send();
});
cancel.addEventListener("click", () => dialog.close());
document.body.append(dialog);

const show = () => { actionsView.hidden = opened === null || !model.features.actions; };

on("tree", show);

/* Shows the actions of a node; null: none. */
export const actionsOpen = (path) => {
	opened = path;
	show();
	setText(result, "");
	dialog.close();
};
