// What part of which data is seen: time, rows, what is selected.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline, S = global.Schedscope;

  const PROCS = 240; // pixels that procs have together, before they are made lower
  const HEIGHTS = { group: 22, request: 8, depth: 54, procs: 20, threads: 15, goroutines: 17, more: 18 };
  const TITLES = { requests: 'Requests', procs: 'Procs', threads: 'Threads', goroutines: 'Goroutines' };
  const RESTS = ['waiting', 'idle']; // colours of states in which a lane does nothing
  const SHORTEST = 50; // ns that can be seen at once
  const MOST_REQUESTS = 12; // that lie on each other

  T.View = class View {
    constructor(data) {
      this.base = data;
      this.detail = null; // a window of the same trace in which less is merged
      this.from = this.min = data.start;
      this.to = this.max = Math.max(data.end, data.start + SHORTEST);
      this.collapsed = { requests: false, procs: false, threads: true, goroutines: false };
      this.all = { threads: false, goroutines: false }; // also lanes that only wait in view
      this.only = null; // the keys of the goroutines to show, in their order if it is a Map; null: all
      this.stacks = stack(S.drawn.filter((q) => q.trace === 0));
      this.chosen = null; // a request
      this.pin = ''; // the lane selected last
      this.scroll = 0;
      this.width = this.height = 0; // of where lanes are, in CSS pixels
      this.selected = null;
      this.layOut();
    }

    get length() { return this.to - this.from; }

    // data returns what to draw from.
    get data() {
      const d = this.detail;
      return d && d.start <= Math.max(this.from, this.min) && d.end >= Math.min(this.to, this.max) ? d : this.base;
    }

    // show sets the visible time, within the trace.
    show(from, to) {
      const whole = this.max - this.min;
      const length = Math.min(whole, Math.max(SHORTEST, to - from));
      const middle = (from + to) / 2;
      this.from = Math.min(Math.max(middle - length / 2, this.min), this.max - length);
      this.to = this.from + length;
    }

    zoom(factor, at) {
      const length = Math.min(this.max - this.min, Math.max(SHORTEST, this.length * factor));
      const share = (at - this.from) / this.length;
      const from = Math.min(Math.max(at - share * length, this.min), this.max - length);
      this.from = from;
      this.to = from + length;
    }

    pan(ns) { this.show(this.from + ns, this.to + ns); }

    timeAt(x) { return this.from + x / this.width * this.length; }
    xOf(t) { return (t - this.from) / this.length * this.width; }

    // layOut decides on the rows.
    layOut() {
      const rows = [];
      const add = (row) => rows.push(row);
      if (this.stacks.length) {
        add({ kind: 'group', of: 'requests', title: TITLES.requests + ' (' + S.count(this.stacks.flat().length) + ' of ' + S.count(S.requestCount) + ')', h: HEIGHTS.group });
        if (!this.collapsed.requests) add({ kind: 'requests', of: 'requests', h: this.stacks.length * HEIGHTS.request + 4 });
      }
      for (const kind of ['procs', 'threads', 'goroutines']) {
        const { lanes, more } = this.lanes(kind);
        add({ kind: 'group', of: kind, title: TITLES[kind] + ' (' + S.count(lanes.length + (this.all[kind] ? 0 : more)) + ')', h: HEIGHTS.group });
        const h = kind === 'procs' ? Math.max(6, Math.min(HEIGHTS.procs, Math.floor(PROCS / lanes.length))) : HEIGHTS[kind];
        if (!this.collapsed[kind]) lanes.forEach((key, i) => add({ kind: 'lane', of: kind, key, h, named: h >= 12 || i % Math.ceil(12 / h) === 0 }));
        if (more > 0 && !this.collapsed[kind]) add({ kind: 'more', of: kind, count: more, h: HEIGHTS.more });
        if (kind === 'procs') add({ kind: 'depth', h: HEIGHTS.depth });
      }
      let y = 0;
      this.tops = new Float64Array(rows.length + 1);
      this.places = new Map();
      rows.forEach((row, i) => {
        this.tops[i] = y;
        if (row.kind === 'lane') this.places.set(row.of + row.key, i);
        y += row.h;
      });
      this.tops[rows.length] = y;
      this.rows = rows;
      this.total = y;
      this.scrollTo(this.scroll);
    }

    // arrange lays out the rows for what is in view now. The lane selected last stays
    // where it is, if it can be seen.
    arrange() {
      const y = this.yOf(this.pin);
      this.layOut();
      if (y >= 0 && y < this.height) this.scrollTo(this.scroll + this.yOf(this.pin) - y);
    }

    // yOf returns where the lane kind + key begins, NaN if it is not laid out.
    yOf(lane) {
      const i = this.places.get(lane);
      return i === undefined ? NaN : this.tops[i] - this.scroll;
    }

    // every lists the lanes of a kind, those of an additional window last.
    every(kind) {
      const list = this.base[kind].lanes;
      return this.detail ? list.concat(this.detail[kind].lanes.filter((l) => !this.base[kind].byKey.has(l.key))) : list;
    }

    // lanes returns the keys of a kind's lanes in order, and how many do nothing in view but
    // wait, or are not there. Of goroutines those come first that wait most to run there.
    lanes(kind) {
      let list = this.every(kind).map((l) => ({ key: l.key, runnable: 0, busy: 0 }));
      if (kind === 'goroutines' && this.only) list = list.filter((l) => this.only.has(l.key));
      if (kind === 'goroutines' && this.only instanceof Map) return { lanes: list.map((l) => l.key).sort((a, b) => this.only.get(a) - this.only.get(b)), more: 0 };
      if (kind === 'procs') return { lanes: list.map((l) => l.key).sort((a, b) => a - b), more: 0 };
      for (const x of list) {
        const lane = this.laneOf(kind, x.key), colours = lane.cls.colours;
        T.timesIn(lane, this.from, this.to).forEach((ns, state) => {
          if (kind === 'goroutines' && colours[state] === 'runnable') x.runnable = ns;
          if (ns > 0 && !RESTS.includes(colours[state])) x.busy += ns;
        });
      }
      list.sort((a, b) => b.runnable - a.runnable || (a.busy > 0 ? 0 : 1) - (b.busy > 0 ? 0 : 1) || a.key - b.key);
      const busy = list.filter((x) => x.busy > 0 || kind + x.key === this.pin);
      return { lanes: (this.all[kind] ? list : busy).map((x) => x.key), more: list.length - busy.length };
    }

    scrollTo(y) { this.scroll = Math.max(0, Math.min(y, this.total - this.height)); }

    // reveal scrolls so that a lane can be seen. It opens its group.
    reveal(kind, key) {
      if (this.collapsed[kind] || !this.places.has(kind + key)) {
        this.collapsed[kind] = false;
        this.pin = kind + key;
        this.layOut();
      }
      const i = this.places.get(kind + key);
      if (i === undefined) return false;
      const top = this.tops[i], bottom = top + this.rows[i].h;
      if (top < this.scroll || bottom > this.scroll + this.height) this.scrollTo(top - this.height / 2);
      return true;
    }

    // rowAt returns the index of the row at y, -1 if there is none.
    rowAt(y) {
      const at = y + this.scroll;
      if (at < 0 || at >= this.total) return -1;
      return T.firstAfter(this.tops, at + 1e-6) - 1;
    }

    lane(row) { return this.laneOf(row.of, row.key); }

    // requestAt returns the request at a point of the lanes, on row r; undefined if there is none.
    requestAt(p, r) {
      const t = this.timeAt(p.x), list = this.stacks[Math.floor((p.y + this.scroll - this.tops[r] - 2) / HEIGHTS.request)] || [];
      const within = (slack) => list.find((q) => q.start <= t + slack && q.start + q.ns >= t - slack);
      return within(0) || within(3 / this.width * this.length);
    }

    // laneOf returns a lane, that of the whole if the window has none: nothing began or ended there.
    laneOf(kind, key) { return this.data[kind].byKey.get(key) || this.base[kind].byKey.get(key) || null; }

    label(kind, key) {
      if (kind === 'procs') return 'P' + key;
      if (kind === 'threads') return 'M' + key;
      const p = this.base.personOf.get(key) || this.detail && this.detail.personOf.get(key);
      return 'G' + key + (p && p.name ? ' ' + S.shortName(p.name) : '');
    }

    // spanAt returns what there is on a lane at t: the longest interval within slack of it.
    spanAt(lane, t, slack) {
      const c = lane.cls;
      let best = -1;
      for (let i = T.find(lane, t - slack), n = 0; i < lane.last && c.start[i] <= t + slack && n < 5000; i++, n++) {
        if (c.start[i] <= t && c.end[i] > t && c.end[i] - c.start[i] > slack) return i;
        if (best < 0 || c.end[i] - c.start[i] > c.end[best] - c.start[best]) best = i;
      }
      return best;
    }

    select(lane, i) {
      this.selected = lane && i >= lane.first && i < lane.last ? { data: lane.cls.data, lane, i, kind: lane.cls.kind, key: lane.key, start: lane.cls.start[i], end: lane.cls.end[i] } : null;
      if (this.selected) this.pin = lane.cls.kind + lane.key;
    }

    // selectAt selects what the lane of that key did at t.
    selectAt(kind, key, t) {
      const lane = this.laneOf(kind, key);
      if (!lane || lane.first === lane.last) return false;
      let i = T.find(lane, t);
      if (i === lane.last) i--;
      this.select(lane, i);
      return this.selected !== null;
    }
  };

  // stack puts requests, the longest first, on the first of a few lines where nothing else is at
  // the time. Those for which there is no room are left out.
  function stack(requests) {
    const lines = [];
    for (const q of requests.toSorted((a, b) => b.ns - a.ns || a.start - b.start)) {
      for (let n = 0; n < MOST_REQUESTS; n++) {
        const line = lines[n] = lines[n] || [];
        let i = line.findIndex((x) => x.start >= q.start);
        if (i < 0) i = line.length;
        if (i > 0 && line[i - 1].start + line[i - 1].ns > q.start || i < line.length && line[i].start < q.start + q.ns) continue;
        line.splice(i, 0, q);
        break;
      }
    }
    return lines;
  }

  // matches reports whether a goroutine has the id or the name that is looked for.
  T.matches = function (lane, text) {
    const id = text.replace(/^g/, '');
    if (/^\d+$/.test(id)) return String(lane.key) === id;
    return lane.person && lane.person.name.toLowerCase().includes(text);
  };

  // stacksWith returns which stacks have a function whose name has text, as has[ref], and
  // whether there are any.
  T.stacksWith = function (d, text) {
    const strings = d.strings.map((s) => s.toLowerCase().includes(text)), frames = d.frames.map((f) => strings[f.fn]);
    const has = [false, ...d.stacks.map((s) => s.frames.some((n) => frames[n]))];
    return { of: d, has, any: has.includes(true) };
  };
})(window);
