"use strict";
/* The table of the server is kept up to date by the events of /events. */
(() => {
	const rows = new Map();
	const summary = document.getElementById("summary");

	for (const row of document.querySelectorAll("tr[data-path]"))
		rows.set(row.dataset.path, row);

	const show = (path, state, guards) => {
		const row = rows.get(path);

		if (!row)
			return;
		row.cells[1].textContent = state;
		if (guards !== undefined)
			row.cells[2].textContent = guards;
	};
	const showNode = (node) => show(node.path, node.service ? node.service.state : node.state, node.guards);
	const source = new EventSource("/events");
	const listen = (name, fn) => source.addEventListener(name, (e) => fn(JSON.parse(e.data)));

	listen("tree", (tree) => {
		if (tree.nodes.length !== rows.size || tree.nodes.some((node) => !rows.has(node.path)))
			location.reload();
		else
			tree.nodes.forEach(showNode);
	});
	listen("node", showNode);
	listen("event", (event) => show(event.node, event.to));
	listen("summary", (data) => { summary.textContent = data.text; });
})();
