// What all scripts share: numbers as the program's text report writes them, digit for digit,
// and how elements are made.
(function (S) {
	"use strict";

	// fixed is v.toFixed(n), but what lies in the middle goes to the even digit.
	function fixed(v, n) {
		const all = v.toFixed(60), point = all.indexOf(".");
		const cut = n === 0 ? point : point + 1 + n;
		const rest = all.slice(point + 1 + n);
		const last = all[cut - 1];
		if (/^50*$/.test(rest) && "02468".includes(last)) return all.slice(0, cut);
		return v.toFixed(n);
	}

	function significant(v, digits) {
		const whole = Number(v.toExponential(digits - 1).split("e")[1]);
		return fixed(v, Math.max(digits - 1 - whole, 0));
	}

	const units = [["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

	function length(ns, digits) {
		if (ns === 0) return "0";
		if (ns < 0) return "-" + length(-ns, digits);
		if (ns < 1000) return ns + "ns";
		if (ns >= 600e9) return minutes(ns);
		for (const [name, size] of units) {
			const v = ns / size;
			if (v < 1000 - 0.5 * Math.pow(10, 3 - digits) || name === "s") return significant(v, digits) + name;
		}
	}

	function minutes(ns) {
		const s = Math.round(ns / 1e9), two = n => String(n).padStart(2, "0");
		if (s < 3600) return Math.floor(s / 60) + "m" + two(s % 60) + "s";
		return Math.floor(s / 3600) + "h" + two(Math.floor(s % 3600 / 60)) + "m" + two(s % 60) + "s";
	}

	S.duration = ns => length(Math.round(ns), 3);
	S.instant = ns => length(ns, 6);
	// S.round is for axes: no more digits than it takes.
	S.round = ns => S.instant(Math.round(ns)).replace(/(\.\d*?)0+(\D+)$/, "$1$2").replace(/\.(\D+)$/, "$1");
	S.count = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
	S.mean = (v, digits) => fixed(v, digits);
	S.plural = (n, noun) => S.count(n) + " " + noun + (n === 1 ? "" : "s");

	S.percent = share => {
		const p = 100 * share;
		if (!(p !== 0)) return "0%";
		if (p > 0 && p < 0.005) return "<0.01%";
		if (p < 0.995) return fixed(p, 2) + "%";
		if (p < 9.95 || p < 100 && p >= 99.5) return p >= 99.95 && p < 100 ? ">99.9%" : fixed(p, 1) + "%";
		return fixed(p, 0) + "%";
	};

	S.bytes = n => {
		if (n < 1000) return n + " B";
		let v = n;
		for (const unit of [" kB", " MB", " GB"]) {
			v /= 1000;
			if (v < 999.5) return significant(v, 3) + unit;
		}
		return significant(v / 1000, 3) + " TB";
	};

	// S.shortName leaves the path of a function's package out.
	S.shortName = name => name.slice(name.lastIndexOf("/") + 1);

	// S.clip shortens text to about width pixels: a function loses its package, then its end.
	S.clip = (text, width) => {
		const n = Math.floor(width / 6.2), short = text.length <= n ? text : text.replace(/^(G\d+ )?[^ .()]+\.(?=[^ ]+$)/, "$1");
		return short.length <= n ? short : n < 2 ? "" : short.slice(0, n - 1) + "…";
	};

	// S.element makes an element; text is only ever text.
	S.element = (tag, name, text, ...children) => {
		const e = document.createElement(tag);
		if (name) e.className = name;
		if (text !== undefined && text !== null) e.textContent = text;
		e.append(...children);
		return e;
	};

	// S.button makes a button; title says what it does if the text does not.
	S.button = (name, text, act, title) => {
		const b = S.element("button", name, text);
		b.type = "button";
		if (title) b.title = b.ariaLabel = title;
		b.addEventListener("click", act);
		return b;
	};
})(window.Schedscope = window.Schedscope || {});
