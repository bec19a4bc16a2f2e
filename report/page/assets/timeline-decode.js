// Reads what package report/timeline encodes; its encode.go says what is where.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline = global.SchedscopeTimeline || {};

  const MAGIC = 'schedscope timeline';
  const BLOCK = T.BLOCK = 16; // spans whose times are added up in advance
  const COLUMNS = ['g', 'thread', 'proc', 'reason', 'stack', 'wakerStack', 'detail']; // from the fourth on
  const GC_WORK = [1, 2, 3, 4]; // of words.works
  const STATES = { // what is drawn in which colour
    running: 'running', Running: 'running', runnable: 'runnable', Runnable: 'runnable', Waiting: 'waiting',
    Syscall: 'syscall', syscall: 'syscall', SyscallBlocked: 'blocked', 'syscall-blocked': 'blocked',
    idle: 'idle', 'no-proc': 'idle', searching: 'searching', stopped: 'stopped',
  };

  // Reader reads varints.
  class Reader {
    constructor(bytes) { this.b = bytes; this.at = 0; }

    u() {
      const b = this.b;
      let v = 0;
      for (let scale = 1; ; scale *= 128) {
        if (this.at >= b.length) throw new Error('the timeline is cut off');
        const x = b[this.at++];
        if (x < 128) return v + x * scale;
        v += (x - 128) * scale;
      }
    }

    signed() {
      const v = this.u();
      return v % 2 === 0 ? v / 2 : -(v + 1) / 2;
    }

    bytes() {
      const n = this.u();
      if (this.at + n > this.b.length) throw new Error('the timeline is cut off');
      const part = this.b.subarray(this.at, this.at + n);
      this.at += n;
      return part;
    }

    text() { return decoder.decode(this.bytes()); }

    list(one) {
      const n = this.u(), list = [];
      for (let i = 0; i < n; i++) list.push(one(this));
      return list;
    }

    times() { return Float64Array.from({ length: 8 }, () => this.u()); }
  }
  const decoder = new TextDecoder();

  // decode returns all that is in an encoding.
  T.decode = function (bytes) {
    const r = new Reader(bytes);
    if (decoder.decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) throw new Error('this is not a timeline');
    r.at = MAGIC.length;
    const version = r.u();
    if (version !== 2) throw new Error('a timeline of version ' + version + ' cannot be read by this page');
    const d = { start: r.u(), end: r.u() };
    const lists = r.list((r) => r.list((r) => r.text()));
    d.words = { states: lists.slice(0, 3), works: lists[3], origins: lists[4], causes: lists[5], meanings: lists[6], sources: lists[7], grades: lists[8] };
    tables(r, d);
    d.goroutines = readClass(r, d, 'goroutines', d.words.states[0]);
    d.procs = readClass(r, d, 'procs', d.words.states[1]);
    d.threads = readClass(r, d, 'threads', d.words.states[2]);
    d.classes = [d.procs, d.threads, d.goroutines];
    d.omitted = { lanes: r.u(), spans: r.u(), times: r.times() };
    d.least = r.u();
    d.depth = readDepth(r, d.start);
    readBands(r, d);
    d.exact = d.classes.every((c) => c.quantum === 0) && d.omitted.lanes === 0;
    return d;
  };

  function tables(r, d) {
    d.strings = r.list((r) => r.text());
    d.frames = r.list((r) => ({ fn: r.u(), file: r.u(), line: r.u() }));
    d.stacks = r.list((r) => {
      const place = r.u() - 1;
      return { place, frames: r.list((r) => r.u()) };
    });
    d.people = [null];
    d.personOf = new Map();
    let id = 0;
    r.list((r) => {
      id += r.u();
      const p = { id, name: d.strings[r.u() - 1] || '', system: r.u() === 1 };
      d.personOf.set(id, p);
      d.people.push(p);
    });
    d.threadIds = [-1];
    id = 0;
    r.list((r) => d.threadIds.push(id += r.u()));
  }

  function readClass(r, d, kind, states) {
    const c = { data: d, kind, states, quantum: r.u(), lanes: [], byKey: new Map() };
    c.colours = states.map((name) => STATES[name] || '');
    const sets = [];
    for (let i = 0; i < 8; i++) sets.push(r.u());
    let total = 0;
    r.list((r) => {
      const ref = r.u(), count = r.u();
      const lane = { key: ref, first: total, last: total + count, told: r.u(), ended: r.u() === 1, times: r.times(), cls: c };
      if (kind === 'goroutines') Object.assign(lane, { key: d.people[ref].id, person: d.people[ref] });
      if (kind === 'threads') lane.key = d.threadIds[ref];
      c.lanes.push(lane);
      c.byKey.set(lane.key, lane);
      total += count;
    });
    readSpans(r.list((r) => new Reader(r.bytes())), d.start, c, sets, total);
    for (const lane of c.lanes) addUp(c, lane);
    return c;
  }

  // readSpans reads all spans of a class into arrays with one element per span.
  function readSpans(cols, from, c, sets, n) {
    c.start = new Float64Array(n);
    c.end = new Float64Array(n);
    c.head = new Uint8Array(n);
    c.draw = new Uint8Array(n); // the state, 7 if it is work of the garbage collector
    c.extra = new Int32Array(n); // place in mixes or waits
    c.mixes = [];
    c.waits = [];
    for (const name of COLUMNS) c[name] = new Int32Array(n);
    const gc = new Set(c.kind === 'procs' ? GC_WORK : []);
    for (const lane of c.lanes) {
      let at = from;
      for (let i = lane.first; i < lane.last; i++) {
        const head = cols[0].u(), state = head & 7;
        c.head[i] = head;
        c.draw[i] = state;
        c.start[i] = at + cols[1].signed();
        c.end[i] = at = c.start[i] + cols[2].u();
        if (head & 32) {
          c.extra[i] = c.mixes.length;
          c.mixes.push({ times: cols[10].times(), spans: cols[10].u() });
          continue;
        }
        for (let k = 0; k < COLUMNS.length; k++) {
          if (sets[state] & (8 << k)) c[COLUMNS[k]][i] = cols[3 + k].u();
        }
        if (gc.has(c.detail[i]) && c.colours[state] === 'running') c.draw[i] = 7;
        if (head & 64) {
          c.extra[i] = c.waits.length;
          const w = cols[11];
          c.waits.push({ source: w.u(), grade: w.u(), lastP: w.u() - 1, from: w.u() - 1, cells: w.list((w) => ({ cause: w.u(), ns: w.u() })) });
        }
      }
    }
  }

  // add adds a part of an interval to the times of states.
  T.add = function (times, c, i, part) {
    if (c.head[i] & 32) {
      const mixed = c.mixes[c.extra[i]].times, share = part / (c.end[i] - c.start[i]);
      for (let s = 0; s < 8; s++) times[s] += share === 1 ? mixed[s] : mixed[s] * share;
    } else {
      times[c.draw[i]] += part;
    }
  };

  // timesIn returns how long a lane was in which state within a time.
  T.timesIn = function (lane, from, to) {
    const c = lane.cls, times = new Float64Array(8);
    for (let i = T.find(lane, from); i < lane.last && c.start[i] < to;) {
      const at = i - lane.first;
      if (at % BLOCK === 0 && c.start[i] >= from && i + BLOCK <= lane.last && c.end[i + BLOCK - 1] <= to) {
        for (let s = 0, o = at / BLOCK * 8; s < 8; s++) times[s] += lane.sums[o + s];
        i += BLOCK;
      } else {
        T.add(times, c, i, Math.min(c.end[i], to) - Math.max(c.start[i], from));
        i++;
      }
    }
    return times;
  };

  // addUp adds up the times of each block of a lane's spans.
  function addUp(c, lane) {
    const n = Math.floor((lane.last - lane.first) / BLOCK);
    const sums = lane.sums = new Float64Array(n * 8);
    for (let b = 0; b < n; b++) {
      for (let i = lane.first + b * BLOCK, end = i + BLOCK; i < end; i++) {
        T.add(sums.subarray(b * 8), c, i, c.end[i] - c.start[i]);
      }
    }
  }

  function readDepth(r, from) {
    const quantum = r.u(), n = r.u();
    const d = { quantum, n, start: new Float64Array(n), end: new Float64Array(n), most: new Float64Array(n), mean: new Float64Array(n), idle: new Float64Array(n), peak: 0 };
    let at = from;
    for (let i = 0; i < n; i++) {
      d.start[i] = at + r.signed();
      const length = r.u();
      d.end[i] = at = d.start[i] + length;
      d.most[i] = r.u();
      d.mean[i] = d.most[i] - r.u() / length;
      d.idle[i] = r.u() / length;
      r.u(); // procs
      d.peak = Math.max(d.peak, d.most[i]);
    }
    return d;
  }

  function readBands(r, d) {
    const rows = (one) => {
      let at = 0;
      return r.list((r) => one(at += r.u()));
    };
    const text = () => d.strings[r.u() - 1] || '', person = () => d.people[r.u()];
    d.stopsLost = r.u();
    d.stops = rows((start) => ({ start, stopped: start + r.u(), running: start + r.u(), end: start + r.u(), reason: text(), person: person(), open: r.u() }));
    d.marksLost = r.u();
    d.marks = rows((start) => ({ start, end: start + r.u() }));
    d.tasksLost = r.u();
    d.tasks = rows((start) => ({ start, end: start + r.u(), id: r.u(), parent: r.u(), person: person(), name: text(), open: r.u() }));
    d.regionsLost = r.u();
    d.regions = rows((start) => ({ start, end: start + r.u(), person: person(), name: text(), depth: r.u(), open: r.u() }));
    d.regionsOf = new Map(); // of goroutines by id
    for (const x of d.regions) {
      if (!x.person) continue;
      if (!d.regionsOf.has(x.person.id)) d.regionsOf.set(x.person.id, []);
      d.regionsOf.get(x.person.id).push(x);
    }
    d.stealsEvery = Math.pow(2, r.u());
    d.steals = rows((time) => ({ time, thief: r.u() - 1, victim: r.u() - 1, size: r.u(), person: person(), runnext: r.u() === 1 }));
    d.stealTimes = Float64Array.from(d.steals, (s) => s.time);
  }

  // find returns the first span of a lane that ends after t.
  T.find = function (lane, t) {
    const end = lane.cls.end;
    let low = lane.first, high = lane.last;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (end[mid] <= t) low = mid + 1; else high = mid;
    }
    return low;
  };

  // firstAfter returns the first element of sorted that is greater than or equal to t.
  T.firstAfter = function (sorted, t, n) {
    let low = 0, high = n === undefined ? sorted.length : n;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (sorted[mid] < t) low = mid + 1; else high = mid;
    }
    return low;
  };

  T.isMixed = (c, i) => (c.head[i] & 32) !== 0;
})(window);
