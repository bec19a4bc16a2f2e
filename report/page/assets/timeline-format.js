// Times as text, and text as times.
(function (global) {
  'use strict';
  const T = global.SchedscopeTimeline = global.SchedscopeTimeline || {};
  const UNITS = [['s', 1e9], ['ms', 1e6], ['us', 1e3]];
  const SIZES = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

  // exact returns a length of time with all its digits, as Go reads it.
  T.exact = function (ns) {
    ns = Math.round(ns);
    const sign = ns < 0 ? '-' : '', n = Math.abs(ns);
    for (const [unit, size] of UNITS) {
      if (n < size) continue;
      const rest = String(n % size).padStart(String(size).length - 1, '0').replace(/0+$/, '');
      return sign + Math.floor(n / size) + (rest ? '.' + rest : '') + unit;
    }
    return sign + n + 'ns';
  };

  // full returns all digits of a length of time as it is read by people.
  T.full = (ns) => T.exact(ns).replace('us', 'µs');

  // parse returns the nanoseconds of a duration of Go such as 1.5s or 1m2s, NaN if it is none.
  T.parse = function (text) {
    const m = /^-?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.exec(text);
    if (!m) return text === '0' ? 0 : NaN;
    let sum = 0;
    for (const [, n, , unit] of text.matchAll(/(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) sum += parts(n, SIZES[unit]);
    return text[0] === '-' ? -sum : sum;
  };

  // parts multiplies a decimal number, without losing digits of the whole part.
  function parts(n, size) {
    const [whole, rest] = n.split('.');
    return Number(whole || 0) * size + (rest ? Math.round(Number('0.' + rest) * size) : 0);
  }

  // parseHash returns {from, to, g} of #t=FROM,LENGTH&g=ID, from and to null if it has an ID
  // only; null if it is not a place on the timeline, and {bad} if it should be one and is not.
  T.parseHash = function (hash) {
    const fields = new URLSearchParams(hash.replace(/^#/, ''));
    const id = fields.get('g');
    if (id !== null && !/^\d+$/.test(id)) return { bad: 'g=' + id + ' is not the id of a goroutine, such as g=17' };
    if (!fields.has('t')) return id === null ? null : { from: null, to: null, g: Number(id) };
    const t = fields.get('t').split(',');
    const from = T.parse(t[0]), length = t.length > 1 ? T.parse(t[1]) : 1e6;
    if (!(from >= 0) || !(length > 0)) return { bad: 't=' + fields.get('t') + ' is not a time and a length, such as t=1.5ms,200us' };
    return { from, to: from + length, g: id === null ? null : Number(id) };
  };

  // steps returns where to put marks on an axis: about one every so many nanoseconds.
  T.stepOf = function (about) {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(about, 1))));
    for (const m of [1, 2, 5, 10]) if (m * power >= about) return m * power;
    return 10 * power;
  };

  // mark returns the text of a mark, with as many digits as the step needs.
  T.mark = function (ns, step) {
    if (ns === 0) return '0';
    const [unit, size] = UNITS.find(([, s]) => ns >= s) || ['ns', 1];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    return (ns / size).toFixed(Math.min(digits, 9)) + (unit === 'us' ? 'µs' : unit);
  };
})(window);
