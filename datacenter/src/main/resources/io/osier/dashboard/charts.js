// Small charts of the last two minutes, plain SVG.

import {s, attribute} from './dom.js';

const WIDTH = 240;
const HEIGHT = 64;
const POINTS = 120;

export class TimeChart {
  // lines: [{of: second => number, kind: 'area' | 'line', className}]
  constructor(parent, lines, label) {
    this.lines = lines;
    this.paths = lines.map((line) => s('path', {class: line.kind + ' ' + (line.className ?? '')}));
    this.svg = s('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
      s('line', {class: 'base', x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5}), this.paths);
    this.label = label;
    parent.replaceChildren(this.svg);
    this.top = 1;
  }

  draw(seconds, said) {
    let most = 1;
    for (const second of seconds) for (const line of this.lines) most = Math.max(most, line.of(second));
    // The scale grows at once and shrinks slowly, so the picture stays calm.
    this.top = most > this.top ? most : this.top * 0.94 + most * 0.06;
    const x = (i) => WIDTH * (POINTS - seconds.length + i) / (POINTS - 1);
    const y = (v) => HEIGHT - 1 - (HEIGHT - 6) * Math.min(1, v / this.top);
    this.lines.forEach((line, n) => {
      const points = seconds.map((second, i) => `${x(i).toFixed(1)} ${y(line.of(second)).toFixed(1)}`);
      let d = points.length > 1 ? 'M' + points.join('L') : '';
      if (d && line.kind === 'area') d += `L${WIDTH} ${HEIGHT}L${x(0).toFixed(1)} ${HEIGHT}Z`;
      attribute(this.paths[n], 'd', d);
    });
    if (said) attribute(this.svg, 'aria-label', `${this.label}: ${said}`);
  }
}
