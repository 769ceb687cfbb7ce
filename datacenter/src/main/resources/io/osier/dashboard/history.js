// The last hour of the datacenter whose page this is, as its server has kept it: small charts over one
// another in time, of which all show the moment that is pointed at.

import {h, s, attribute, text, shown} from './dom.js';
import {bytes, clock, count, millis, num, rate, seconds} from './format.js';

const WIDTH = 360;
const HEIGHT = 56;
const SPAN_MS_MIN = 600000;
const perSecond = (unit) => (value) => unit(value) + '/s';
const CHARTS = [
  ['Updates', perSecond(rate), {updates: 'committed', applied: 'from elsewhere'}],
  ['Bytes of updates', perSecond(bytes), {op_bytes: 'as operations', arrived_bytes: 'as shipped'}],
  ['Staleness', seconds, null], // a line for each pair
  ['Overdue updates', count, {overdue: 'older than δ'}],
  ['Arrived too late', perSecond(rate), {late: 'here or elsewhere'}],
  ['Requests without success', perSecond(rate), {refused: 'refused', errors: 'failed'}],
  ['Request latency', (v) => (v < 10 ? v.toFixed(1) + '\u202fms' : millis(v)), {p99_ms: 'p99', p50_ms: 'p50'}],
  ['Processor cores', (v) => v.toFixed(2), {processors: 'busy'}],
  ['Heap', bytes, {heap_bytes: 'used'}],
  ['Data files on disk', bytes, {disk_bytes: 'size'}],
];

export class Hour {
  // slider: goes through the moments; at: where the moment is named; title: what is seen
  constructor(parent, slider, at, title) {
    this.slider = slider;
    this.at = at;
    this.title = title;
    this.parent = parent;
    this.charts = [];
    slider.addEventListener('input', () => this.point(Number(slider.value)));
    parent.addEventListener('pointermove', (e) => this.follow(e));
    parent.addEventListener('pointerleave', () => this.point(-1));
  }

  take(data) {
    const ends = Array.isArray(data.end_ms) ? data.end_ms : [];
    this.data = data;
    this.ends = ends;
    const pairs = Object.keys(data.peers ?? {}).sort();
    const shape = JSON.stringify([data.dc, pairs]);
    if (shape !== this.shape) this.build(shape, pairs);
    // All by the server's clock, which may be another one than the browser's.
    this.to = ends.at(-1) ?? 0;
    this.span = Math.max(SPAN_MS_MIN, this.to - (ends[0] ?? this.to));
    text(this.title, `The last ${this.span > 3500000 ? 'hour' : millis(this.span)} at ${shown(data.dc)}`);
    this.slider.disabled = ends.length === 0;
    this.slider.max = Math.max(0, ends.length - 1);
    for (const chart of this.charts) this.draw(chart);
    this.point(-1);
  }

  build(shape, pairs) {
    this.shape = shape;
    const self = this.data.dc;
    const names = [self, ...pairs].sort(); // as on the map, which gives the colours
    this.charts = CHARTS.map(([title, unit, columns]) => {
      const lines = columns
        ? Object.entries(columns).map(([column, label], i) => ({label, of: () => this.data.columns?.[column], className: 'line-' + i}))
        : pairs.flatMap((dc) => [
          {label: `${self} → ${dc}`, of: () => this.data.peers[dc]?.stale_ms, className: `pair dc-${names.indexOf(dc) % 10}`},
          {label: `${dc} → ${self}`, of: () => this.data.peers[dc]?.unheard_ms, className: `pair back dc-${names.indexOf(dc) % 10}`}]);
      const chart = {title, unit, lines, cursor: s('line', {class: 'cursor', y1: 0, y2: HEIGHT})};
      for (const line of lines) {
        line.path = s('path', {class: line.className});
        line.value = h('b', {});
        line.legend = h('span', {class: line.className}, h('i', {'aria-hidden': 'true'}), shown(line.label), ' ', line.value);
      }
      chart.top = h('small', {});
      chart.svg = s('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}, the last hour`},
        s('line', {class: 'base', x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5}), lines.map((l) => l.path), chart.cursor);
      chart.element = h('figure', {}, h('figcaption', {}, h('span', {class: 'title'}, title), chart.top), chart.svg, h('p', {class: 'legend'}, lines.map((l) => l.legend)));
      return chart;
    });
    this.parent.replaceChildren(...this.charts.map((c) => c.element));
  }

  x(i) {
    return WIDTH * (1 - (this.to - this.ends[i]) / this.span);
  }

  draw(chart) {
    const all = chart.lines.map((line) => line.of() ?? []);
    const most = Math.max(0, ...all.flat().map(num));
    all.forEach((values, n) => {
      let d = '';
      let pen = false;
      values.forEach((v, i) => {
        // A hole where nothing was measured, or the server was not there.
        const joined = pen && this.ends[i] - this.ends[i - 1] < 35000;
        pen = Number.isFinite(v);
        if (pen) d += `${joined ? 'L' : 'M'}${this.x(i).toFixed(1)} ${(HEIGHT - 1 - (HEIGHT - 5) * v / (most || 1)).toFixed(1)}${joined ? '' : 'h.1'}`;
      });
      attribute(chart.lines[n].path, 'd', d);
    });
    text(chart.top, most > 0 ? `max ${chart.unit(most)}` : '');
  }

  follow(e) {
    const svg = e.target.closest('svg');
    if (!svg || !this.ends?.length) return;
    const box = svg.getBoundingClientRect();
    const at = this.to - this.span * (1 - (e.clientX - box.left) / box.width);
    let best = 0;
    this.ends.forEach((end, i) => {
      if (Math.abs(end - at) < Math.abs(this.ends[best] - at)) best = i;
    });
    this.point(best);
  }

  // Shows the figures of a row; of the last one if it is none.
  point(row) {
    const last = this.ends ? this.ends.length - 1 : -1;
    const i = row < 0 || row > last ? last : row;
    const moment = last < 0 ? '' : clock(this.ends[i]);
    text(this.at, last < 0 ? 'the first ten seconds are not over yet' : `${i === last ? 'now' : 'at'}, ${moment}`);
    this.slider.value = Math.max(0, i);
    attribute(this.slider, 'aria-valuetext', moment);
    for (const chart of this.charts) {
      for (const line of chart.lines) {
        const value = (line.of() ?? [])[i];
        text(line.value, Number.isFinite(value) ? chart.unit(value) : '–');
      }
      if (i >= 0) {
        attribute(chart.cursor, 'x1', this.x(i).toFixed(1));
        attribute(chart.cursor, 'x2', this.x(i).toFixed(1));
      }
      attribute(chart.cursor, 'data-shown', i >= 0 && i < last);
    }
  }
}
