/* Words for the page.  Times are milliseconds of the daemon's clock, see now() in model.js. */

/* State of a service: its shape (a symbol of index.html), and a verb for a sentence. */
const states = {
	preparing: ["starting", "is prepared"],
	starting: ["starting", "is starting"],
	readying: ["starting", "is starting, and not ready yet"],
	listening: ["listening", "waits for a connection"],
	up: ["up", "is up"],
	draining: ["stopping", "drains"],
	waiting: ["stopping", "waits for its dependents to end"],
	asking: ["stopping", "is asked to stop"],
	stopping: ["stopping", "is stopping"],
	killing: ["stopping", "is killed"],
	closing: ["stopping", "runs its post-stop"],
	cleaning: ["stopping", "is cleaned up after a failed start"],
	finishing: ["stopping", "runs its post-stop"],
	backoff: ["again", "is about to start again"],
	down: ["down", "is down"],
	done: ["done", "has done its work"],
	failed: ["failed", "has failed"],
};
/* Likewise of a node, for groups. */
const nodeStates = {
	running: ["up", "is running"],
	shutting_down: ["stopping", "is shutting down"],
	complete: ["done", "is complete"],
};

export const isWithin = (path, top) => top === "" || path === top || path.startsWith(top + "/");
export const nameOf = (path) => path || "root";
export const stateOf = (node) => node.service ? node.service.state : node.state;
export const wordOf = (node) => stateOf(node).replace("_", " ");
const entryOf = (node) => (node.service ? states : nodeStates)[stateOf(node)] || ["down", "is " + stateOf(node)];

export const shapeOf = (node) => {
	if (node.service?.health === "unhealthy")
		return "failed";
	if (!node.service && node.state === "running" && !node.ready)
		return "starting";
	return entryOf(node)[0];
};

export const isTrouble = (node) => Boolean(node.service) &&
	(["failed", "backoff"].includes(node.service.state) || node.service.health === "unhealthy");

/* Why a restart is due: "outdated: its program or a library was replaced"; or nothing. */
export const outdatedOf = ({ service: s }) => s?.program === "replaced" ? "outdated: its program or a library was replaced"
	: s?.outdated ? "outdated: its settings have changed" : "";

export const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

/* "4 s", "3 min", "2 h": an age in one unit. */
export const age = (ms) => {
	const s = Math.max(0, ms) / 1000;

	if (s < 60)
		return `${Math.floor(s)} s`;
	if (s < 3600)
		return `${Math.floor(s / 60)} min`;
	return s < 48 * 3600 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
};

/* "0.42 s", "4.2 s", "2 min 10 s": a duration that is watched. */
export const duration = (ms) => {
	const s = Math.max(0, ms) / 1000;

	if (s < 1)
		return `${s.toFixed(2)} s`;
	if (s < 60)
		return `${s.toFixed(s < 10 ? 1 : 0)} s`;
	return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
};

/* The time left, in whole seconds. */
export const countdownOf = (ms) => {
	const s = Math.ceil(ms / 1000);

	return s < 60 ? `${s} s` : duration(s * 1000);
};

export const clock = (ms) => new Date(ms).toLocaleString();
/* The first use takes 15 ms in the browser: it gets a task of its own. */
setTimeout(clock, 0, 0);

/* "pg_dump “nightly”", "3 guards of worker.py:12". */
export const holderOf = (guard) => {
	const command = (guard.command || guard.kind).split(" ")[0].replace(/.*\//, "");
	const why = guard.why ? ` “${guard.why}”` : "";
	const pid = guard.pid && !why ? ` (${guard.pid})` : "";

	return guard.count > 1 ? `${guard.count} guards of ${command}${pid}${why}` : `${command}${pid}${why}`;
};

/* One sentence about the node, without times. */
export const sentenceOf = (node) => {
	const s = node.service;

	if (!s)
		return `${nameOf(node.path)} ${entryOf(node)[1]}` +
			`${node.state !== "running" ? "" : node.ready ? "; all of it is ready" : "; not all of it is ready"}.`;
	const extra = [
		s.state === "up" && !s.ready && "not ready yet",
		s.health,
		s.status && `“${s.status}”`,
		s.state !== "up" && s.result,
		outdatedOf(node),
		s.turn && `waits for its turn in ${nameOf(s.turn)}`,
		s.pressure && "waits for memory",
		s.waiting?.length && "waits for " + s.waiting.join(", "),
		...(s.aside || []).map((run) => run.replace(/, for .*/, "")),
	].filter(Boolean);

	return `${node.path} ${entryOf(node)[1]}${extra.map((text) => "; " + text).join("")}.`;
};

/* The sentence on top: trouble first. */
export const summaryOf = (nodes, up, flapping) => {
	const services = nodes.filter((node) => node.service);
	const trouble = services.filter((node) => isTrouble(node) || flapping(node));
	const running = services.filter((node) => ["up", "done", "listening"].includes(node.service.state)).length;
	const named = trouble.slice(0, 3).map((node) => {
		const s = node.service, why = s.result?.length < 60 ? ` (${s.result})` : "";

		if (s.state === "failed")
			return `${node.path} failed${why}`;
		if (s.health === "unhealthy")
			return `${node.path} is unhealthy`;
		return `${node.path} restarts again and again${why}`;
	});

	if (!up)
		return "The daemon does not answer. This is its last state.";
	if (trouble.length)
		return `${trouble.length} of ${count(services.length, "service")} ` +
			`${trouble.length === 1 ? "needs" : "need"} attention: ` +
			named.join(", ") + (trouble.length > 3 ? " and others." : ".");
	if (running === services.length)
		return `All is well: ${count(services.length, "service")} up.`;
	return `${running} of ${count(services.length, "service")} up.`;
};
