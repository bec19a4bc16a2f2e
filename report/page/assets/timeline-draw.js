// Draws a View on a canvas. Lanes are written pixel by pixel: a column shows what shares
// of its time the lane was in which state, however many intervals those are.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline, S = global.Schedscope;

  const COLOURS = ['running', 'runnable', 'waiting', 'syscall', 'blocked', 'idle', 'searching', 'stopped', 'gc'];
  const ORDER = ['running', 'gc', 'syscall', 'blocked', 'stopped', 'searching', 'runnable', 'waiting', 'idle']; // from below
  const BAR = 10; // pixels at the right, where one scrolls
  const MAP = T.MAP = 34, AXIS = T.AXIS = 36; // heights of the overview and of the axis with its bands
  const ARROW_ROOM = 14, MOST_LABELS = 3000, WIDE = 46; // pixels

  T.Painter = class Painter {
    constructor(canvas) {
      this.canvas = canvas;
      this.ctx = canvas.getContext('2d', { alpha: false });
      this.acc = new Float64Array(8);
    }

    // theme reads the page's colours.
    theme() {
      const style = getComputedStyle(this.canvas);
      const value = (name) => style.getPropertyValue('--' + name).trim() || '#888888';
      this.colour = {};
      for (const name of ['bg', 'panel', 'fg', 'muted', 'grid', 'accent']) this.colour[name] = value(name);
      for (const name of COLOURS) this.colour[name] = value('state-' + name);
      const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      this.bits = {};
      this.dark = {};
      for (const name of Object.keys(this.colour)) {
        probe.fillStyle = this.colour[name];
        probe.fillRect(0, 0, 1, 1);
        const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
        this.bits[name] = word(probe);
        this.dark[name] = r * 0.3 + g * 0.59 + b * 0.11 < 110;
      }
      // Between the panel's colour and that of waits.
      probe.fillStyle = this.colour.panel;
      probe.fillRect(0, 0, 1, 1);
      probe.globalAlpha = 0.35;
      probe.fillStyle = this.colour.runnable;
      probe.fillRect(0, 0, 1, 1);
      this.bits.soft = word(probe);
      this.map = null;
    }

    // resize fits the canvas to the place that it has.
    resize(view) {
      const box = this.canvas.getBoundingClientRect();
      const ratio = this.ratio = window.devicePixelRatio || 1;
      this.w = Math.max(200, Math.round(box.width));
      this.h = Math.max(150, Math.round(box.height));
      this.canvas.width = Math.round(this.w * ratio);
      this.canvas.height = Math.round(this.h * ratio);
      this.gutter = this.w < 560 ? 98 : this.w < 760 ? 130 : 180;
      this.top = MAP + AXIS;
      view.width = this.w - this.gutter - BAR;
      view.height = this.h - this.top;
      view.scrollTo(view.scroll);
      this.lanesW = Math.round(view.width * ratio);
      this.lanesH = Math.round(view.height * ratio);
      this.image = this.ctx.createImageData(this.lanesW, this.lanesH);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.map = null;
    }

    paint(view) {
      const { ctx, ratio } = this;
      const first = Math.max(0, view.rowAt(0));
      this.raster(view, first);
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.fillStyle = this.colour.bg;
      ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
      ctx.putImageData(this.image, Math.round(this.gutter * ratio), Math.round(this.top * ratio));
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.font = '11px system-ui, sans-serif';
      ctx.textBaseline = 'middle';
      ctx.save();
      ctx.beginPath();
      ctx.rect(this.gutter, this.top, view.width, view.height);
      ctx.clip();
      ctx.translate(this.gutter, this.top);
      this.bands(view);
      this.depth(view);
      this.requests(view);
      this.arrows(view);
      this.texts(view, first);
      this.regions(view, first);
      this.selection(view);
      ctx.restore();
      this.labels(view, first);
      this.axis(view);
      this.overview(view);
      this.scrollbar(view);
    }

    // raster writes the lanes that can be seen.
    raster(view, first) {
      this.pixels.fill(this.bits.bg);
      for (let r = first; r < view.rows.length; r++) {
        const top = view.tops[r] - view.scroll, row = view.rows[r];
        if (top >= view.height) break;
        if (row.kind === 'depth') this.rasterDepth(view, top, row.h);
        if (row.kind !== 'lane') continue;
        const lane = view.lane(row);
        const y0 = Math.max(0, Math.round((top + 1) * this.ratio)), y1 = Math.min(this.lanesH, Math.round((top + row.h - 1) * this.ratio));
        if (lane && y1 > y0) this.rasterLane(lane, view.from, view.length / this.lanesW, y0, y1);
      }
    }

    rasterLane(lane, from, per, y0, y1) {
      const c = lane.cls, { start, end, draw, head } = c, first = lane.first, last = lane.last, n = this.lanesW, block = T.BLOCK;
      const look = this.look(lane), acc = this.acc;
      for (let x = 0, i = T.find(lane, from); x < n && i < last;) {
        const a = from + x * per, b = a + per;
        if (start[i] >= b) {
          x = Math.max(x + 1, Math.floor((start[i] - from) / per));
          continue;
        }
        if (end[i] <= a) {
          i++;
          continue;
        }
        if (start[i] <= a && end[i] >= b) {
          const stop = Math.min(n, Math.max(x + 1, Math.floor((end[i] - from) / per)));
          if (head[i] & 32) this.shares(look, c.mixes[c.extra[i]].times, end[i] - start[i], x, stop, y0, y1);
          else this.fill(look.bits[draw[i]], x, stop - x > 3 ? stop - 1 : stop, y0, y1);
          x = stop;
          continue;
        }
        acc.fill(0);
        while (i < last && start[i] < b) {
          const at = i - first;
          if (at % block === 0 && start[i] >= a && i + block <= last && end[i + block - 1] <= b) {
            for (let s = 0, o = at / block * 8; s < 8; s++) acc[s] += lane.sums[o + s];
            i += block;
            continue;
          }
          const part = Math.min(end[i], b) - Math.max(start[i], a);
          if (part > 0) T.add(acc, c, i, part);
          if (end[i] > b) break;
          i++;
        }
        this.shares(look, acc, per, x, x + 1, y0, y1);
        x++;
      }
    }

    // look returns colours by state, and the states from below.
    look(lane) {
      const c = lane.cls, names = c.colours.concat(new Array(8).fill('')).slice(0, 8);
      if (c.kind === 'procs') names[7] = 'gc';
      if (marks(lane)) names[names.indexOf('running')] = 'gc';
      return {
        bits: names.map((name) => name ? this.bits[name] : this.bits.bg),
        order: ORDER.map((name) => names.indexOf(name)).filter((s) => s >= 0), shown: names.indexOf('runnable'),
      };
    }

    fill(bits, x0, x1, y0, y1) {
      const { pixels, lanesW } = this;
      if (x1 - x0 === 1) { // most of what is filled when much is in view
        for (let o = y0 * lanesW + x0, end = y1 * lanesW; o < end; o += lanesW) pixels[o] = bits;
        return;
      }
      for (let y = y0, o = y0 * lanesW; y < y1; y++, o += lanesW) pixels.fill(bits, o + x0, o + x1);
    }

    // shares fills columns with states one above the other, by their shares of whole.
    shares(look, times, whole, x0, x1, y0, y1) {
      const h = y1 - y0;
      let sum = 0, y = y1;
      for (const s of look.order) {
        if (times[s] <= 0) continue;
        sum += times[s];
        let to = y1 - Math.round(h * Math.min(1, sum / whole));
        if (s === look.shown && to === y) to = Math.max(y0, y - 1); // waits are to be seen
        if (to < y) this.fill(look.bits[s], x0, x1, to, y);
        y = Math.min(y, to);
      }
    }

    // bands shades stops of the world and marks of the collector.
    bands(view) {
      const { ctx } = this, d = view.data;
      const shade = (start, end, colour, alpha) => {
        const x0 = view.xOf(start), x1 = view.xOf(end);
        if (x1 < 0 || x0 > view.width) return;
        ctx.globalAlpha = alpha;
        ctx.fillStyle = colour;
        ctx.fillRect(x0, 0, Math.max(x1 - x0, 0.5), view.height);
      };
      for (const m of d.marks) shade(m.start, m.end, this.colour.gc, 0.07);
      for (const s of d.stops) shade(s.start, s.running, this.colour.stopped, 0.25);
      ctx.globalAlpha = 1;
    }

    // requests draws the requests in the colours of their groups, and where the chosen one begins and ends.
    requests(view) {
      const { ctx } = this, r = view.rows.findIndex((row) => row.kind === 'requests'), colours = [];
      const bar = (q, y, h) => {
        const x0 = Math.max(-2, view.xOf(q.start)), x1 = Math.min(view.width + 2, view.xOf(q.start + q.ns));
        if (x1 > -2 && x0 < view.width + 2) ctx.fillRect(x0, y, Math.max(x1 - x0 - 0.5, 1), h);
      };
      view.stacks.forEach((list, n) => {
        const y = view.tops[r] - view.scroll + 2 + n * 8;
        if (r < 0 || y < -8 || y > view.height) return;
        for (const q of list) {
          const here = q === view.chosen;
          ctx.fillStyle = here ? this.colour.fg : colours[q.set] ??= S.colour(S.requestColour(q)); // slow
          bar(q, y, here ? 8 : 6);
        }
      });
      const q = view.chosen;
      if (!q) return;
      ctx.fillStyle = this.colour.accent;
      for (const t of [q.start, q.start + q.ns]) bar({ start: t, ns: 0 }, 0, view.height);
    }

    // rasterDepth writes how many goroutines were Runnable: the most, and the mean in full colour.
    rasterDepth(view, top, h) {
      const clip = (y) => Math.max(0, Math.min(this.lanesH, Math.round(y * this.ratio)));
      const columns = depthColumns(view.data.depth, view.from, view.to, this.lanesW);
      const base = top + h - 3, scale = (h - 6) / Math.max(columns.peak, 1), bottom = clip(base);
      this.fill(this.bits.panel, 0, this.lanesW, clip(top), clip(top + h - 2));
      for (let x = 0; x < this.lanesW; x++) {
        if (columns.most[x] === 0) continue;
        const mean = clip(base - columns.mean[x] * scale);
        this.fill(this.bits.soft, x, x + 1, clip(base - columns.most[x] * scale), mean);
        this.fill(this.bits.runnable, x, x + 1, mean, bottom);
      }
      this.peak = columns.peak;
    }

    // depth says what the scale of the depth is.
    depth(view) {
      const r = view.rows.findIndex((row) => row.kind === 'depth');
      const top = view.tops[r] - view.scroll;
      if (top + view.rows[r].h > 0 && top < view.height) this.note('most ' + this.peak, view.width - 4, top + 9);
    }

    note(text, x, y) {
      const { ctx } = this, w = ctx.measureText(text).width;
      ctx.fillStyle = this.colour.bg;
      ctx.globalAlpha = 0.8;
      ctx.fillRect(x - w - 3, y - 7, w + 6, 14);
      ctx.globalAlpha = 1;
      ctx.fillStyle = this.colour.fg;
      ctx.textAlign = 'right';
      ctx.fillText(text, x, y);
      ctx.textAlign = 'left';
    }

    // texts writes into intervals that have room.
    texts(view, first) {
      const { ctx } = this;
      for (let r = first; r < view.rows.length; r++) {
        const row = view.rows[r], top = view.tops[r] - view.scroll;
        if (top > view.height) break;
        const lane = row.kind === 'lane' && view.lane(row);
        if (!lane) continue;
        const c = lane.cls, from = T.find(lane, view.from), to = Math.min(lane.last, T.find(lane, view.to) + 1);
        if (to - from > MOST_LABELS || row.h < 12) continue;
        for (let i = from; i < to; i++) {
          const x0 = Math.max(0, view.xOf(c.start[i])), x1 = Math.min(view.width, view.xOf(c.end[i]));
          if (x1 - x0 < WIDE || T.isMixed(c, i)) continue;
          const text = T.caption(lane, i);
          const colour = c.draw[i] === 7 || marks(lane) && c.colours[c.draw[i]] === 'running' ? 'gc' : c.colours[c.draw[i]];
          if (!text || !colour) continue;
          this.halo(S.clip(text, x1 - x0 - 6), x0 + 3, top + row.h / 2 + 0.5, this.dark[colour] ? '#ffffff' : '#14171b', this.colour[colour]);
        }
      }
    }

    // halo writes text on what is behind it, so that no arrow strikes it through.
    halo(text, x, y, colour, behind) {
      const { ctx } = this;
      ctx.lineJoin = 'round';
      ctx.lineWidth = 3;
      ctx.strokeStyle = behind;
      ctx.strokeText(text, x, y);
      ctx.lineWidth = 1;
      ctx.fillStyle = colour;
      ctx.fillText(text, x, y);
    }

    // regions underlines where goroutines were in user regions.
    regions(view, first) {
      const { ctx } = this;
      ctx.fillStyle = this.colour.fg;
      for (let r = first; r < view.rows.length; r++) {
        const row = view.rows[r], top = view.tops[r] - view.scroll;
        if (top > view.height) break;
        const list = row.kind === 'lane' && row.of === 'goroutines' && view.data.regionsOf.get(row.key);
        if (!list) continue;
        let drawn = 0; // up to which pixel: what is narrow or nested is drawn once
        for (const x of list) {
          const x0 = Math.max(view.xOf(x.start), drawn), x1 = Math.min(Math.max(view.xOf(x.end), view.xOf(x.start) + 1), view.width);
          if (x1 <= x0) continue;
          ctx.fillRect(x0, top + row.h - 3, x1 - x0, 2);
          drawn = x1;
        }
      }
    }

    // y returns the middle of a lane, null if it is not there.
    y(view, kind, key) {
      const i = view.places.get(kind + key);
      return i === undefined ? null : view.tops[i] - view.scroll + view.rows[i].h / 2;
    }

    // arrows draws who woke whom and who stole from whom: of what is selected, and of all if that is not too much.
    arrows(view) {
      const d = view.data;
      const most = Math.ceil(view.width / ARROW_ROOM);
      for (const w of T.wakes(view, d, most)) this.wake(view, w, false);
      const from = T.firstAfter(d.stealTimes, view.from), to = T.firstAfter(d.stealTimes, view.to);
      if (to - from <= most) {
        for (let i = from; i < to; i++) {
          const s = d.steals[i], x = view.xOf(s.time);
          this.arrow(x - 6, this.y(view, 'procs', s.victim), x, this.y(view, 'procs', s.thief), this.colour.accent, true, 1);
        }
      }
      const wake = view.selected && T.wakeOf(view.selected);
      if (wake) this.wake(view, wake, true);
    }

    // wake draws arrows on the lanes of procs and of goroutines.
    wake(view, w, bold) {
      const x0 = view.xOf(w.time), x1 = view.xOf(w.ran);
      const colour = bold ? this.colour.fg : this.colour.runnable;
      if (w.proc >= 0 && w.byProc >= 0) this.arrow(x0, this.y(view, 'procs', w.byProc), x1, this.y(view, 'procs', w.proc), colour, false, bold ? 2 : 1);
      if (bold && w.by) this.arrow(x0, this.y(view, 'goroutines', w.by.id), x0 + 0.01, this.y(view, 'goroutines', w.g), colour, false, 2);
    }

    arrow(x0, y0, x1, y1, colour, dashed, width) {
      if (y0 === null || y1 === null || (x0 < -50 && x1 < -50)) return;
      const { ctx } = this, length = Math.hypot(x1 - x0, y1 - y0);
      if (length < 3 || x0 > 1e5 || x1 > 1e5 || x0 < -1e5) return;
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.lineWidth = width;
      ctx.setLineDash(dashed ? [3, 2] : []);
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
      ctx.stroke();
      ctx.setLineDash([]);
      const ux = (x1 - x0) / length, uy = (y1 - y0) / length, s = Math.min(6, length);
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x1 - s * ux + s * uy / 2, y1 - s * uy - s * ux / 2);
      ctx.lineTo(x1 - s * ux - s * uy / 2, y1 - s * uy + s * ux / 2);
      ctx.fill();
      ctx.lineWidth = 1;
    }

    selection(view) {
      const { ctx } = this, s = view.selected;
      if (view.marked) {
        const x0 = view.xOf(view.marked[0]), x1 = view.xOf(view.marked[1]);
        ctx.globalAlpha = 0.2;
        ctx.fillStyle = this.colour.accent;
        ctx.fillRect(x0, 0, x1 - x0, view.height);
        ctx.globalAlpha = 1;
      }
      const i = s ? view.places.get(s.kind + s.key) : undefined;
      if (i === undefined) return;
      const x0 = Math.max(-5, view.xOf(s.start)), x1 = Math.min(view.width + 5, view.xOf(s.end));
      if (x1 < -4 || x0 > view.width + 4) return;
      ctx.lineWidth = 2;
      ctx.strokeStyle = this.colour.fg;
      ctx.strokeRect(x0 - 1, view.tops[i] - view.scroll, Math.max(x1 - x0 + 2, 4), view.rows[i].h);
      ctx.lineWidth = 1;
    }

    // labels writes what the rows are.
    labels(view, first) {
      const { ctx } = this;
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, this.top, this.w, view.height);
      ctx.clip();
      for (let r = first; r < view.rows.length; r++) {
        const row = view.rows[r], y = this.top + view.tops[r] - view.scroll, middle = y + row.h / 2 + 0.5;
        if (y > this.h) break;
        if (row.kind === 'group') {
          ctx.fillStyle = this.colour.panel;
          ctx.fillRect(0, y, this.w, row.h);
          ctx.fillStyle = this.colour.fg;
          ctx.font = 'bold 12px system-ui, sans-serif';
          ctx.fillText((view.collapsed[row.of] ? '▸ ' : '▾ ') + row.title, 6, middle);
          ctx.font = '11px system-ui, sans-serif';
          continue;
        }
        if (row.kind === 'more') {
          ctx.fillStyle = this.colour.accent;
          ctx.fillText((view.all[row.of] ? '▾ ' : '▸ ') + S.count(row.count) + ' more do nothing in view', 6, middle);
          continue;
        }
        if (row.kind === 'requests' || row.kind === 'lane' && !row.named) continue;
        const here = view.selected && row.key === view.selected.key && row.of === view.selected.kind;
        ctx.fillStyle = here ? this.colour.accent : this.colour.muted;
        const text = row.kind === 'depth' ? (this.gutter < 110 ? 'Runnable' : 'Goroutines Runnable') : view.label(row.of, row.key);
        ctx.fillText(S.clip(text, (this.gutter - 12) * 0.93), 6, middle);
      }
      ctx.restore();
    }

    axis(view) {
      const { ctx } = this, y = MAP;
      ctx.fillStyle = this.colour.bg;
      ctx.fillRect(0, y, this.w, AXIS);
      const step = T.stepOf(view.length / (view.width / 110));
      ctx.strokeStyle = this.colour.grid;
      for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
        const x = this.gutter + view.xOf(t);
        ctx.globalAlpha = 0.6;
        ctx.beginPath();
        ctx.moveTo(x, y + 16);
        ctx.lineTo(x, this.h);
        ctx.stroke();
        ctx.globalAlpha = 1;
        ctx.fillStyle = this.colour.muted;
        ctx.textAlign = x > this.w - 40 ? 'right' : 'center';
        ctx.fillText(T.mark(t, step), Math.min(x, this.w - 2), y + 9);
      }
      ctx.textAlign = 'left';
      ctx.fillStyle = this.colour.fg;
      ctx.fillText(S.duration(view.length), 6, y + 9);
      ctx.fillStyle = this.colour.muted;
      ctx.fillText('GC, stops', 6, y + 27);
      const strip = (start, end, colour, at, h) => {
        const x0 = Math.max(0, view.xOf(start)), x1 = Math.min(view.width, view.xOf(end));
        if (x1 < 0 || x0 > view.width || x1 < x0) return;
        ctx.fillStyle = colour;
        ctx.fillRect(this.gutter + x0, y + at, Math.max(1.5, x1 - x0), h);
      };
      for (const m of view.data.marks) strip(m.start, m.end, this.colour.gc, 20, 7);
      for (const s of view.data.stops) strip(s.start, s.running, this.colour.stopped, 28, 7);
    }

    // overview draws the whole trace small, with what is seen of it marked.
    overview(view) {
      const { ctx, ratio } = this;
      if (!this.map) this.map = this.drawMap(view);
      ctx.drawImage(this.map, this.gutter, 0, view.width, MAP - 2);
      const whole = view.max - view.min;
      const x0 = (view.from - view.min) / whole * view.width, x1 = (view.to - view.min) / whole * view.width;
      ctx.fillStyle = this.colour.bg;
      ctx.globalAlpha = 0.65;
      ctx.fillRect(this.gutter, 0, x0, MAP - 2);
      ctx.fillRect(this.gutter + x1, 0, view.width - x1, MAP - 2);
      ctx.globalAlpha = 1;
      ctx.strokeStyle = this.colour.fg;
      ctx.lineWidth = 1;
      ctx.strokeRect(this.gutter + x0 + 0.5, 0.5, Math.max(2, x1 - x0 - 1), MAP - 3);
      ctx.fillStyle = this.colour.muted;
      ctx.fillText(this.gutter < 110 ? 'whole' : 'whole trace: Runnable', 6, MAP / 2);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    drawMap(view) {
      const map = document.createElement('canvas'), w = Math.ceil(view.width), h = MAP - 2;
      map.width = w;
      map.height = h;
      const ctx = map.getContext('2d'), d = view.base;
      ctx.fillStyle = this.colour.panel;
      ctx.fillRect(0, 0, w, h);
      const per = (view.max - view.min) / w;
      ctx.fillStyle = this.colour.gc;
      ctx.globalAlpha = 0.3;
      for (const m of d.marks) ctx.fillRect((m.start - view.min) / per, 0, Math.max(1, (m.end - m.start) / per), h);
      const columns = depthColumns(d.depth, view.min, view.max, w);
      ctx.fillStyle = this.colour.runnable;
      for (const [values, alpha] of [[columns.most, 0.35], [columns.mean, 1]]) {
        ctx.globalAlpha = alpha;
        for (let x = 0; x < w; x++) {
          const y = values[x] / Math.max(columns.peak, 1) * h;
          if (y > 0) ctx.fillRect(x, h - y, 1, y);
        }
      }
      return map;
    }

    scrollbar(view) {
      if (view.total <= view.height) return;
      const h = Math.max(24, view.height * view.height / view.total);
      const y = this.top + view.scroll / (view.total - view.height) * (view.height - h);
      this.ctx.fillStyle = this.colour.muted;
      this.ctx.globalAlpha = 0.5;
      this.ctx.fillRect(this.w - BAR + 2, y, BAR - 3, h);
      this.ctx.globalAlpha = 1;
    }
  };

  // word returns the first pixel as it is in memory.
  const word = (ctx) => new Uint32Array(ctx.getImageData(0, 0, 1, 1).data.buffer)[0];

  // depthColumns returns the mean and the most of each of n columns.
  function depthColumns(d, from, to, n) {
    const mean = new Float64Array(n), most = new Float64Array(n), per = (to - from) / n;
    let peak = 0;
    for (let i = T.firstAfter(d.end, from, d.n); i < d.n && d.start[i] < to; i++) {
      const first = Math.max(0, Math.floor((d.start[i] - from) / per)), last = Math.min(n - 1, Math.floor((d.end[i] - from) / per));
      for (let x = first; x <= last; x++) {
        const part = Math.min(d.end[i], from + (x + 1) * per) - Math.max(d.start[i], from + x * per);
        if (part <= 0) continue;
        mean[x] += d.mean[i] * part / per;
        if (d.most[i] > most[x]) most[x] = d.most[i];
      }
      peak = Math.max(peak, d.most[i]);
    }
    return { mean, most, peak };
  }

  // marks reports whether a lane is of a goroutine that marks for the collector.
  const marks = (lane) => !!lane.person && lane.person.name === 'runtime.gcBgMarkWorker';
})(window);
