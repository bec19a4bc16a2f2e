// The data blocks of the page.
(function (S) {
	"use strict";

	const block = id => document.getElementById(id + "-block");

	// bytes returns what a block holds in base64; null if the page has no such block.
	function bytes(id) {
		const el = block(id);
		if (!el) return null;
		const text = el.textContent;
		if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
		const plain = atob(text), out = new Uint8Array(plain.length);
		for (let i = 0; i < out.length; i++) out[i] = plain.charCodeAt(i);
		return out;
	}

	const inflated = data => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip")));

	S.words = JSON.parse(block("words").textContent);

	// S.loadReport resolves to the report, a V1.
	S.loadReport = () => inflated(bytes("report")).json();

	// S.loadTimeline resolves to the bytes of the timeline, null if the page has none.
	S.loadTimeline = async () => {
		const data = bytes("timeline-data");
		return data ? new Uint8Array(await inflated(data).arrayBuffer()) : null;
	};
})(window.Schedscope);
