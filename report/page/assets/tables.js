// Tables: sorting by a column, and for long ones a filter and a button for the rest.
(function (S) {
	"use strict";

	const shown = 12; // rows of a table at first, as in the style sheet
	const few = 20;   // that many are shown without asking

	function value(row, i) {
		const cell = row.cells[i];
		if (!cell) return null;
		if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
		const parts = cell.querySelector("rect");
		if (parts && !cell.textContent.trim()) return Number(parts.getAttribute("width"));
		return cell.textContent.trim() || null;
	}

	function compare(a, b) {
		if (typeof a === "number" && typeof b === "number") return a - b;
		if (typeof a === typeof b) return String(a).localeCompare(String(b), "en", { numeric: true });
		return typeof a === "number" ? -1 : 1;
	}

	// sort orders the rows by column i; what has no value comes last either way.
	function sort(table, i, descending) {
		const body = table.tBodies[0];
		const rows = Array.from(body.rows, (row, n) => ({ row, n, v: value(row, i) }));
		rows.sort((a, b) => {
			if (a.v === null || b.v === null) return (a.v === null) - (b.v === null) || a.n - b.n;
			return (descending ? -1 : 1) * compare(a.v, b.v) || a.n - b.n;
		});
		body.append(...rows.map(x => x.row));
		Array.from(table.tHead.rows[0].cells).forEach((th, k) => {
			if (k === i) th.setAttribute("aria-sort", descending ? "descending" : "ascending");
			else th.removeAttribute("aria-sort");
		});
	}

	function sortable(table) {
		Array.from(table.tHead.rows[0].cells).forEach((th, i) => {
			if (!th.textContent) return;
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = th.textContent;
			th.replaceChildren(button);
			button.addEventListener("click", () => {
				const numbers = th.dataset.k !== undefined && th.dataset.k !== "at";
				const now = th.getAttribute("aria-sort");
				sort(table, i, now ? now === "ascending" : numbers);
			});
		});
	}

	function filterable(table, more) {
		const label = document.createElement("label");
		label.className = "filter";
		const input = document.createElement("input");
		input.type = "search";
		const said = document.createElement("span");
		said.setAttribute("role", "status");
		label.append("Filter ", input, " ", said);
		input.setAttribute("aria-label", "Filter: " + table.caption.textContent);
		table.parentElement.before(label);
		input.addEventListener("input", () => {
			const word = input.value.trim().toLowerCase();
			let n = 0;
			for (const row of table.tBodies[0].rows) {
				const titles = Array.from(row.querySelectorAll("[title]"), x => x.title).join(" ");
				const fits = (row.textContent + " " + (row.cells[0].title || "") + " " + titles).toLowerCase().includes(word);
				row.classList.toggle("out", !fits);
				if (fits) n++;
			}
			said.textContent = word ? S.count(n) + " of " + S.count(table.tBodies[0].rows.length) : "";
			more.cut(!word);
		});
	}

	// expandable shows the first rows only until somebody asks for all.
	function expandable(table) {
		const button = document.createElement("button");
		button.type = "button";
		button.className = "more";
		const n = table.tBodies[0].rows.length;
		let all = false;
		const cut = on => {
			table.classList.toggle("cut", on && !all);
			button.textContent = all ? "Show the first " + shown : "Show all " + S.count(n);
			button.hidden = !on;
			button.setAttribute("aria-expanded", String(all));
		};
		button.addEventListener("click", () => { all = !all; cut(true); });
		table.parentElement.after(button);
		cut(true);
		return { cut };
	}

	S.enhanceTables = () => {
		for (const table of document.querySelectorAll("main table")) {
			const n = table.tBodies[0].rows.length;
			if (n > 1) sortable(table);
			const folded = table.closest("details");
			if (n > few && !folded) filterable(table, expandable(table));
			table.parentElement.tabIndex = 0; // scrolls by keys where it is too wide
			table.parentElement.setAttribute("role", "region");
			table.parentElement.setAttribute("aria-label", table.caption.textContent);
		}
	};
})(window.Schedscope);
