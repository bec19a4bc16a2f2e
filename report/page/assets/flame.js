// The flame graph of what others waited for: frames, the outermost at the top, as wide as
// goroutines waited while they ran, or until they let them go on.
(function (S) {
	"use strict";

	const row = 19, least = 2; // pixels
	const bases = ["sampled", "seen", "estimated", "unknown"];

	// grow makes a tree of rows of blame: kinds, then their frames.
	function grow(rows) {
		const root = { name: "all", total: 0, parts: new Map(), basis: [0, 0, 0, 0], up: null };
		const put = (r, frames, ns, basis) => {
			const path = [{ name: r.kind }].concat(frames);
			for (let i = 0, n = root; ; n = child(n, path[i++])) {
				n.total += ns;
				n.basis[basis] += ns;
				if (i === path.length) break;
				if (n.up === root) n.kind = r.kind;
			}
		};
		const child = (n, x) => {
			if (!n.parts.has(x.name)) n.parts.set(x.name, { ...x, kind: n.kind || x.name, total: 0, parts: new Map(), basis: [0, 0, 0, 0], up: n });
			return n.parts.get(x.name);
		};
		for (const r of rows.filter(r => r.total_ns > 0)) {
			const frame = f => ({ name: f.function, where: f.file ? f.file.slice(f.file.lastIndexOf("/") + 1) + (f.line ? ":" + f.line : "") : "" });
			const left = bases.map(b => r[b + "_ns"]);
			for (const s of r.stacks) {
				// What the runtime did inside and outside says little, and only samples have its goexit.
				const own = s.stack.findIndex(f => !f.function.startsWith("runtime."));
				put(r, s.stack.slice(Math.max(own, 0)).filter(f => f.function !== "runtime.goexit").reverse().map(frame), s.total_ns, bases.indexOf(s.basis));
				left[bases.indexOf(s.basis)] -= s.total_ns;
			}
			left.forEach((ns, basis) => ns > 0 && put(r, [frame(r)], ns, basis));
		}
		return root;
	}

	S.flame = report => {
		const place = document.getElementById("flame");
		if (!place) return;
		const blame = report.blame, blocked = new Map(blame.kinds.map(k => [k.kind, k.blocked]));
		const graph = S.element("div", "flame"), said = S.element("p", "readout"), bar = S.element("div", "tl-bar");
		said.role = "status";
		graph.role = "group";
		let root = null, focus = null;

		const colour = kind => blocked.get(kind) ? "l-" + blame.kinds.findIndex(k => k.kind === kind) % 10 : "c-" + (S.words.group_of[kind] || "unresolved");
		const share = n => S.percent(n.total / root.total);
		const text = n => (n.up ? n.name + (n.where ? " " + n.where : "") + (n.up.up ? ", " + n.kind : "") : "all") + ": " + S.duration(n.total) + ", " + share(n) + " of the waiting here (" +
			bases.map((b, i) => n.basis[i] / n.total >= 0.005 ? S.percent(n.basis[i] / n.total) + " " + b : "").filter(Boolean).join(", ") + ")";

		// box draws a frame; x and width are parts of the whole.
		function box(n, x, width, depth) {
			const pixels = width * graph.clientWidth, b = S.button("", S.clip(S.shortName(n.name), pixels - 8), () => zoom(n === focus ? root : n));
			b.style.left = 100 * x + "%";
			b.style.width = "calc(" + 100 * width + "% - 1px)";
			b.style.top = depth * row + "px";
			if (n.up) b.style.background = "color-mix(in srgb, var(--" + colour(n.kind) + ") 30%, var(--bg))";
			b.title = b.ariaLabel = text(n);
			b.tabIndex = pixels > 30 ? 0 : -1;
			b.classList.toggle("above", depth < level(focus));
			for (const event of ["mouseenter", "focus"]) b.addEventListener(event, () => said.textContent = text(n));
			graph.append(b);
		}

		const level = n => n.up ? 1 + level(n.up) : 0;

		function draw() {
			let deepest = 0;
			const lay = (n, x, width, depth) => {
				if (width * graph.clientWidth < least) return;
				deepest = Math.max(deepest, depth);
				box(n, x, width, depth);
				for (const c of [...n.parts.values()].sort((a, b) => b.total - a.total)) {
					lay(c, x, width * c.total / n.total, depth + 1);
					x += width * c.total / n.total;
				}
			};
			graph.replaceChildren();
			for (let n = focus.up; n; n = n.up) box(n, 0, 1, level(n));
			lay(focus, 0, 1, level(focus));
			graph.style.height = (deepest + 1) * row + "px";
		}

		function zoom(n) {
			focus = n;
			draw();
			said.textContent = text(n);
		}

		// show draws the waits of a class.
		function show(which) {
			const rows = classes.get(which);
			root = focus = grow(rows);
			for (const [b, of] of choices) b.ariaPressed = String(of === which);
			draw();
			const top = rows.filter(r => r.function !== "(other names)").sort((a, b) => b.total_ns - a.total_ns)[0];
			said.textContent = top ? "Most: " + S.shortName(top.function) + (top.line ? " " + top.file.slice(top.file.lastIndexOf("/") + 1) + ":" + top.line : "") + ", " + top.kind + ", " + S.duration(top.total_ns) + ", " + S.percent(top.total_ns / root.total) : "Nothing.";
		}

		// Waits of created goroutines are in the other kinds, too. Those in the last class are
		// usually for work.
		const titles = { Runnable: "what ran meanwhile", "Held up": "who unlocked, or received", Otherwise: "who ended what is usually a wait for work" };
		const classes = new Map(), sum = rows => rows.reduce((ns, r) => ns + r.total_ns, 0);
		for (const r of blame.rows.filter(r => r.kind !== "created")) {
			const which = !blocked.get(r.kind) ? "Runnable" : /Mutex\)|^chan send$/.test(r.kind) ? "Held up" : "Otherwise";
			classes.set(which, (classes.get(which) || []).concat(r));
		}
		const choices = Object.keys(titles).filter(name => classes.has(name)).map(name => [S.button("", name, () => show(name), name + ": " + titles[name]), name]);
		if (!choices.length) return;
		bar.append(...choices.map(([b]) => b), said);
		graph.addEventListener("keydown", ev => ev.key === "Escape" && zoom(root));
		place.replaceChildren(bar, graph);
		// What more time was lost to comes first.
		const lost = choices.map(([, name]) => name).filter(name => name !== "Otherwise");
		show(lost.sort((a, b) => sum(classes.get(b)) - sum(classes.get(a)))[0] || choices[0][1]);
		let width = graph.clientWidth;
		new ResizeObserver(() => {
			if (graph.clientWidth !== width) draw();
			width = graph.clientWidth;
		}).observe(graph);
	};
})(window.Schedscope);
