// Tables: sorting by a column, and for long ones a button for the rest.
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
			th.ariaSort = k !== i ? null : descending ? "descending" : "ascending";
		});
	}

	function sortable(table) {
		Array.from(table.tHead.rows[0].cells).forEach((th, i) => {
			if (!th.textContent) return;
			th.replaceChildren(S.button("", th.textContent, () => {
				const numbers = th.dataset.k !== undefined && th.dataset.k !== "at";
				sort(table, i, th.ariaSort ? th.ariaSort === "ascending" : numbers);
			}));
		});
	}

	// expandable shows the first rows only until somebody asks for all.
	function expandable(table) {
		const button = S.button("more", "", () => cut(!table.classList.contains("cut")));
		const cut = on => {
			table.classList.toggle("cut", on);
			button.textContent = on ? "Show all " + S.count(table.tBodies[0].rows.length) : "Show the first " + shown;
			button.ariaExpanded = String(!on);
		};
		table.parentElement.after(button);
		cut(true);
	}

	S.enhanceTables = () => {
		for (const table of document.querySelectorAll("main table")) {
			const n = table.tBodies[0].rows.length;
			if (n > 1) sortable(table);
			if (n > few && !table.closest("details.fold")) expandable(table);
			table.parentElement.tabIndex = 0; // scrolls by keys where it is too wide
			table.parentElement.role = "region";
			table.parentElement.ariaLabel = table.caption.textContent;
		}
	};
})(window.Schedscope);
