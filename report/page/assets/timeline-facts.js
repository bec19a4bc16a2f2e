// What is known of an interval: in a word for the canvas, in full for the drawer.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline, S = global.Schedscope, element = S.element;
  const RUNNABLE = 2, RUNNING = 3, WAITING = 4; // states of goroutines
  const FIRST = ['Why it waited', 'Ran meanwhile', 'Woken by', 'Created by', 'Reason', 'Had waited', 'It had waited', 'Ran', 'Work']; // above the stack
  const PSEUDO = ['', 'no wait: left a system call with a proc in hand', 'no wait: switched to by another coroutine'];

  T.personName = (p) => p ? 'G' + p.id + (p.name ? ' ' + p.name : '') : '';

  // place returns the innermost frame of the program in a stack, null if there is none.
  const place = (d, ref) => ref > 0 && d.stacks[ref - 1].place >= 0 ? d.frames[d.stacks[ref - 1].frames[d.stacks[ref - 1].place]] : null;

  // ranIn returns the function of the program in which a goroutine was when the interval i
  // ended in which it ran, or the name of the goroutine.
  function ranIn(c, i, p) {
    const f = place(c.data, c.stack[i]);
    return S.shortName(f ? c.data.strings[f.fn] : p && p.name || '');
  }

  // turnOf returns the place of the goroutine's interval that a proc ran at t, null if it is not there.
  function turnOf(d, p, t) {
    const lane = p && d.goroutines.byKey.get(p.id), i = lane ? T.find(lane, t) : 0;
    return lane && i < lane.last && lane.cls.draw[i] === RUNNING && lane.cls.start[i] <= t && !T.isMixed(lane.cls, i) ? { lane, i } : null;
  }

  // caption returns what to write into an interval on the canvas.
  T.caption = function (lane, i) {
    const c = lane.cls, d = c.data;
    if (c.kind === 'goroutines') {
      const state = c.states[c.draw[i]];
      if (c.draw[i] === WAITING) return d.strings[c.reason[i] - 1] || state;
      return c.draw[i] === RUNNING && ranIn(c, i, lane.person) || state;
    }
    const person = d.people[c.g[i]], turn = turnOf(d, person, c.start[i]);
    if (turn) return ranIn(turn.lane.cls, turn.i, person) || 'G' + person.id;
    return person ? 'G' + person.id + ' ' + S.shortName(person.name) : c.states[c.head[i] & 7];
  };

  // waitBefore returns the index of the wait that a goroutine's Running interval beginning
  // at start ended, -1 if there is none.
  function waitBefore(lane, start) {
    const c = lane.cls, i = T.find(lane, start) - 1;
    return i >= lane.first && c.draw[i] === RUNNABLE && c.end[i] === start && !T.isMixed(c, i) ? i : -1;
  }

  // wakeFor describes how the wait i of a lane began, and where it ended.
  function wakeFor(d, lane, i, proc) {
    const c = lane.cls;
    return { time: c.start[i], ran: c.end[i], byProc: c.proc[i] - 1, proc, by: d.people[c.g[i]], g: lane.key };
  }

  // wakes returns how what runs in the visible time was woken, nothing if it is more than most.
  T.wakes = function (view, d, most) {
    const c = d.procs, list = [];
    let count = 0;
    const parts = c.lanes.map((lane) => [lane, T.find(lane, view.from), Math.min(lane.last, T.find(lane, view.to) + 1)]);
    for (const [, from, to] of parts) count += to - from;
    if (count > 4 * most) return list;
    for (const [lane, from, to] of parts) {
      for (let i = from; i < to; i++) {
        const person = d.people[c.g[i]];
        if (!person || T.isMixed(c, i) || c.states[c.head[i] & 7] !== 'running') continue;
        const g = d.goroutines.byKey.get(person.id);
        const w = g ? waitBefore(g, c.start[i]) : -1;
        if (w >= 0) list.push(wakeFor(d, g, w, lane.key));
      }
    }
    return list.length > most ? [] : list;
  };

  // wakeOf returns how the selected interval began, null if nobody is known to have woken it.
  T.wakeOf = function (s) {
    let { data: d, lane, i } = s;
    if (s.kind === 'threads') return null;
    if (s.kind === 'procs') {
      const person = d.people[lane.cls.g[i]];
      lane = person && !T.isMixed(lane.cls, i) && d.goroutines.byKey.get(person.id);
      if (!lane) return null;
      i = waitBefore(lane, s.start);
    } else if (lane.cls.draw[i] === RUNNING) {
      i = waitBefore(lane, s.start);
    }
    if (i < 0 || lane.cls.draw[i] !== RUNNABLE || T.isMixed(lane.cls, i)) return null;
    const c = lane.cls, next = i + 1 < lane.last && c.draw[i + 1] === RUNNING && c.start[i + 1] === c.end[i] && !T.isMixed(c, i + 1);
    return wakeFor(d, lane, i, next ? c.proc[i + 1] - 1 : -1);
  };

  // time returns a length with three digits, which has all of them for who asks.
  function time(ns) {
    const e = element('span', '', S.duration(ns));
    e.title = T.full(ns);
    return e;
  }

  // openness says what of an interval was not seen.
  function openness(head) {
    const parts = [];
    if (head & 8) parts.push('began before');
    if (head & 16) parts.push('went on after');
    return parts.length ? ' (' + parts.join(' and ') + ' what was recorded or loaded: longer than that)' : '';
  }

  // headline returns in one line what is selected.
  T.headline = function (view, s) {
    const c = s.lane.cls, what = T.isMixed(c, s.i) ? S.count(c.mixes[c.extra[s.i]].spans) + ' short intervals' : c.states[c.head[s.i] & 7];
    return view.label(s.kind, s.key) + ': ' + what + ' for ' + S.duration(s.end - s.start) + ' from ' + T.full(s.start);
  };

  // Facts builds the drawer for what is selected.
  T.Facts = class Facts {
    // go is called with kind, key and time of what a button leads to.
    constructor(view, go) { this.view = view; this.go = go; }

    build(s) {
      const c = s.lane.cls, d = s.data, i = s.i;
      this.first = element('dl', 'tl-facts');
      this.rest = element('dl', 'tl-facts');
      this.stacks = element('div', 'tl-stacks');
      this.d = d;
      if (T.isMixed(c, i)) this.mixture(c, i);
      else if (s.kind === 'goroutines') this.goroutine(s.lane, i);
      else this.other(s.lane, i);
      if (s.kind === 'goroutines' && c.draw[i] !== RUNNING && !T.isMixed(c, i)) this.ran('Ran meanwhile', d.procs.lanes, s.start, s.end);
      this.meanwhile(s);
      this.add('From', T.full(s.start));
      this.add('To', T.full(s.end));
      this.add('Length', T.full(s.end - s.start) + openness(c.head[i]));
      this.inView(s);
      return element('div', 'tl-detail', null, element('h3', '', T.headline(this.view, s)), this.first, this.stacks, this.rest);
    }

    // ran lists what procs ran within a time: what took longest first.
    ran(title, lanes, from, to) {
      const sums = new Map(), c = this.d.procs;
      for (const lane of lanes) {
        for (let i = T.find(lane, from); i < lane.last && c.start[i] < to; i++) {
          const p = this.d.people[c.g[i]], ns = Math.min(c.end[i], to) - Math.max(c.start[i], from);
          if (!p || T.isMixed(c, i) || c.colours[c.head[i] & 7] !== 'running') continue;
          const x = sums.get(p.id) || { p, ns: 0, most: 0 };
          if (ns > x.most) [x.most, x.at, x.turn] = [ns, c.start[i], turnOf(this.d, p, c.start[i])];
          x.ns += ns;
          sums.set(p.id, x);
        }
      }
      const list = element('ul', 'tl-causes');
      for (const x of [...sums.values()].sort((a, b) => b.ns - a.ns).slice(0, 3)) {
        const name = x.turn ? ranIn(x.turn.lane.cls, x.turn.i, x.p) : S.shortName(x.p.name);
        list.append(element('li', '', null, time(x.ns), ' ', this.link(name + ' (G' + x.p.id + ')', 'goroutines', x.p.id, x.at)));
      }
      if (sums.size > 3) list.append(element('li', '', 'and ' + S.plural(sums.size - 3, 'goroutine') + ' more'));
      if (sums.size) this.add(title, list);
    }

    // inView adds up what the lane did in the visible time.
    inView(s) {
      const { from, to } = this.view, c = s.lane.cls, parts = [];
      T.timesIn(s.lane, from, to).forEach((ns, state) => {
        if (ns >= 1) parts.push((c.states[state] || 'GC work') + ' ' + S.duration(ns));
      });
      this.add('In view', parts.join(', '));
      if (s.kind === 'procs') this.ran('Ran in view', [s.lane], from, to);
    }

    add(name, ...what) {
      const dd = element('dd');
      dd.append(...what);
      (FIRST.includes(name) ? this.first : this.rest).append(element('div', '', null, element('dt', '', name), dd));
    }

    // link makes a button that leads somewhere.
    link(text, kind, key, t) {
      return S.button('tl-link', text, () => this.go(kind, key, t));
    }

    person(name, p, t) {
      if (p) this.add(name, this.link(T.personName(p), 'goroutines', p.id, t));
    }

    mixture(c, i) {
      const m = c.mixes[c.extra[i]];
      this.add('Merged', S.plural(m.spans, 'interval') + ' shorter than ' + S.duration(c.quantum) + ' each, in an order that is not kept');
      m.times.forEach((ns, state) => {
        if (ns > 0) this.add(c.states[state], time(ns));
      });
    }

    goroutine(lane, i) {
      const c = lane.cls, state = c.draw[i];
      if (state === RUNNABLE) return this.wait(lane, i);
      if (c.proc[i] > 0) this.proc('Proc', c.proc[i] - 1, c.start[i], c.thread[i]);
      if (state === WAITING) this.add('Reason', this.d.strings[c.reason[i] - 1] || 'not recorded');
      const next = i + 1 < lane.last && !T.isMixed(c, i + 1) && c.start[i + 1] === c.end[i] ? i + 1 : -1;
      if (next >= 0) {
        const reason = this.d.strings[c.reason[next] - 1];
        this.add('Then', this.link(c.states[c.draw[next]] + (state === RUNNING && reason ? ': ' + reason : ''), 'goroutines', lane.key, c.start[next]));
        if (state === WAITING && c.draw[next] === RUNNABLE) this.person('Woken by', this.d.people[c.g[next]], c.start[next]);
      } else if (i + 1 === lane.last && !(c.head[i] & 16)) {
        this.add('Then', 'it ended');
      }
      const before = state === RUNNING ? waitBefore(lane, c.start[i]) : -1;
      if (before >= 0) this.add('Had waited', this.link(S.duration(c.end[before] - c.start[before]), 'goroutines', lane.key, c.start[before]));
      this.stack(state === RUNNING ? 'Stopped in' : state === WAITING ? 'Blocked in' : 'Had stopped in', c.stack[i]);
    }

    // proc names a proc, and the thread that had it.
    proc(name, proc, t, thread) {
      const id = this.d.threadIds[thread];
      this.add(name, this.link('P' + proc, 'procs', proc, t), ...(thread > 0 ? [', thread ', this.link('M' + id, 'threads', id, t)] : []));
    }

    // wait says why a goroutine became Runnable, and what its wait was lost to.
    wait(lane, i) {
      const c = lane.cls, w = this.d.words, detail = c.detail[i];
      this.add('Became Runnable', 'origin: ' + w.origins[detail & 15] + (PSEUDO[detail >> 4] ? '; ' + PSEUDO[detail >> 4] : ''));
      this.person((detail & 15) === 1 ? 'Created by' : 'Woken by', this.d.people[c.g[i]], c.start[i]);
      if (c.proc[i] > 0) this.proc('On proc', c.proc[i] - 1, c.start[i], 0);
      const reason = this.d.strings[c.reason[i] - 1];
      if (reason) this.add('Reason', reason);
      if (c.head[i] & 64) this.causes(c.waits[c.extra[i]]);
      const ran = T.wakeOf({ data: this.d, lane, i, kind: 'goroutines', start: c.start[i] });
      if (ran && ran.proc >= 0) this.proc('Then ran on', ran.proc, c.end[i], 0);
      this.stack('Had stopped in', c.stack[i]);
      this.stack((detail & 15) === 1 ? 'Created in' : 'Readied in', c.wakerStack[i]);
    }

    causes(x) {
      const w = this.d.words;
      let from = w.sources[x.source];
      if (x.from >= 0) from += ' from P' + x.from;
      this.add('Taken from', from + ' (' + w.grades[x.grade] + ')');
      if (x.lastP >= 0) this.add('Waited for', 'P' + x.lastP);
      const list = element('ul', 'tl-causes'), few = element('li'), whole = x.cells.reduce((sum, cell) => sum + cell.ns, 0);
      for (const cell of x.cells) {
        const part = element('span', '', null, time(cell.ns), ' ' + w.causes[cell.cause]);
        part.title = w.meanings[cell.cause] || '';
        if (cell.ns >= whole / 20) list.append(element('li', '', null, part));
        else few.append(few.firstChild ? ', ' : '', part); // next to nothing: all in one line
      }
      if (few.firstChild) list.append(few);
      this.add('Why it waited', list);
    }

    // other describes procs and threads.
    other(lane, i) {
      const c = lane.cls;
      this.person(c.states[c.head[i] & 7] === 'running' ? 'Ran' : 'Goroutine', this.d.people[c.g[i]], c.start[i]);
      if (c.kind === 'procs' && c.states[c.head[i] & 7] === 'running') this.add('Work', this.d.words.works[c.detail[i]]);
      if (c.thread[i] > 0) this.add('Thread', this.link('M' + this.d.threadIds[c.thread[i]], 'threads', this.d.threadIds[c.thread[i]], c.start[i]));
      if (c.kind === 'threads' && c.proc[i] > 0) this.proc('Proc', c.proc[i] - 1, c.start[i], 0);
      const wake = T.wakeOf({ data: this.d, lane, i, kind: c.kind, start: c.start[i] });
      if (wake) this.add('It had waited', this.link(S.duration(wake.ran - wake.time), 'goroutines', wake.g, wake.time));
      const turn = turnOf(this.d, this.d.people[c.g[i]], c.start[i]);
      if (turn) this.stack('Stopped in', turn.lane.cls.stack[turn.i]);
    }

    // meanwhile lists stops and marks that overlap.
    meanwhile(s) {
      const over = (x, end) => x.start < s.end && end > s.start;
      const stops = s.data.stops.filter((x) => over(x, x.running));
      this.some('The world stopped', stops, (x) => x.reason + ' at ' + T.full(x.start) + ' for ' + S.duration(x.running - x.start));
      if (s.kind === 'goroutines') {
        const named = (x) => (x.name || 'without name') + ' for ' + S.duration(x.end - x.start) + openness(x.open << 3);
        this.some('In regions', (s.data.regionsOf.get(s.key) || []).filter((x) => over(x, x.end)), named);
        this.some('Tasks it had begun', s.data.tasks.filter((x) => x.person && x.person.id === s.key && over(x, x.end)), named);
      }
      if (s.data.marks.some((x) => over(x, x.end))) this.add('Meanwhile', 'the garbage collector marked');
    }

    // some adds the first three of a list, nothing if it is empty.
    some(name, list, text) {
      if (list.length) this.add(name, list.slice(0, 3).map(text).join('; ') + (list.length > 3 ? ' and ' + (list.length - 3) + ' more' : ''));
    }

    // stack shows a stack: functions without the paths of their packages, files without
    // those of their folders, which show on demand.
    stack(title, ref) {
      const stack = this.d.stacks[ref - 1];
      if (!stack || stack.frames.length === 0) return;
      const list = element('ol', 'tl-stack');
      stack.frames.forEach((n, i) => {
        const f = this.d.frames[n], fn = this.d.strings[f.fn], where = this.d.strings[f.file] + ':' + f.line;
        const name = element(this.looked && fn.toLowerCase().includes(this.looked) ? 'mark' : 'span', '', S.shortName(fn));
        const li = element('li', i === stack.place ? 'tl-place' : '', null, name, ' ', element('span', 'tl-file', where.slice(where.lastIndexOf('/') + 1)));
        li.title = fn + '\n' + where;
        list.append(li);
      });
      this.stacks.append(element('div', '', null, element('h4', '', title), list));
    }
  };
})(window);
