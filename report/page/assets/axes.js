// Colours, axes and scales that the charts share.
(function (S) {
	"use strict";

	// S.colour returns the value of a CSS variable in the present theme.
	S.colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

	const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

	const base = () => ({
		stroke: S.colour("muted"), font,
		grid: { stroke: S.colour("grid"), width: 1 },
		ticks: { stroke: S.colour("grid"), width: 1, size: 5 },
	});

	const steps = [];
	for (let k = 0; k < 14; k++) steps.push(10 ** k, 2 * 10 ** k, 5 * 10 ** k);

	// S.timeAxis is one of points in time.
	S.timeAxis = () => Object.assign(base(), {
		incrs: steps, space: 80, size: 26, gap: 3,
		values: (u, splits) => splits.map(S.round),
	});

	// S.numberAxis is one of numbers, written by format.
	S.numberAxis = format => Object.assign(base(), {
		side: 3, size: 58, gap: 4, space: 26,
		values: (u, splits) => splits.map(v => v === null ? "" : format(v)),
	});

	// decades are the powers of ten in a range.
	const decades = (lo, hi) => {
		const out = [];
		for (let k = Math.ceil(Math.log10(lo) - 1e-9); k <= Math.log10(hi) + 1e-9; k++) out.push(10 ** k);
		return out;
	};

	// S.logAxis is one of a logarithmic scale with a line at each power of ten.
	S.logAxis = format => Object.assign(base(), {
		side: 3, size: 58, gap: 4, space: 10,
		splits: (u, i, lo, hi) => decades(lo, hi),
		values: (u, splits) => splits.map(format),
		filter: (u, splits) => splits,
	});

	S.logScale = (lo, hi) => ({ distr: 3, log: 10, range: [lo, hi] });

	// S.shade is the colour of a cell with v waits, of most in any.
	S.shade = (v, most) => S.colour("heat-" + Math.min(5, Math.round(5 * Math.log(v) / Math.max(Math.log(most), 1))));
})(window.Schedscope);
