// A chart: a picture of uPlot with its legend and a line that says what is under the
// cursor, drawn again when the theme or the width changes.
(function (S) {
	"use strict";

	const charts = [];
	const onClock = []; // charts whose x is time: they are zoomed together
	let zooming = false;

	// S.chart sets a chart up. Spec: {options() -> options of uPlot, data,
	// legend: [{label, colour, dash, toggles: series}], describe(u) -> string, clock: bool}.
	S.chart = (id, spec) => {
		const figure = document.getElementById(id);
		if (!figure || !spec) return;
		const plot = figure.querySelector(".plot");
		const c = { id, figure, plot, spec, u: null, hidden: new Set() };
		if (spec.legend) {
			c.legend = S.element("ul", "legend");
			plot.before(c.legend);
		}
		c.readout = S.element("span", "readout");
		c.readout.role = "status"; // for those who do not see the chart: the cursor reads it out
		figure.querySelector("figcaption").append(c.readout);
		plot.tabIndex = 0;
		plot.role = "group";
		plot.ariaLabel = figure.dataset.label + ". Arrow keys move the cursor, plus and minus zoom, 0 shows all.";
		plot.addEventListener("keydown", ev => key(c, ev));
		charts.push(c);
		if (spec.clock) onClock.push(c);
		if (plot.checkVisibility()) draw(c);
	};

	const width = c => Math.max(c.plot.clientWidth, 120);
	const height = c => c.plot.classList.contains("tall") ? 300 : c.plot.classList.contains("middle") ? 210 : 150;

	function draw(c) {
		const before = c.u && c.spec.clock ? [c.u.scales.x.min, c.u.scales.x.max] : null;
		if (c.u) c.u.destroy();
		legend(c);
		const o = c.spec.options();
		o.width = width(c);
		o.height = height(c);
		o.legend = { show: false };
		o.padding = [8, 24, 0, 0];
		o.cursor = Object.assign({ y: false, drag: { x: !!c.spec.clock, y: false, setScale: true }, points: { show: false } }, o.cursor);
		if (c.spec.clock) o.cursor.sync = { key: "clock", scales: ["x", null] };
		o.hooks = Object.assign({}, o.hooks);
		o.hooks.setCursor = [u => describe(c, u)];
		if (c.spec.clock) o.hooks.setScale = [(u, name) => name === "x" && zoomed(u)];
		c.u = new uPlot(o, c.spec.data, c.plot);
		const canvas = c.plot.querySelector("canvas");
		canvas.role = "img";
		canvas.ariaLabel = c.figure.dataset.label;
		for (const i of c.hidden) c.u.setSeries(i, { show: false });
		if (before) c.u.setScale("x", { min: before[0], max: before[1] });
		describe(c, c.u);
	}

	// zoomed has the other charts of the clock show the same time.
	function zoomed(u) {
		if (zooming) return;
		zooming = true;
		for (const other of onClock) {
			if (other.u && other.u !== u) other.u.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
		}
		zooming = false;
	}

	function describe(c, u) {
		c.readout.textContent = c.spec.describe && u.cursor.left >= 0 ? c.spec.describe(u) : c.spec.hint || "";
		if (!c.values) return;
		c.values.forEach((span, i) => {
			const v = u.cursor.left >= 0 && c.spec.legend[i].value ? c.spec.legend[i].value(u) : c.spec.legend[i].rest;
			span.textContent = v ? " " + v : "";
		});
	}

	function legend(c) {
		if (!c.legend) return;
		c.values = [];
		c.legend.replaceChildren(...c.spec.legend.map(x => {
			const item = S.element("li"), mark = S.element("i", x.dash ? "dash" : "");
			if (x.dash) mark.style.borderColor = S.colour(x.colour);
			else mark.style.background = S.colour(x.colour);
			const span = S.element("span");
			c.values.push(span);
			if (!x.toggles) {
				item.append(mark, x.label, span);
				return item;
			}
			const button = S.button("", "", () => {
				const show = c.hidden.delete(x.toggles);
				if (!show) c.hidden.add(x.toggles);
				button.ariaPressed = String(show);
				c.u.setSeries(x.toggles, { show });
			});
			button.append(mark, x.label, span);
			button.ariaPressed = String(!c.hidden.has(x.toggles));
			item.append(button);
			return item;
		}));
	}

	// key moves the cursor and zooms.
	function key(c, ev) {
		if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
		const u = c.u, w = u.over.clientWidth, x = u.scales.x;
		const at = u.cursor.left >= 0 ? u.cursor.left : w / 2;
		const move = to => u.setCursor({ left: Math.min(Math.max(to, 0), w - 1), top: u.over.clientHeight / 2 });
		const zoom = factor => {
			if (!c.spec.clock) return;
			const mid = u.posToVal(at, "x"), half = (x.max - x.min) * factor / 2;
			u.setScale("x", { min: mid - half, max: mid + half });
		};
		const all = () => c.spec.clock && u.setScale("x", { min: S.wholeTime()[0], max: S.wholeTime()[1] });
		const act = () => c.spec.act && c.spec.act(u);
		const actions = { Enter: act, ArrowLeft: () => move(at - 4), ArrowRight: () => move(at + 4), Home: () => move(0), End: () => move(w - 1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": all, Escape: all };
		const action = actions[ev.key];
		if (!action) return;
		ev.preventDefault();
		action();
	}

	// S.redraw draws all charts in the colours of the present theme.
	S.redraw = () => charts.filter(c => c.u).forEach(draw);

	// S.fit gives all charts that are not folded the width that there is.
	S.fit = () => {
		for (const c of charts.filter(c => c.plot.checkVisibility())) {
			if (!c.u) draw(c);
			else if (width(c) !== c.u.width) c.u.setSize({ width: width(c), height: height(c) });
		}
	};

	// S.charts lists what is drawn, for tests.
	S.charts = charts;
})(window.Schedscope);
