// The distribution of delays until updates are visible elsewhere, against δ.

import {s, attribute, text} from './dom.js';
import {millis, percent, count} from './format.js';

const WIDTH = 560;
const HEIGHT = 240;
const BASE = 208;
const INSIDE = 40; // ranges up to δ
const TAIL = [1.1, 1.25, 1.5, 2]; // further ends; behind the last is a range, too
const STEP = WIDTH / (INSIDE + 9);

export class Distribution {
  constructor(parent) {
    this.bars = [];
    const groups = [];
    for (let i = 0; i < INSIDE + TAIL.length + 1; i++) {
      const late = i >= INSIDE;
      const bar = s('rect', {
        class: late ? 'bar late' : 'bar',
        x: (late ? INSIDE * STEP + 8 + (i - INSIDE) * STEP * 1.7 : i * STEP + 1).toFixed(1),
        width: ((late ? 1.7 : 1) * STEP - 2).toFixed(1), y: BASE, height: 0, rx: 2}, s('title'));
      this.bars.push(bar);
      groups.push(bar);
    }
    const at = (share) => share * INSIDE * STEP;
    this.labels = [0, 0.25, 0.5, 0.75].map((share) =>
      s('text', {x: at(share) + (share === 0 ? 1 : 0), y: BASE + 20, 'text-anchor': share === 0 ? 'start' : 'middle'}));
    this.delta = s('text', {class: 'delta', x: at(1) + 3, y: BASE + 20, 'text-anchor': 'middle'});
    this.svg = s('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'Distribution of delays until updates are visible elsewhere'},
      s('rect', {class: 'over', x: at(1) + 3, y: 4, width: WIDTH - at(1) - 3, height: BASE - 4, rx: 4}),
      groups,
      s('line', {class: 'base', x1: 0, x2: WIDTH, y1: BASE + 0.5, y2: BASE + 0.5}),
      s('line', {class: 'delta', x1: at(1) + 3, x2: at(1) + 3, y1: 2, y2: BASE + 6}),
      s('text', {class: 'side', x: at(1) - 6, y: 16, 'text-anchor': 'end'}, 'in time'),
      s('text', {class: 'side', x: at(1) + 12, y: 16}, 'late'),
      this.labels, this.delta);
    parent.replaceChildren(this.svg);
  }

  draw(counts, sla) {
    const total = counts.reduce((a, b) => a + b, 0);
    const most = Math.max(1, ...counts);
    const end = (i) => (i < INSIDE ? (i + 1) / INSIDE : TAIL[i - INSIDE]);
    const name = (share) => (sla ? millis(share * sla) : `${share}\u202fδ`);
    this.bars.forEach((bar, i) => {
      const n = counts[i] ?? 0;
      // By the square root: a few must be seen beside many.
      const height = n === 0 ? 0 : Math.max(2, (BASE - 24) * Math.sqrt(n / most));
      attribute(bar, 'y', (BASE - height).toFixed(1));
      attribute(bar, 'height', height.toFixed(1));
      const from = name(i === 0 ? 0 : end(i - 1));
      text(bar.firstChild, `${end(i) ? from + ' to ' + name(end(i)) : 'over ' + from}: ${count(n)} shipments`);
    });
    [0, 0.25, 0.5, 0.75].forEach((share, i) =>
      text(this.labels[i], sla ? millis(share * sla) : ['0', '¼\u202fδ', '½\u202fδ', '¾\u202fδ'][i]));
    text(this.delta, sla ? `δ = ${millis(sla)}` : 'δ');
    const inTime = counts.slice(0, INSIDE).reduce((a, b) => a + b, 0);
    const said = total === 0 ? 'nothing arrived in the last minute'
      : `${percent(inTime / total, 2)} of ${count(total)} shipments within the bound`;
    attribute(this.svg, 'aria-label', 'Delays until updates are visible elsewhere: ' + said);
    return {total, inTime};
  }

  // The share of δ below which so much of the shipments lies.
  static quantile(counts, q) {
    const total = counts.reduce((a, b) => a + b, 0);
    let sum = 0;
    for (let i = 0; i < counts.length; i++) {
      sum += counts[i];
      if (sum >= q * total) return i < INSIDE ? (i + 1) / INSIDE : TAIL[i - INSIDE] ?? Infinity;
    }
    return 0;
  }
}
