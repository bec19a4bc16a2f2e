// Latency by percentile.
(function (S) {
	"use strict";

	// An axis on which each step leaves a tenth: 0 is the least, 1 is p90, 2 is p99.
	const nines = q => -Math.log10(Math.max(1 - q, 1e-9));
	const marks = [[0, "min"], [nines(0.5), "p50"], [1, "p90"], [2, "p99"], [3, "p99.9"], [4, "p99.99"], [5, "p99.999"], [6, "p99.9999"]];
	const percentile = x => {
		const q = 100 * (1 - 10 ** -x);
		return "p" + String(Number(q.toFixed(Math.max(1, Math.ceil(x)))));
	};

	// The colours of origins are those of the program's pictures.
	const origins = { all: "l-0", created: "l-1", goroutine: "l-2", timer: "l-3", netpoll: "l-4", syscall: "u-gc_assist", preempted: "l-5", gosched: "l-6", goyield: "l-7", stw: "u-stopped", gc: "l-8", injected: "l-9", coroutine: "c-waking", external: "c-os", unknown: "l-9" };

	function curves(v) {
		return v.latency.spectra.filter(s => s.points.length)
			.map((s, i) => ({ spectrum: s, label: S.words.curves[i], colour: origins[s.name] || "l-" + i % 10, bold: i === 0 }));
	}

	function spectrum(v) {
		const list = curves(v), all = v.latency.all;
		if (!list.length) return null;
		const data = uPlot.join(list.map(c => [c.spectrum.points.map(p => nines(p.q)), c.spectrum.points.map(p => Math.max(p.value_ns, 1))]));
		const values = list.flatMap(c => c.spectrum.points.map(p => p.value_ns)).concat(all.max_ns).filter(x => x > 1);
		const lo = 10 ** Math.floor(Math.log10(Math.min(...values))), hi = 10 ** Math.ceil(Math.log10(Math.max(...values)) + 0.01);
		const last = nines(1 - 1 / Math.max(all.count, 2));
		const end = Math.max(last, ...data[0]) + 0.15;
		const at = (c, x) => { const p = c.spectrum.points.find(p => nines(p.q) >= x - 1e-9); return p ? p.value_ns : null; };
		const note = (u, x, y, text, below) => {
			const px = u.valToPos(x, "x", true), py = u.valToPos(y, "y", true), ratio = devicePixelRatio;
			u.ctx.fillStyle = S.colour("l-0");
			u.ctx.beginPath();
			u.ctx.arc(px, py, 4 * ratio, 0, 2 * Math.PI);
			u.ctx.fill();
			u.ctx.font = "600 " + 12 * ratio + "px system-ui, sans-serif";
			u.ctx.textAlign = below ? "left" : "right";
			u.ctx.lineWidth = 4 * ratio;
			u.ctx.strokeStyle = S.colour("bg");
			u.ctx.lineJoin = "round";
			const tx = px + (below ? 7 : -7) * ratio, ty = py + (below ? 15 : -7) * ratio;
			u.ctx.strokeText(text, tx, ty);
			u.ctx.fillText(text, tx, ty);
		};
		return {
			data,
			options: () => ({
				scales: { x: { time: false, range: [0, end] }, y: S.logScale(lo, hi) },
				axes: [Object.assign(S.timeAxis(), {
					splits: () => marks.map(m => m[0]).filter(x => x <= end), filter: (u, splits) => splits,
					values: (u, splits) => splits.map((x, i) => u.width < 560 && i === 1 ? "" : marks[i][1]),
				}), S.logAxis(S.round)],
				series: [{}, ...list.map(c => ({ label: c.label, stroke: S.colour(c.colour), width: c.bold ? 3 : 1.5, spanGaps: true, points: { show: false } }))],
				hooks: { draw: [u => {
					for (const [q, name, value] of [[0.5, "p50", all.p50_ns], [0.9, "p90", all.p90_ns], [0.99, "p99", all.p99_ns]]) {
						if (all.count * (1 - q) >= 1 && value > 0) note(u, nines(q), value, name + " " + S.duration(value), true);
					}
					if (all.max_ns > 0) note(u, last, all.max_ns, "max " + S.duration(all.max_ns), false);
				}] },
			}),
			legend: list.map((c, i) => ({ label: c.label, colour: c.colour, toggles: i + 1,
				value: u => { const v = at(c, u.posToVal(u.cursor.left, "x")); return v === null ? "" : S.duration(v); } })),
			describe: u => "at " + percentile(u.posToVal(u.cursor.left, "x")),
			hint: "Curves end where fewer than ten waits lie beyond. A name in the legend shows or hides its curve.",
		};
	}

	S.spectrum = v => S.chart("spectrum-chart", spectrum(v));
})(window.Schedscope);
