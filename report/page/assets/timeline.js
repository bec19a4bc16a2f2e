// SchedscopeTimeline.mount puts the timeline into an element.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline, S = global.Schedscope, element = S.element;
  const SOON = 150; // ms after the last movement
  const MOST_HITS = 50000; // intervals that the search collects

  // App is one timeline: the view, the canvas, and what is around it.
  class App {
    constructor(root, options) {
      this.root = root;
      this.load = options.load || null;
      this.canvas = element('canvas', 'tl-canvas');
      this.canvas.tabIndex = 0;
      this.canvas.role = 'application';
      this.canvas.ariaLabel = 'Timeline of procs, threads and goroutines. Arrow keys go from interval to interval and from lane to lane, and read out what is there; w and s zoom, a and d move, ? shows all keys.';
      this.frames = 0;
    }

    start(data) {
      this.view = new T.View(data);
      this.facts = new T.Facts(this.view, (kind, key, t) => this.go(kind, key, t));
      this.build();
      this.painter = new T.Painter(this.canvas);
      this.painter.theme();
      this.fit();
      this.painter.resize(this.view);
      this.input = new T.Input(this);
      this.follow();
      this.paint();
    }

    // fit gives the frame the height of the lanes, as far as the window has it.
    fit() {
      this.frame.style.height = Math.round(Math.max(360, Math.min(T.MAP + T.AXIS + this.view.total + 2, 0.68 * global.innerHeight))) + 'px';
    }

    // build makes all that is around the canvas.
    build() {
      const bar = element('div', 'tl-bar');
      this.search = element('input', 'tl-search');
      Object.assign(this.search, { type: 'search', placeholder: 'Function, goroutine id, label', ariaLabel: 'Search stacks for a function, goroutines by name or id, requests by label' });
      this.search.addEventListener('input', () => this.find(this.search.value));
      this.search.addEventListener('keydown', (e) => this.searchKey(e));
      this.found = element('span', 'tl-found');
      for (const name of ['only', 'path']) this[name] = Object.assign(element('input'), { type: 'checkbox', onchange: () => this.refilter() });
      bar.append(this.search, this.found, element('label', '', null, this.only, ' only these'));
      this.pathLabel = element('label', '', null, this.path, ' only the path of the request');
      this.pathLabel.hidden = true;
      bar.append(this.pathLabel);
      this.toggles = {};
      for (const [kind, text] of [...(this.view.stacks.length ? [['requests', 'Requests']] : []), ['procs', 'Procs'], ['threads', 'Threads'], ['goroutines', 'Goroutines']]) {
        this.toggles[kind] = S.button('', text, () => this.toggle(kind));
        bar.append(this.toggles[kind]);
      }
      const buttons = [['Longest wait', 'x', ''], ['+', 'w', 'zoom in'], ['−', 's', 'zoom out'], ['All', '0', 'show the whole trace'], ['?', '?', 'keys']];
      bar.append(element('span', 'tl-buttons', null, ...buttons.map(([text, key, title]) => S.button('', text, () => this.key(key), title))));
      this.notes = element('p', 'tl-note');
      this.content = element('div');
      this.drawer = element('aside', 'tl-drawer', null, S.button('tl-close', '×', () => this.unselect(), 'close'), this.content);
      this.drawer.ariaLabel = 'Details';
      this.frame = element('div', 'tl-frame', null, this.canvas, this.drawer);
      this.status = element('p', 'tl-status');
      this.status.role = 'status';
      this.tip = element('p', 'tl-tip', ' ');
      this.live = element('p', 'tl-live');
      this.live.ariaLive = 'polite';
      this.rest = element('div', 'tl-help', null, element('p', 'tl-hint', 'Click an interval, or press the arrow keys on the timeline, to see what it was, why, and in which stack. Click the timeline, or hold Ctrl, to zoom with the wheel.'), this.legend(), this.notes, this.helpBox());
      this.root.replaceChildren(bar, this.status, this.frame, this.tip, this.live);
      this.root.classList.add('tl');
      this.content.replaceChildren(this.rest);
      this.pressed();
      this.note();
    }

    // say writes what the mouse is on.
    say(text) {
      this.tip.textContent = text || ' ';
      if (!text) this.canvas.style.cursor = this.canvas.title = '';
    }

    // key does what a key on the canvas does.
    key(key) { this.input.key(new KeyboardEvent('keydown', { key })); }

    helpBox() {
      const list = element('dl', 'tl-keys');
      for (const [key, what] of T.KEYS) list.append(element('div', '', null, element('dt', '', key), element('dd', '', what)));
      return element('div', '', null, list, element('p', 'tl-hint', 'Arrows: from who woke a goroutine to where it ran; dashed ones from whom a proc stole. They appear when few enough are in view, and for what is selected.'));
    }

    legend() {
      const p = element('p', 'tl-legend');
      for (const [name, text] of [['running', 'running'], ['runnable', 'Runnable: waits to run'], ['waiting', 'Waiting'], ['syscall', 'system call'], ['blocked', 'SyscallBlocked: without proc'], ['searching', 'proc searching'], ['stopped', 'stopped'], ['gc', 'GC work'], ['idle', 'idle'], ['region', 'user region']]) {
        const mark = element('i', name);
        if (name !== 'region') mark.style.background = 'var(--state-' + name + ')';
        p.append(element('span', 'tl-key', null, mark, text), ' ');
      }
      return p;
    }

    // note says what of the trace is merged or missing.
    note() {
      const d = this.view.data, parts = [];
      const merged = d.classes.filter((c) => c.quantum > 0).map((c) => c.kind + ': ' + S.duration(c.quantum));
      if (merged.length) parts.push('Intervals shorter than a limit (' + merged.join(', ') + ') may be merged with their neighbours into columns of shares; longer ones are exact.');
      if (d.depth.quantum > 0) parts.push('The number of Runnable goroutines is exact where it stays for ' + S.duration(d.depth.quantum) + ', else mean and most.');
      if (d.omitted.lanes > 0) parts.push(S.plural(d.omitted.lanes, 'goroutine') + ' that waited least to run have no lane (' + S.plural(d.omitted.spans, 'interval') + ', ' + T.exact(d.omitted.times[2]) + ' Runnable, ' + T.exact(d.omitted.times[3]) + ' running).');
      if (d.least > 0) parts.push('Causes are kept of waits of at least ' + S.duration(d.least) + '.');
      if (d.stealsEvery > 1) parts.push('One of every ' + d.stealsEvery + ' steals is kept.');
      for (const [n, what] of [[d.stopsLost, 'stop'], [d.marksLost, 'mark phase'], [d.tasksLost, 'task'], [d.regionsLost, 'region']]) if (n > 0) parts.push(S.plural(n, what) + ' after the first 20,000 not shown.');
      if (this.load && !d.exact) parts.push('Zoom in to have more loaded.');
      if (this.failed) parts.push('Loading more failed: ' + this.failed);
      this.notes.textContent = parts.length ? parts.join(' ') : 'All intervals are exact.';
    }

    // follow keeps up with what changes around the canvas.
    follow() {
      new ResizeObserver(() => {
        const { view } = this;
        this.painter.resize(view);
        if (view.selected) view.reveal(view.selected.kind, view.selected.key); // the drawer may lie there now
        this.paint(); // at once: resizing has cleared the canvas
      }).observe(this.canvas);
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
        this.painter.theme();
        this.draw();
      });
      global.addEventListener('hashchange', () => this.readHash());
      this.readHash();
    }

    draw() {
      if (this.drawing) return;
      this.drawing = requestAnimationFrame(() => {
        this.drawing = 0;
        this.paint();
      });
    }

    paint() {
      this.painter.paint(this.view);
      this.frames++;
    }

    // moved is called when something else is seen.
    moved() {
      this.draw();
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.settled(), SOON);
      this.touched = true;
    }

    settled() {
      if (!this.input.drag) {
        this.view.arrange();
        this.draw();
      }
      if (this.touched) this.writeHash();
      this.loadMore();
    }

    // selected is called when something else is selected.
    selected() {
      const s = this.view.selected;
      this.open(s ? this.facts.build(s) : null);
      this.live.textContent = s ? T.headline(this.view, s) : '';
      this.moved();
    }

    // open shows something in the drawer, null what is there at first. On a small screen
    // the drawer is there only then.
    open(content) {
      this.content.replaceChildren(content || this.rest);
      this.drawer.classList.toggle('open', !!content);
      this.drawer.scrollTop = 0;
      if (content) this.frame.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    }

    unselect() {
      this.view.selected = null;
      this.selected();
    }

    // go selects what a lane did at t, and shows it.
    go(kind, key, t) {
      const { view } = this;
      if (!view.selectAt(kind, key, t)) return;
      view.reveal(kind, key);
      this.pressed();
      if (t < view.from || t > view.to) view.show(t - view.length / 2, t + view.length / 2);
      this.selected();
    }

    // step selects the interval before or after.
    step(by) {
      const { view } = this, s = view.selected;
      if (!s) return this.lane(1);
      const lane = view.laneOf(s.kind, s.key);
      if (!lane) return;
      let i = lane === s.lane ? s.i + by : T.find(lane, s.start) + by;
      if (i < lane.first || i >= lane.last) return;
      view.select(lane, i);
      const n = view.selected;
      if (n.start > view.to || n.end < view.from) view.show(n.start - view.length / 2, n.start + view.length / 2);
      this.selected();
    }

    // lane selects on the lane above or below what is there at the same time.
    lane(by) {
      const { view } = this, s = view.selected;
      let r = s ? view.places.get(s.kind + s.key) : -1;
      if (r === undefined) r = -1;
      const t = s && s.start >= view.from && s.start <= view.to ? s.start : (view.from + view.to) / 2;
      for (r += by; r >= 0 && r < view.rows.length; r += by) {
        const row = view.rows[r], lane = row.kind === 'lane' && view.lane(row);
        if (!lane || lane.last === lane.first) continue;
        view.select(lane, Math.min(T.find(lane, t), lane.last - 1));
        view.reveal(row.of, row.key);
        return this.selected();
      }
    }

    toSelection() {
      if (this.view.selected) this.around(this.view.selected);
    }

    around(s) { this.view.show(s.start - (s.end - s.start) * 0.5, s.end + (s.end - s.start) * 0.5); }

    toggle(kind) {
      this.view.collapsed[kind] = !this.view.collapsed[kind];
      this.relayOut();
    }

    pressed() {
      for (const kind of Object.keys(this.toggles)) this.toggles[kind].ariaPressed = String(!this.view.collapsed[kind]);
    }

    relayOut() {
      this.view.layOut();
      this.pressed();
      this.moved();
    }

    help() {
      this.say('');
      this.view.selected = null;
      this.open(this.drawer.classList.contains('open') && this.rest.isConnected ? null : this.rest);
    }

    // more shows the lanes that only wait in view, or hides them.
    more(kind) {
      this.view.all[kind] = !this.view.all[kind];
      this.relayOut();
    }

    focusSearch() {
      this.search.focus();
      this.search.select();
    }

    searchKey(e) {
      if (e.key === 'Enter') this.match(e.shiftKey ? -1 : 1);
      else if (e.key === 'Escape') this.canvas.focus();
      else return;
      e.preventDefault();
    }

    // find looks for goroutines by id or name, of which it hits the longest wait, those that
    // waited most first; for requests by their labels; and for functions in stacks: there it
    // hits the intervals that stopped in them, those that ran first, the longest ones first.
    find(text) {
      this.say('');
      const t = this.facts.looked = text.trim().toLowerCase(), named = [], stopped = [];
      this.hitAt = -1;
      let stacks = null;
      for (const lane of t ? this.view.every('goroutines') : []) {
        if (T.matches(lane, t)) {
          named.push({ key: lane.key, waited: lane.times[2] });
          continue;
        }
        const c = lane.cls;
        if (!stacks || stacks.of !== c.data) stacks = T.stacksWith(c.data, t);
        for (let i = lane.first; i < lane.last && stacks.any && stopped.length < MOST_HITS; i++) {
          if (c.draw[i] !== 2 && stacks.has[c.stack[i]]) stopped.push({ key: lane.key, t: c.start[i], ns: c.end[i] - c.start[i], ran: c.draw[i] === 3 ? 1 : 0 });
        }
      }
      named.sort((a, b) => b.waited - a.waited || a.key - b.key);
      stopped.sort((a, b) => b.ran - a.ran || b.ns - a.ns || a.t - b.t);
      const asked = S.drawn.filter((q) => t && q.trace === 0 && q.labels.toLowerCase().includes(t)).map((request) => ({ key: request.g, request }));
      this.hits = named.concat(asked, stopped);
      const parts = [[named, 'goroutine'], [asked, 'request'], [stopped, 'interval']].filter(([list]) => list.length).map(([list, what]) => (list.length === MOST_HITS ? 'at least ' : '') + S.plural(list.length, what));
      this.found.textContent = t ? (parts.join(', ') || '0') + ' found' : '';
      this.refilter();
    }

    refilter() {
      this.view.only = this.only.checked && this.facts.looked ? new Set(this.hits.map((x) => x.key)) : this.path.checked ? this.onPath : null;
      this.relayOut();
    }

    // choose shows when a request was, and only the goroutines of its path, in the path's order.
    choose(q) {
      const { view } = this;
      if (q.trace !== 0) return;
      if (view.selected) this.unselect();
      view.chosen = q;
      this.onPath = new Map(S.goroutinesOf(S.partsOf(q)).map((g, i) => [g, i]));
      this.path.checked = true;
      this.only.checked = this.pathLabel.hidden = false;
      view.collapsed.goroutines = false;
      view.show(q.start - q.ns / 20, q.start + q.ns * 1.05);
      this.refilter();
      if (view.stacks.length) view.scrollTo(0);
      this.live.textContent = S.requestLabel(q);
      const none = this.load ? 0 : [...this.onPath.keys()].filter((g) => !view.laneOf('goroutines', g)).length;
      this.status.textContent = none ? S.plural(none, 'goroutine') + ' of the path without a lane here.' : '';
    }

    // match goes to the next hit, or by -1 to the one before.
    match(by) {
      const n = this.hits ? this.hits.length : 0;
      if (n === 0) return;
      this.hitAt = this.hitAt < 0 ? (by > 0 ? 0 : n - 1) : (this.hitAt + by + n) % n;
      this.found.textContent = S.count(this.hitAt + 1) + ' of ' + S.count(n);
      const { key, t, request } = this.hits[this.hitAt], lane = this.view.laneOf('goroutines', key);
      if (request) S.choose(request);
      else if (lane) this.go('goroutines', key, t === undefined ? this.longest(lane) : t);
    }

    // worst goes to the longest wait of all.
    worst() {
      const { view } = this;
      let best = null;
      for (const lane of view.base.goroutines.lanes) {
        const c = lane.cls;
        for (let i = lane.first; i < lane.last; i++) {
          if (c.draw[i] === 2 && !T.isMixed(c, i) && (!best || c.end[i] - c.start[i] > best.ns)) best = { lane, i, ns: c.end[i] - c.start[i] };
        }
      }
      if (!best) return this.say('No goroutine waited to run.');
      const { start, end } = best.lane.cls;
      this.goto(start[best.i], end[best.i], best.lane.key);
      this.touched = true;
    }

    // longest returns when the longest wait of a lane began, within what is seen if there is any.
    longest(lane) {
      const c = lane.cls, { view } = this;
      let best = lane.first, length = -1, inside = false;
      for (let i = lane.first; i < lane.last; i++) {
        if (c.draw[i] !== 2 || T.isMixed(c, i)) continue;
        const here = c.start[i] >= view.from && c.start[i] <= view.to;
        if (here && !inside || here === inside && c.end[i] - c.start[i] > length) {
          best = i;
          length = c.end[i] - c.start[i];
          inside = here;
        }
      }
      return c.start[best];
    }

    // hover says in a line what the mouse is on.
    hover(p) {
      const { view } = this, r = p.area === 'lanes' ? view.rowAt(p.y) : -1, row = view.rows[r];
      const lane = row && row.kind === 'lane' ? view.lane(row) : null;
      const i = lane ? view.spanAt(lane, view.timeAt(p.x), 2 / view.width * view.length) : -1;
      let text = p.x >= 0 && p.x <= view.width ? T.full(view.timeAt(p.x)) : ' ';
      if (i >= 0) text += '  ' + T.headline(view, { lane, i, kind: row.of, key: row.key, start: lane.cls.start[i], end: lane.cls.end[i] });
      const group = row && row.kind === 'group', q = row && row.kind === 'requests' && view.requestAt(p, r);
      if (q) text += '  ' + S.requestLabel(q);
      this.canvas.style.cursor = group ? 'pointer' : '';
      this.canvas.title = group ? (view.collapsed[row.of] ? 'Show ' : 'Hide ') + row.of : '';
      this.tip.textContent = text;
    }

    // readHash goes where the address says.
    readHash() {
      const at = T.parseHash(location.hash);
      this.status.textContent = at && at.bad || '';
      if (at && !at.bad) this.goto(at.from, at.to, at.g);
    }

    // missing says what of a place is not in the trace, '' if nothing is.
    missing(from, to, g) {
      const { view } = this, parts = [];
      if (from !== null && from >= view.max) parts.push('The trace ends at ' + S.duration(view.max) + '.');
      else if (from !== null && to <= view.min) parts.push('What is shown of the trace begins at ' + S.duration(view.min) + '.');
      if (g !== null && !view.laneOf('goroutines', g)) parts.push('No goroutine ' + g + (view.base.omitted.lanes > 0 ? ' has a lane here.' : ' in this trace.'));
      return parts.join(' ');
    }

    goto(from, to, g) {
      const { view } = this;
      if (!(g >= 0)) g = null;
      this.status.textContent = this.missing(from, to, g);
      if (from === null) {
        const lane = view.laneOf('goroutines', g);
        if (lane) this.go('goroutines', g, this.longest(lane));
        return;
      }
      if (view.selected) this.unselect();
      view.show(from, to);
      if (g !== null) {
        view.reveal('goroutines', g);
        this.selectWithin(g, from, to);
        const s = view.selected;
        // With what was before and after, also if the address names only a moment of it.
        if (s && s.key === g && (s.start === from && s.end === to || to - from < 50)) this.around(s);
      }
      this.moved();
      this.touched = false; // the address says that already
    }

    // selectWithin selects the interval of a goroutine that takes most of a time.
    selectWithin(g, from, to) {
      const lane = this.view.laneOf('goroutines', g);
      if (!lane) return;
      const c = lane.cls;
      let best = -1, most = 0;
      for (let i = T.find(lane, from); i < lane.last && c.start[i] < to; i++) {
        const part = Math.min(c.end[i], to) - Math.max(c.start[i], from);
        if (part > most) [best, most] = [i, part];
      }
      if (best < 0) return;
      this.view.select(lane, best);
      this.selected();
    }

    writeHash() {
      const { view } = this, s = view.selected;
      const from = Math.floor(view.from);
      let hash = '#t=' + T.exact(from) + ',' + T.exact(Math.max(1, Math.round(view.to - from)));
      if (s ? s.kind === 'goroutines' : view.chosen) hash += '&g=' + (s ? s.key : view.chosen.g);
      if (location.hash !== hash) history.replaceState(null, '', hash);
    }

    // loadMore asks for the visible time, if what is there of it is too coarse.
    async loadMore() {
      const { view } = this;
      if (!this.load || view.data.exact) return;
      const coarse = Math.max(...view.data.classes.map((c) => c.quantum)) || 1e6;
      if (view.length / view.width > coarse * 4) return;
      const from = Math.max(view.min, Math.floor(view.from - view.length / 2)), to = Math.min(view.max, Math.ceil(view.to + view.length / 2));
      if (view.data !== view.base && to - from > (view.data.end - view.data.start) * 0.7) return;
      const now = this.loading;
      if (now && now.from <= Math.max(view.min, view.from) && now.to >= Math.min(view.max, view.to)) return;
      if (now) now.stop.abort(); // nobody looks there any more
      const mine = this.loading = { from, to, stop: new AbortController() };
      this.tip.textContent = 'Loading ' + T.full(from) + ' to ' + T.full(to);
      try {
        const data = T.decode(await S.inflate(await this.load(from, to, mine.stop.signal)));
        if (this.loading !== mine) return;
        data.start = Math.min(data.start, from); // all that was asked for is there, also where nothing happened
        data.end = Math.max(data.end, to);
        this.failed = '';
        view.detail = data;
        view.layOut();
        this.reselect();
        this.tip.textContent = ' ';
      } catch (err) {
        if (this.loading !== mine) return;
        this.failed = err && err.message || String(err);
        this.tip.textContent = ' ';
      }
      this.loading = null;
      this.note();
      this.draw();
      if (!this.failed) this.soon = setTimeout(() => this.settled(), SOON);
    }

    // reselect finds what is selected in data that has just come.
    reselect() {
      const s = this.view.selected;
      if (!s || !this.view.selectAt(s.kind, s.key, s.start)) return;
      this.content.replaceChildren(this.facts.build(this.view.selected));
    }
  }

  // load asks the program that serves the page for a part of the timeline.
  T.load = async function (from, to, signal) {
    let answer;
    try {
      answer = await fetch('spans?from=' + from + '&to=' + to, { signal });
    } catch (err) {
      if (signal && signal.aborted) throw err;
      throw new Error('the server of this page has ended; start schedscope view again.');
    }
    if (!answer.ok) throw new Error(await answer.text());
    return answer.arrayBuffer();
  };

  // mount returns {ready, goto, state}: ready ends when the timeline is drawn.
  T.mount = function (root, options) {
    const app = new App(root, options);
    const ready = (async () => {
      root.replaceChildren(element('p', 'tl-hint', 'Reading the timeline…'));
      try {
        const traces = options.report && options.report.traces || [];
        const span = traces.length ? traces[0].start_ns + traces[0].span_ns : Number.MAX_SAFE_INTEGER;
        const blob = options.blob || await options.load(traces.length ? traces[0].start_ns : 0, span);
        app.start(T.decode(await S.inflate(blob)));
      } catch (err) {
        root.replaceChildren(element('p', 'tl-hint', 'The timeline cannot be shown: ' + (err && err.message || err)));
        throw err;
      }
    })();
    return root.timeline = {
      ready,
      goto(from, to, g) { ready.then(() => app.goto(from, to, g)); },
      choose(q) { ready.then(() => app.choose(q)); },
      // For tests: where a request or a lane is at a time; what is seen, and how often it was drawn.
      requestPlace(q) { return [app.painter.gutter + app.view.xOf(q.start + q.ns / 2), app.painter.top + app.view.tops[1] - app.view.scroll + 5 + 8 * app.view.stacks.findIndex((line) => line.includes(q))]; },
      place(kind, key, t) { return [app.painter.gutter + app.view.xOf(t), app.painter.top + app.painter.y(app.view, kind, key)]; },
      state() {
        const v = app.view, s = v.selected, p = app.painter;
        return { from: v.from, to: v.to, min: v.min, max: v.max, frames: app.frames, exact: v.data.exact, requests: v.stacks, goroutines: v.rows.filter((row) => row.kind === 'lane' && row.of === 'goroutines').map((row) => row.key), selected: s && { kind: s.kind, key: s.key, start: s.start, end: s.end, x: p.gutter + v.xOf((s.start + s.end) / 2), y: p.top + p.y(v, s.kind, s.key) } };
      },
    };
  };
})(window);
