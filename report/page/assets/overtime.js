// What happened when: latency, procs, run queues, heap and causes on one clock.
(function (S) {
	"use strict";

	// clock returns the edges of n bins from start on.
	const clock = (start, width, n) => Array.from({ length: n + 1 }, (_, i) => start + i * width);

	// whole is the range of all charts of the clock.
	let whole = [0, 1];

	// timeScale shows nothing outside of the whole, though the last bins may reach beyond.
	const timeScale = S.timeScale = () => ({ time: false, range: (u, lo, hi) => lo === null ? whole : [Math.max(lo, whole[0]), Math.min(hi, whole[1])] });

	S.wholeTime = () => whole;

	const binOf = (u, start, width, n) => {
		const i = Math.floor((u.posToVal(u.cursor.left, "x") - start) / width);
		return i >= 0 && i < n ? i : -1;
	};

	const range = (start, width, i) => S.instant(Math.round(start + i * width)) + " to " + S.instant(Math.round(start + (i + 1) * width));

	// binned is a chart of bins in time, on each other if stacked: of list, each
	// {label, colour, values, fill}. Axis and format write values.
	function binned(start, width, n, list, stacked, axis, format) {
		let drawn = list.map(l => l.values), shown = list; // null: not known yet
		if (stacked) { // the greatest sum comes first, so that the smaller ones are painted over it
			const sums = new Array(n).fill(0);
			drawn = drawn.map(values => sums.map((_, i) => sums[i] += values[i] || 0)).reverse();
			shown = list.toReversed();
		}
		const top = Math.max(...drawn.flat(), 0);
		const at = say => u => { const i = binOf(u, start, width, n); return i < 0 ? "" : say(i); };
		return {
			clock: true,
			// The last value comes once more, as the line goes on to the last edge.
			data: [clock(start, width, n), ...drawn.map(values => values.concat(values.slice(-1)))],
			options: () => ({
				scales: { x: timeScale(), y: { range: [0, top > 0 ? top * 1.05 : 1] } },
				axes: [S.timeAxis(), S.numberAxis(axis)],
				series: [{}, ...shown.map(l => Object.assign({ label: l.label, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } },
					l.fill === false ? { stroke: S.colour(l.colour), width: 1.5 } : { fill: S.colour(l.colour), width: 0 }))],
			}),
			legend: list.map(l => ({ label: l.label, colour: l.colour, value: at(i => l.values[i] === null ? "" : format(l.values[i] || 0)) })),
			describe: at(i => range(start, width, i)),
		};
	}

	function procs(v) {
		const s = v.series, n = s.covered_ns.length;
		const layers = S.words.uses.map(use => ({
			label: use.label, colour: "u-" + use.id,
			values: s.covered_ns.map((c, i) => c > 0 ? (s.uses_ns[use.id][i] || 0) / c : 0),
		})).filter(l => l.values.some(x => x > 0));
		return layers.length && binned(s.start_ns, s.width_ns, n, layers, true, String, x => S.mean(x, 2));
	}

	function causes(v) {
		const s = v.causes.series, n = Math.max(0, ...s.causes.map(c => c.bins_ns.length));
		const layers = S.words.groups.map(g => {
			const mine = s.causes.filter(c => S.words.group_of[c.cause] === g.id);
			return { label: g.label, colour: "c-" + g.id, values: Array.from({ length: n }, (_, i) => mine.reduce((sum, c) => sum + (c.bins_ns[i] || 0), 0) / s.width_ns) };
		}).filter(l => l.values.some(x => x > 0));
		return layers.length && binned(s.start_ns, s.width_ns, n, layers, true, String, x => S.mean(x, 2));
	}

	function runnable(v) {
		const s = v.series;
		const list = [
			{ label: "at most", colour: "peak", values: s.max_runnable },
			{ label: "mean", colour: "c-goroutine", values: s.covered_ns.map((c, i) => c > 0 ? s.runnable_ns[i] / c : 0) },
		];
		return binned(s.start_ns, s.width_ns, s.covered_ns.length, list, false, S.count, x => Number.isInteger(x) ? S.count(x) : S.mean(x, 2));
	}

	// lasting fills the bins without a sample, which are 0, with the one before.
	const lasting = samples => {
		let last = null;
		return samples.map(x => last = x || last);
	};

	function heap(v) {
		const s = v.series;
		if (!s.heap_bytes.some(x => x > 0)) return null;
		const list = [
			{ label: "live objects", colour: "heap", values: lasting(s.heap_bytes) },
			{ label: "goal", colour: "goal", fill: false, values: lasting(s.heap_goal_bytes) },
		];
		return binned(s.start_ns, s.width_ns, s.covered_ns.length, list, false, S.bytes, S.bytes);
	}

	// heat counts waits in cells of time and length.
	function heat(v) {
		const h = v.heat, columns = Math.max(0, ...h.cells.map(c => c[0])) + 1;
		if (!h.cells.length) return null;
		const rows = h.cells.map(c => c[1]), bound = i => h.bounds_ns[i] ?? h.bounds_ns.at(-1) * 1.2;
		const lo = 10 ** Math.floor(Math.log10(Math.max(bound(Math.min(...rows)), 1))), hi = 10 ** Math.ceil(Math.log10(bound(Math.max(...rows) + 1)));
		const most = Math.max(...h.cells.map(c => c[2]));
		const at = new Map(h.cells.map(c => [c[0] + "," + c[1], c[2]]));
		const paint = u => {
			const shades = new Map();
			u.ctx.save();
			u.ctx.beginPath();
			u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
			u.ctx.clip();
			for (const [column, row, n] of h.cells) {
				const x0 = u.valToPos(h.start_ns + column * h.width_ns, "x", true), x1 = u.valToPos(h.start_ns + (column + 1) * h.width_ns, "x", true);
				const y0 = u.valToPos(Math.max(bound(row), lo), "y", true), y1 = u.valToPos(bound(row + 1), "y", true);
				if (!shades.has(n)) shades.set(n, S.shade(n, most));
				u.ctx.fillStyle = shades.get(n);
				u.ctx.fillRect(Math.floor(x0), Math.floor(y1), Math.max(Math.ceil(x1) - Math.floor(x0), 1), Math.max(Math.ceil(y0) - Math.floor(y1), 1));
			}
			u.ctx.restore();
		};
		const xs = clock(h.start_ns, h.width_ns, columns);
		return {
			clock: true, data: [xs, xs.map(() => null)],
			options: () => ({
				scales: { x: timeScale(), y: S.logScale(lo, hi) },
				axes: [S.timeAxis(), S.logAxis(S.round)],
				series: [{}, { scale: "y", points: { show: false } }],
				cursor: { y: true },
				hooks: { draw: [paint] },
			}),
			hint: "The stronger the colour, the more waits in a cell: at most " + S.count(most) + ".",
			describe: u => {
				const column = binOf(u, h.start_ns, h.width_ns, columns), length = u.posToVal(u.cursor.top, "y");
				let row = h.bounds_ns.findLastIndex(b => b <= length);
				if (row < 0) row = 0;
				if (column < 0) return "";
				const n = at.get(column + "," + row) || 0;
				return range(h.start_ns, h.width_ns, column) + ", " + S.duration(bound(row)) + " to " + S.duration(Math.round(bound(row + 1))) + " long: " + S.plural(n, "wait");
			},
		};
	}

	S.overTime = v => {
		const s = v.series;
		const start = s.covered_ns.length ? s.start_ns : v.heat.start_ns;
		const longest = Math.max(0, ...v.traces.map(t => t.start_ns + t.span_ns));
		whole = [start, Math.max(longest, start + 1)];
		S.chart("causes-chart", causes(v));
		S.chart("heat-chart", heat(v));
		S.chart("procs-chart", procs(v));
		S.chart("runnable-chart", s.covered_ns.length ? runnable(v) : null);
		const lead = document.querySelector("#over-time .lead");
		if (lead) lead.append(" Drag to zoom in on a time, double-click to see all of it again.");
		S.chart("heap-chart", heap(v));
	};
})(window.Schedscope);
