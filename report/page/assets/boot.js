// The start of the page: what works without data first, then charts, then the timeline.
(function (S) {
	"use strict";

	const root = document.documentElement;
	root.classList.add("js");

	// The theme is that of the system until somebody chooses another. It is kept nowhere;
	// an address may ask for one: #theme=dark.
	const system = matchMedia("(prefers-color-scheme: dark)");
	const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
	const asked = new URLSearchParams(location.hash.slice(1)).get("theme");
	if (asked === "dark" || asked === "light") root.dataset.theme = asked;

	const recolour = () => {
		S.redraw();
		document.dispatchEvent(new Event("schedscope-theme"));
	};

	function tools() {
		const button = document.createElement("button");
		button.type = "button";
		const name = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", button.textContent + " colours"); };
		button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); recolour(); });
		system.addEventListener("change", () => { name(); recolour(); });
		name();
		document.getElementById("tools").append(button);
	}

	// saver adds a button that saves the report as the JSON that it is drawn from.
	function saver(report) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = "Save as JSON";
		button.addEventListener("click", () => {
			const link = document.createElement("a");
			link.href = URL.createObjectURL(new Blob([JSON.stringify(report)], { type: "application/json" }));
			link.download = "report.json";
			link.click();
			setTimeout(() => URL.revokeObjectURL(link.href), 10000);
		});
		document.getElementById("tools").append(button);
	}

	// A link into something that is folded up unfolds it.
	function unfold() {
		let target = null;
		try {
			target = location.hash.length > 1 && !location.hash.includes("=") ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
		} catch { /* no address of ours */ }
		if (target && target.tagName === "DETAILS") target.open = true;
	}

	let timeline = null;

	// go shows the timeline if the address names a place on it, to which that goes by itself.
	function go() {
		unfold();
		const at = new URLSearchParams(location.hash.slice(1));
		if (!timeline || !at.has("t") && !at.has("g")) return;
		document.getElementById("timeline").scrollIntoView({ block: "start", behavior: "instant" });
	}

	async function mountTimeline(report) {
		const view = document.getElementById("timeline-view");
		if (!view) return;
		if (!window.SchedscopeTimeline) {
			view.textContent = "The timeline cannot be drawn.";
			return;
		}
		view.textContent = "Unpacking …";
		const blob = await S.loadTimeline();
		view.textContent = "";
		timeline = SchedscopeTimeline.mount(view, { blob, load: S.words.live ? SchedscopeTimeline.load : null, report });
		await timeline.ready;
		go();
	}

	function failed(err) {
		const p = document.createElement("p");
		p.className = "warning";
		p.textContent = "The charts cannot be drawn: " + err + ". All numbers are in the tables.";
		document.querySelector("main").prepend(p);
		root.classList.remove("js");
		console.error(err);
	}

	async function start() {
		try {
			if (matchMedia("(max-width: 1149px)").matches) document.getElementById("contents").open = false;
			tools();
			S.enhanceTables();
			unfold();
			await new Promise(done => requestAnimationFrame(() => setTimeout(done))); // the text is seen first
			const report = await S.loadReport();
			S.report = report;
			saver(report);
			S.overTime(report);
			S.spectrum(report);
			new ResizeObserver(() => S.fit()).observe(document.querySelector("main"));
			addEventListener("hashchange", go);
			await mountTimeline(report).catch(err => {
				document.getElementById("timeline-view").textContent = "The timeline cannot be drawn: " + err + ".";
				console.error(err);
			});
			window.ready = true;
		} catch (err) {
			failed(err);
		}
	}
	start();
})(window.Schedscope);
