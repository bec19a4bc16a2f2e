// Mouse, touch and keys on the canvas.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline, S = global.Schedscope;
  const PAGE_KEYS = ['/', '?', 'w', 'a', 's', 'd'];
  const SLACK = 2; // pixels next to a short interval that still mean it

  T.KEYS = [
    ['w, + / s, -', 'zoom in, out'], ['a / d', 'move to the left, right'], ['wheel', 'once clicked, or with Ctrl: zoom where the mouse is; over the names: scroll'],
    ['drag', 'move; over the overview: choose a time'], ['touch', 'move in time; over the names: scroll'], ['shift + drag', 'zoom to what is marked'], ['← →', 'interval before, after'], ['↑ ↓', 'lane above, below'],
    ['Page Up, Page Down', 'scroll'], ['f', 'zoom to the selected interval'], ['0', 'show the whole trace'], ['/', 'search'], ['n / N', 'next, previous hit'], ['x', 'the longest wait'], ['m', 'also lanes that do nothing in view'],
    ['click', 'select: what it is, and why'], ['Esc', 'select nothing'], ['?', 'this help'],
  ];

  // Input turns what happens on the canvas into calls of app: moved, select, and others.
  T.Input = class Input {
    constructor(app) {
      this.app = app;
      const canvas = app.canvas;
      canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
      canvas.addEventListener('pointerdown', (e) => this.down(e));
      canvas.addEventListener('pointermove', (e) => this.move(e));
      canvas.addEventListener('pointerup', (e) => this.up(e));
      canvas.addEventListener('pointercancel', (e) => {
        this.drag = null;
        app.view.marked = null;
        app.draw();
      });
      canvas.addEventListener('pointerleave', () => app.say(''));
      // A finger moves the page up and down, and over the names the lanes.
      canvas.addEventListener('touchstart', (e) => {
        const area = this.place(e.touches[0]).area;
        if (area === 'names' || area === 'bar') e.preventDefault();
      }, { passive: false });
      canvas.addEventListener('keydown', (e) => this.key(e));
      document.addEventListener('keydown', (e) => this.pageKey(e));
    }

    // pageKey takes the keys that nothing else on the page wants, if the timeline can be seen.
    pageKey(e) {
      if (e.target !== document.body && e.target !== document.documentElement || !PAGE_KEYS.includes(e.key)) return;
      const box = this.app.canvas.getBoundingClientRect();
      if (box.bottom > 40 && box.top < global.innerHeight - 40) this.key(e);
    }

    // place returns where on the canvas an event is: x and y of the lanes.
    place(e) {
      const box = this.app.canvas.getBoundingClientRect(), p = this.app.painter;
      const x = e.clientX - box.left - p.gutter, y = e.clientY - box.top;
      const area = y < T.MAP ? 'map' : y < p.top ? 'axis' : x < 0 ? 'names' : x > this.app.view.width ? 'bar' : 'lanes';
      return { x, y: y - p.top, area };
    }

    wheel(e) {
      const { view } = this.app, p = this.place(e);
      const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? view.height : 1;
      const dy = e.deltaY * unit, dx = e.deltaX * unit;
      const meant = e.ctrlKey || e.metaKey;
      if (!meant && document.activeElement !== this.app.canvas) return; // the page scrolls
      const before = [view.from, view.to, view.scroll].join();
      if (!meant && (e.shiftKey || p.area === 'names' || p.area === 'bar')) view.scrollTo(view.scroll + (dy || dx));
      else if (Math.abs(dx) > Math.abs(dy)) view.pan(dx / view.width * view.length);
      else view.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) * 0.003), view.timeAt(Math.max(0, p.x)));
      if (!meant && before === [view.from, view.to, view.scroll].join()) return; // at the limit the page moves
      e.preventDefault();
      this.app.moved();
    }

    down(e) {
      if (e.button !== 0) return;
      const p = this.place(e), { view } = this.app;
      try {
        this.app.canvas.setPointerCapture(e.pointerId);
      } catch { /* it is gone already */ }
      this.app.canvas.focus({ preventScroll: true });
      this.drag = { ...p, mode: e.shiftKey && p.area === 'lanes' ? 'mark' : p.area, from: view.from, to: view.to, scroll: view.scroll, moved: false };
      if (p.area === 'map') this.toMap(p.x);
    }

    move(e) {
      const g = this.drag, { view } = this.app;
      const p = this.place(e);
      if (!g) return this.app.hover(p);
      if (Math.hypot(p.x - g.x, p.y - g.y) > 3) g.moved = true;
      if (!g.moved) return;
      if (g.mode === 'map') this.toMap(p.x);
      else if (g.mode === 'bar') view.scrollTo(g.scroll + (p.y - g.y) / view.height * view.total);
      else if (g.mode === 'mark') view.marked = [Math.min(g.x, p.x), Math.max(g.x, p.x)].map((x) => view.timeAt(Math.max(0, x)));
      else {
        const ns = (g.x - p.x) / view.width * (g.to - g.from);
        if (g.mode !== 'names') view.show(g.from + ns, g.to + ns);
        if (e.pointerType !== 'touch' || g.mode === 'names') view.scrollTo(g.scroll + g.y - p.y);
      }
      this.app.moved();
    }

    up(e) {
      const g = this.drag, { view } = this.app;
      this.drag = null;
      if (!g) return;
      if (view.marked) {
        const [from, to] = view.marked;
        view.marked = null;
        view.show(from, to);
      } else if (!g.moved && g.area !== 'map') {
        this.click(this.place(e));
      }
      this.app.moved();
    }

    toMap(x) {
      const { view } = this.app;
      const t = view.min + x / view.width * (view.max - view.min), half = view.length / 2;
      view.show(t - half, t + half);
      this.app.moved();
    }

    click(p) {
      const { view } = this.app, r = p.area === 'axis' ? -1 : view.rowAt(p.y), row = view.rows[r];
      if (!row) return;
      if (row.kind === 'group') return this.app.toggle(row.of);
      if (row.kind === 'more') return this.app.more(row.of);
      const q = row.kind === 'requests' && view.requestAt(p, r);
      if (q) S.choose(q);
      const lane = row.kind === 'lane' && view.lane(row);
      if (!lane) return;
      const i = p.area === 'names' ? T.find(lane, view.from) : view.spanAt(lane, view.timeAt(p.x), SLACK / view.width * view.length);
      view.select(lane, Math.min(i, lane.last - 1));
      this.app.selected();
    }

    key(e) {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const { app } = this, { view } = app, middle = (view.from + view.to) / 2;
      const at = view.selected && view.selected.start < view.to && view.selected.end > view.from ? Math.max(view.from, Math.min(view.to, (view.selected.start + view.selected.end) / 2)) : middle;
      const actions = {
        w: () => view.zoom(0.7, at), '+': () => view.zoom(0.7, at), '=': () => view.zoom(0.7, at),
        s: () => view.zoom(1 / 0.7, at), '-': () => view.zoom(1 / 0.7, at),
        a: () => view.pan(-view.length / 5), d: () => view.pan(view.length / 5),
        PageUp: () => view.scrollTo(view.scroll - view.height * 0.9), PageDown: () => view.scrollTo(view.scroll + view.height * 0.9),
        Home: () => view.scrollTo(0), End: () => view.scrollTo(view.total),
        0: () => view.show(view.min, view.max), f: () => app.toSelection(),
        ArrowLeft: () => app.step(-1), ArrowRight: () => app.step(1), ArrowUp: () => app.lane(-1), ArrowDown: () => app.lane(1),
        n: () => app.match(1), x: () => app.worst(), m: () => app.more('goroutines'), N: () => app.match(-1), '/': () => app.focusSearch(), '?': () => app.help(), Escape: () => app.unselect(),
      };
      const action = actions[e.key] || actions[e.key.toLowerCase && e.key.length === 1 && e.key !== 'N' ? e.key.toLowerCase() : ''];
      if (!action) return;
      e.preventDefault();
      app.say('');
      action();
      app.moved();
    }
  };
})(window);
