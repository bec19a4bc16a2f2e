// The start of the page: what works without data first, then charts, then the timeline.
(function (S) {
	"use strict";

	const root = document.documentElement;
	root.classList.add("js");

	// tool adds a button at the top.
	const tool = (text, act) => document.getElementById("tools").append(S.button("", text, act));

	// save downloads the report as the JSON that it is drawn from.
	function save() {
		const link = S.element("a");
		link.href = URL.createObjectURL(new Blob([JSON.stringify(S.report)], { type: "application/json" }));
		link.download = "report.json";
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 10000);
	}

	// A link into something that is folded up unfolds it, and what it is in.
	function unfold() {
		let target = null;
		try {
			target = location.hash.length > 1 && !location.hash.includes("=") ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
		} catch { /* no address of ours */ }
		for (let e = target && target.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
		if (target) target.scrollIntoView({ behavior: "instant" });
	}

	// On paper nothing is folded.
	let folded = [];
	addEventListener("beforeprint", () => {
		folded = Array.from(document.querySelectorAll("details:not([open])"));
		for (const e of folded) e.open = true;
		S.fit();
	});
	addEventListener("afterprint", () => folded.forEach(e => e.open = false));

	let timeline = null;

	// go shows the timeline if the address names a place on it, to which that goes by itself.
	function go() {
		unfold();
		const at = new URLSearchParams(location.hash.slice(1));
		if (!timeline || !at.has("t") && !at.has("g")) return;
		document.getElementById("timeline").scrollIntoView({ block: "start", behavior: "instant" });
		const place = SchedscopeTimeline.parseHash(location.hash), q = place && S.requestAt(place);
		if (!q) return;
		S.choose(q);
		timeline.goto(place.from, place.to, place.g); // what the address names
	}

	async function mountTimeline(report) {
		const view = document.getElementById("timeline-view");
		if (!view) return;
		timeline = SchedscopeTimeline.mount(view, { blob: S.timelineData(), load: S.words.live ? SchedscopeTimeline.load : null, report });
		await timeline.ready;
		go();
	}

	function failed(err) {
		document.querySelector("main").prepend(S.element("p", "warning", "The charts cannot be drawn: " + err + "."));
		root.classList.remove("js");
		console.error(err);
	}

	async function start() {
		try {
			S.enhanceTables();
			// On a small screen the timeline is not to be far below the first finding.
			if (matchMedia("(max-width: 640px)").matches) document.querySelectorAll("details.finding:not(:first-child)").forEach(e => e.open = false);
			unfold();
			await new Promise(done => { // the text is seen first; a page that nobody sees has no frames
				requestAnimationFrame(() => setTimeout(done));
				setTimeout(done, 500);
			});
			const report = await S.load("report");
			S.report = report;
			tool("Save as JSON", save);
			matchMedia("(prefers-color-scheme: dark)").addEventListener("change", S.redraw);
			S.overTime(report);
			S.spectrum(report);
			S.flame(report);
			S.requests(await S.load("requests"), () => timeline);
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
