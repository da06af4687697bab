/* Actions for the open node, and for a shutdown that is under way, if the exporter has a token for that. */
import { el, setText } from "./dom.js";
import { fetchJson, model, on } from "./model.js";
import { count, isWithin, nameOf } from "./text.js";

const SHOWN = 10;
const texts = { shutdown: "shut down", extend: "5 minutes more" };
const textOf = (action) => texts[action] || action;
const newView = (...actions) => el("section", { class: "actions", "aria-label": "Actions" },
	...actions.map((action) => el("button", { type: "button", value: action }, textOf(action))), el("p", { role: "status" }));
export const actionsView = newView("start", "stop", "restart", "shutdown");
export const shutdownActions = newView("extend", "hold", "release");

const title = el("h2", { id: "action-title" }), others = el("p"), fault = el("p", { class: "fault", role: "alert" });
const token = el("input", { type: "password", autocomplete: "off", required: true });
const label = el("label", {}, "Token of the exporter ", token);
const confirm = el("button"), cancel = el("button", { type: "button" }, "Cancel");
const form = el("form", {}, title, others, label, fault, el("p", { class: "actions" }, confirm, cancel));
const dialog = el("dialog", { "aria-labelledby": "action-title" }, form);

let opened = null, stopping = null, node = "", action = "";

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

const verbs = { stop: ["stops", "stop"], restart: ["restarts", "restart"], shutdown: ["stops", "stop"] };

const showOthers = async () => {
	const asked = action, top = node, { dependencies = [] } = await fetchJson("/api/dependencies").catch(() => ({}));
	const found = dependents(top, dependencies), more = found.length - SHOWN;
	const inside = [...model.nodes.values()].filter(({ service, path }) => service && path !== top && isWithin(path, top));

	if (asked !== action || !verbs[action])
		return;
	others.textContent = [
		inside.length ? `${count(inside.length, "service")} in it ${verbs[action][inside.length === 1 ? 0 : 1]}.` : "",
		found.length ? `${found.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${count(more, "other")}` : ""} ` +
			`${verbs[action][found.length === 1 ? 0 : 1]} as well, by requires.` : "",
	].join(" ");
};

const ask = (text) => {
	const verb = textOf(action);

	setText(title, `${verb[0].toUpperCase()}${verb.slice(1)}${action === "extend" ? " for" : ""} ${nameOf(node)}?`);
	setText(fault, text);
	setText(confirm, verb);
	label.hidden = token.disabled = Boolean(sessionStorage.token);
	if (!dialog.open)
		dialog.showModal();
};

const send = async () => {
	const asked = node, wanted = action, view = verbs[wanted] || wanted === "start" ? actionsView : shutdownActions;
	const reply = await fetch("/api/action", {
		method: "POST",
		headers: { "Authorization": `Bearer ${sessionStorage.token}`, "Content-Type": "application/json" },
		body: JSON.stringify({ action: wanted, node: asked }),
	}).catch(() => null);
	const data = reply ? await reply.json().catch(() => ({})) : { error: "The exporter does not answer." };

	if (reply?.status === 401) {
		delete sessionStorage.token;
		ask("This is not the token.");
	} else {
		dialog.close();
		setText(view.lastChild, `${textOf(wanted)} ${nameOf(asked)}: ${reply?.ok ? "begun" : data.error || reply.status}`);
	}
};

for (const view of [actionsView, shutdownActions])
	view.addEventListener("click", ({ target }) => {
		if (!target.value)
			return;
		action = target.value;
		node = view === actionsView ? opened : stopping;
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

const show = () => {
	actionsView.hidden = opened === null || !model.features.actions;
	actionsView.querySelector("[value=shutdown]").hidden = opened !== "";
	shutdownActions.hidden = stopping === null || !model.features.actions;
	for (const button of shutdownActions.querySelectorAll("[value=hold], [value=release]"))
		button.hidden = stopping !== "";
};

on("tree", show);

/* Shows the actions of a node; null: none. */
export const actionsOpen = (path) => {
	opened = path;
	show();
	setText(actionsView.lastChild, "");
	dialog.close();
};

/* Shows those of the shutdown of a node; null: it is over. */
export const actionsStop = (path) => {
	stopping = path;
	show();
	setText(shutdownActions.lastChild, "");
};
