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

	// S.inflate takes gzip off bytes, if it is there.
	S.inflate = async data => {
		const bytes = new Uint8Array(data);
		if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
		return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
	};

	S.words = JSON.parse(block("words").textContent);

	// S.load resolves to the report, or to the requests that are drawn, null if there are none.
	S.load = async id => JSON.parse(new TextDecoder().decode(await S.inflate(bytes(id))));

	// S.timelineData returns the encoded timeline, null if the page has none.
	S.timelineData = () => bytes("timeline-data");
})(window.Schedscope);
