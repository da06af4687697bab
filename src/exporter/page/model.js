/* The tree as the exporter shows it, kept up to date by the events of /events. */

export const model = {
	up: true,
	connected: false,
	nodes: new Map(),	/* by path, parents first */
	guards: [],
	held: new Map(),	/* guards at and below a path, but for main processes */
	events: [],		/* the last ones */
	stopping: null,		/* the last event "shutdown" */
	features: {},		/* of the exporter: logs, actions */
};
const EVENTS_MAX = 500, FLAPPING_MS = 15000, TAKEN_MS = 5, AGAIN_MS = 1000;
const listeners = {};
let last = { time_usec: 0, number: 0 };	/* the last event */
let queue = null;		/* events that arrive while earlier ones are fetched */
let skew = Infinity;		/* of the clock here, against the daemon's */

/* Calls fn(data) after the model has taken an event of this name. */
export const on = (name, fn) => (listeners[name] ||= []).push(fn);
const emit = (name, data) => listeners[name]?.forEach((fn) => fn(data));

export const now = () => Date.now() - (skew === Infinity ? 0 : skew);

/* Messages are late, never early: the fastest one is nearest to the truth. */
const adjustClock = (usec) => { skew = Math.min(skew, Date.now() - usec / 1000); };

/* A service that has restarted a moment ago: it may be up, and not be well. */
export const isFlapping = (node) =>
	node.service.restarts > 0 && node.service.state === "up" && now() - node.at < FLAPPING_MS &&
	node.restarted;

const take = (node) => {
	const before = model.nodes.get(node.path);

	node.at = now() - (node.service || node).since_usec / 1000;
	if (node.service?.scheduled_usec !== undefined)
		node.next = Math.round(now() / 1000 + node.service.scheduled_usec / 1e6) * 1000;
	node.restarted = Boolean(before?.restarted || node.service?.restarts > before?.service?.restarts);
	model.nodes.set(node.path, node);
};

/* The path and those above it, up to the root. */
const upwards = (path) => path.split("/").map((_, i, parts) => parts.slice(0, i).join("/")).concat(path ? [path] : []);

const takes = {
	tree(tree) {
		const before = model.nodes;

		adjustClock(tree.time_usec);
		model.up = tree.up;
		model.time_usec = tree.time_usec;
		model.features = tree.features || {};
		model.rollout = tree.rollout;
		model.nodes = new Map();
		for (const node of tree.nodes) {
			take(node);
			node.restarted = Boolean(before.get(node.path)?.restarted);
		}
	},
	node: take,
	event(event) {
		const node = model.nodes.get(event.node);

		adjustClock(event.time_usec);
		model.events.push(event);
		if (model.events.length > EVENTS_MAX)
			model.events.splice(0, EVENTS_MAX / 5);
		if (!node || !["node", "service"].includes(event.kind))
			return;
		if (event.kind === "node")
			node.state = event.to;
		else if (node.service)
			node.service.state = event.to;
		if (event.kind === "service" || !node.service)
			node.at = event.time_usec / 1000;
		if (event.to === "backoff")
			node.restarted = true;
	},
	guard(data) {
		model.guards = data.guards;
		model.held = new Map();
		for (const guard of model.guards) {
			guard.at = now() - guard.age_usec / 1000;
			if (guard.kind !== "process")
				for (const path of upwards(guard.node))
					model.held.set(path, (model.held.get(path) || 0) + (guard.count || 1));
		}
	},
	shutdown(data) {
		adjustClock(data.time_usec);
		model.stopping = data;
		data.at = now();
	},
	summary({ up, rollout }) { Object.assign(model, { up, rollout }); },
	connection(is) { model.connected = is; },
	log() {},
};

const isOld = (event) => event.time_usec < last.time_usec ||
	(event.time_usec === last.time_usec && event.number <= last.number);

const receive = (name, data) => {
	if (name === "event") {
		if (queue)
			queue.push(data);
		if (queue || isOld(data))
			return;
		last = data;
	}
	takes[name](data);
	emit(name, data);
};

/* The tree is newer than the events. */
export const isBehind = () => queue !== null;

/* A client that was too slow, or away, has missed events. */
export const catchUp = async () => {
	queue ||= [];
	const data = await fetchJson("/api/shutdown").catch(() => ({}));
	const events = (data.events || []).concat(queue || []);

	queue = null;
	events.forEach((event) => receive("event", event));
	emit("summary");
};

/* Takes the events from before the page was opened: they cause nothing. */
export const setPast = (events) => {
	const past = events.filter((event) => event.time_usec <= model.time_usec), end = past.at(-1);

	model.events = past;
	if (end && !isOld(end))
		last = end;
	events.forEach((event) => receive("event", event));
};

/*
 * A piece of the stream may have thousands of messages.  They are taken later, in their order, a few milliseconds at
 * a time, so that frames and keys come between.  An EventSource would make an event of each of them at once.
 */
const inbox = [], turns = new MessageChannel();
const takeTurn = () => turns.port2.postMessage(0);

turns.port1.onmessage = () => {
	const end = performance.now() + TAKEN_MS;

	if (inbox.length > 1)
		takeTurn();
	while (inbox.length && performance.now() < end) {
		const [name, data] = inbox.shift().split("\n");

		if (data)
			receive(name.slice(7), JSON.parse(data.slice(6)));
	}
};

const later = (...messages) => {
	if (inbox.push(...messages) === messages.length)
		takeTurn();
};
const setConnected = (is) => later(`event: connection\ndata: ${is}`);

let source = null, followed = null;

const read = async (url, { signal }) => {
	const { body } = await get(url, { signal }), reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";

	setConnected(true);
	for (;;) {
		const { done, value } = await reader.read();

		if (done)
			return;
		const messages = (rest + value).split("\n\n");

		rest = messages.pop();
		later(...messages);
	}
};

/* Begins the stream of events, in place of the one before. */
export const connect = async () => {
	const own = new AbortController();

	source?.abort();
	source = own;
	await read(followed === null ? "/events" : `/events?log=${encodeURIComponent(followed)}`, own).catch(() => {});
	if (own !== source)
		return;
	setConnected(false);
	setTimeout(() => own === source && connect(), AGAIN_MS);
};

/* The stream has the output of this node; null: of none.  Return: whether another stream begins. */
export const follow = (path) => {
	const begins = path !== followed;

	followed = path;
	if (begins)
		connect();
	return begins;
};

const get = async (path, options) => {
	const reply = await fetch(path, options);

	if (!reply.ok)
		throw new Error(`${path}: ${reply.status}`);
	return reply;
};

export const fetchJson = async (path) => (await get(path)).json();
