// Requests: a scatter of when they began and how long they took, and the path of the one that is
// chosen.
(function (S) {
	"use strict";

	const row = 9, fixed = 7; // numbers of a part, and before the first
	const palette = [2, 7, 8, 6, 4, 1, 3, 0, 5, 9]; // of groups, last those of states; the rest share the last
	S.drawn = []; // the requests, in the order of their starts
	let words = null, charted = null, timeline = () => null;

	// unpack returns a request as an object. Its path stays packed until somebody wants it.
	const unpack = r => ({ trace: r[0], set: r[1], name: words.strings[r[2]], g: r[3], start: r[4], ns: r[5], labels: words.strings[r[6]], packed: r });

	// S.partsOf lists the parts of a request's path; at counts from its beginning.
	S.partsOf = q => {
		const list = [], text = i => words.strings[i], r = q.packed;
		for (let i = fixed, at = 0; i < r.length; i += row) {
			list.push({ at, ns: r[i], kind: text(r[i + 1]), g: r[i + 2], depth: r[i + 3], fn: text(r[i + 4]), place: text(r[i + 5]), wait: text(r[i + 6]), waiter: text(r[i + 7]), inferred: r[i + 8] > 0 });
			at += r[i];
		}
		return list;
	};

	// S.goroutinesOf lists the goroutines of a path in the order in which it comes to them, the
	// request's own first.
	S.goroutinesOf = parts => [...new Set(parts.filter(p => p.depth === 0).slice(0, 1).concat(parts).map(p => p.g))].filter(g => g >= 0);

	S.requestLabel = q => words.sets[q.set] + ", " + S.duration(q.ns) + " at " + S.instant(q.start) + ", G" + q.g + (q.labels ? ", " + q.labels : "");
	const groupColour = set => "l-" + palette[Math.min(set, 9)];
	S.requestColour = q => groupColour(q.set);

	const colour = kind => "var(--" + ({ "s-unknown": "state-stopped" }[words.colours[kind]] || words.colours[kind] || "s-waiting").replace(/^s-/, "state-") + ")";
	const doing = p => p.kind + (p.fn ? (p.kind === "runnable" ? " behind " : " ") + S.shortName(p.fn) : "");
	const details = p => S.duration(p.ns) + (p.g < 0 ? " others " : " G" + p.g + " ") + doing(p) + (p.place ? " " + p.place : "") + (p.inferred ? " (inferred)" : "") + (p.depth > 0 && p.wait ? ", in the wait for: " + p.wait + (p.waiter ? " in " + S.shortName(p.waiter) : "") : "");

	// S.drawPath draws the path of a request: a bar of its parts, what each goroutine did of that,
	// and the parts that take 2 % of the time in words.
	S.drawPath = q => {
		const parts = S.partsOf(q), box = S.element("div", "path");
		const lane = (name, list, held) => {
			const bars = S.element("div", "path-bars");
			for (const p of list) {
				const pale = held.includes(p), text = pale ? "waits: " + p.wait + (p.waiter ? " " + S.shortName(p.waiter) : "") : doing(p);
				const b = S.button(pale ? "held" : "", text, () => timeline() && (location.hash = "#t=" + SchedscopeTimeline.exact(q.start + p.at) + "," + SchedscopeTimeline.exact(Math.max(p.ns, 1)) + "" + (p.g < 0 ? "" : "&g=" + p.g)), (pale ? text + ", " : "") + details(p));
				b.style.left = 100 * p.at / Math.max(q.ns, 1) + "%";
				b.style.width = 100 * p.ns / Math.max(q.ns, 1) + "%";
				b.style.background = pale ? "var(--state-waiting)" : "color-mix(in srgb, " + colour(p.kind) + " 45%, var(--bg))";
				b.tabIndex = p.ns * 50 >= q.ns ? 0 : -1;
				bars.append(b);
			}
			box.append(S.element("div", "path-lane", null, S.element("span", "", name), bars));
		};
		lane("the path", parts, []);
		const all = S.goroutinesOf(parts);
		for (const g of all.slice(0, 12)) {
			const mine = parts.filter(p => p.g === g), held = g === q.g || g === all[0] ? parts.filter(p => p.g !== g && p.wait) : [];
			const most = mine.filter(p => p.fn && p.kind !== "runnable").sort((a, b) => b.ns - a.ns)[0];
			lane("G" + g + (most ? " " + S.shortName(most.fn) : ""), mine.concat(held), held);
		}
		const rest = parts.filter(p => p.g < 0 || all.indexOf(p.g) >= 12); // several goroutines have no number
		if (rest.length > 0) lane("other goroutines", rest, []);
		box.append(S.element("ol", "", null, ...parts.filter(p => p.ns * 50 >= q.ns).map(p => S.element("li", "", "+" + S.duration(p.at) + ": " + details(p)))));
		return box;
	};

	// S.requestAt returns the request that a place on the timeline is about: of that goroutine, and
	// most of that time; null if there is none.
	S.requestAt = at => {
		const slack = 0.02 * (at.to - at.from);
		return S.drawn.filter(q => q.trace === 0 && q.g === at.g && q.start >= at.from - slack && q.start + q.ns <= at.to + slack && q.ns >= 0.8 * (at.to - at.from)).sort((a, b) => b.ns - a.ns)[0] || null;
	};

	// S.choose draws a request, marks it, and moves the timeline to its path.
	S.choose = q => {
		show(q);
		if (timeline()) timeline().choose(q);
	};

	function show(q) {
		S.chosen = q;
		document.getElementById("chosen").replaceChildren(S.element("h3", "", S.requestLabel(q)), S.drawPath(q));
		if (charted && charted.u) charted.u.redraw(false);
	}

	function scatter() {
		const xs = S.drawn.map(q => q.start), lengths = S.drawn.map(q => Math.max(q.ns, 1));
		const lo = 10 ** Math.floor(Math.log10(Math.min(...lengths))), hi = 10 ** Math.ceil(Math.log10(Math.max(...lengths)) + 0.01);
		// nearest returns the request at the cursor.
		const nearest = u => {
			let best = null, least = 30;
			S.drawn.forEach((q, i) => {
				const d = Math.hypot(u.valToPos(q.start, "x") - u.cursor.left, u.valToPos(lengths[i], "y") - u.cursor.top);
				if (d < least && u.series[q.set + 1].show) [best, least] = [q, d];
			});
			return best;
		};
		const ring = u => {
			const q = S.chosen, ratio = devicePixelRatio;
			if (!q) return;
			u.ctx.strokeStyle = S.colour("fg");
			u.ctx.lineWidth = 2 * ratio;
			u.ctx.beginPath();
			u.ctx.arc(u.valToPos(q.start, "x", true), u.valToPos(Math.max(q.ns, 1), "y", true), 6 * ratio, 0, 2 * Math.PI);
			u.ctx.stroke();
		};
		const act = u => { const q = nearest(u); if (q) S.choose(q); };
		return {
			clock: true, act,
			data: [xs, ...words.sets.map((_, set) => S.drawn.map((q, i) => q.set === set ? lengths[i] : null))],
			options: () => ({
				scales: { x: S.timeScale(), y: S.logScale(lo, hi) },
				axes: [S.timeAxis(), S.logAxis(S.round)],
				series: [{}, ...words.sets.map((label, i) => ({ label, paths: () => null, points: { show: true, size: 5, width: 0, fill: S.colour(groupColour(i)) } }))],
				cursor: { y: true },
				hooks: { draw: [ring], ready: [u => u.over.addEventListener("click", () => act(u))] },
			}),
			legend: words.sets.map((label, i) => ({ label, colour: groupColour(i), toggles: i + 1 })),
			hint: "Shown: " + S.drawnOf + ". Click a request, or press Enter, to see its path here" + (timeline() ? " and on the timeline." : "."),
			describe: u => { const q = nearest(u); return q ? S.requestLabel(q) : ""; },
		};
	}

	S.requests = (data, of) => {
		if (!data) return;
		timeline = of;
		words = data;
		S.drawn = data.requests.map(unpack);
		const count = S.report.requests.reduce((n, k) => n + k.count, 0);
		S.requestCount = count;
		S.drawnOf = S.count(S.drawn.length) + (count > S.drawn.length ? " of " + S.count(count) : "");
		S.chart("requests-chart", scatter());
		charted = S.charts.find(c => c.id === "requests-chart");
		show(S.drawn.reduce((a, b) => b.ns > a.ns ? b : a));
		// A card draws its request when it is opened.
		for (const card of document.querySelectorAll("#requests details.wait")) {
			card.addEventListener("toggle", () => {
				const [start, ns, g] = (card.dataset.moment || "").split(" ").map(Number);
				const q = S.drawn.find(q => q.start === start && q.ns === ns && q.g === g);
				if (q && card.open && !card.querySelector(".path")) card.append(S.drawPath(q));
			});
		}
	};
})(window.Schedscope);
