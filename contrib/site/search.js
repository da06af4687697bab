// Searches the manual in the page: entries of index.js are [page, anchor, title, words];
// common words are in most of them.
"use strict";
const box = document.getElementById("search"), list = document.getElementById("found");
box.closest("form").hidden = false;
const rank = ([, , title, words], wanted) => wanted.reduce((sum, word) => {
	const name = title.toLowerCase();
	const points = name.split(/[ =]/)[0] === word ? 100 : name.startsWith(word) ? 20 : name.includes(word) ? 10 : words.includes(" " + word) ? 1 :
		word.length < 4 || common.includes(word) ? 0 : -1e6; // such words are not in the index
	return sum + points;
}, 0);
const search = () => {
	const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
	const found = !wanted.length ? [] : entries.map((entry) => [rank(entry, wanted), entry]).filter(([points]) => points > 0)
		.sort(([a], [b]) => b - a).slice(0, 30);
	list.replaceChildren(...found.map(([, [page, anchor, title]]) => {
		const item = document.createElement("li"), link = document.createElement("a");
		link.href = page + ".html#" + anchor;
		link.textContent = title;
		item.append(link, " " + page.replace(/\.(\d)$/, "($1)"));
		return item;
	}));
	document.getElementById("nothing").hidden = !wanted.length || found.length > 0;
};
box.addEventListener("input", search);
box.focus();
search();
