// The datacenters and the links between them. They have no places on earth that Osier knows of, so
// they stand on a ring, each in its place for good.

import {s, attribute, text, shown} from './dom.js';
import {bytes, count, millis, rate} from './format.js';

const WIDTH = 640;
const HEIGHT = 400;

export class DatacenterMap {
  constructor(parent, choose) {
    this.choose = choose;
    this.names = '';
    this.svg = s('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'group', 'aria-label': 'Map of the datacenters'});
    parent.replaceChildren(this.svg);
  }

  place(i, n) {
    if (n === 1) return {x: WIDTH / 2, y: HEIGHT / 2};
    const angle = n === 2 ? Math.PI * (1 - i) : -Math.PI / 2 + (2 * Math.PI * i) / n;
    const lift = n === 3 ? 46 : 0;
    return {x: WIDTH / 2 + (WIDTH / 2 - (n === 3 ? 58 : 112)) * Math.cos(angle), y: HEIGHT / 2 + lift + (HEIGHT / 2 - (n === 3 ? 34 : 62)) * Math.sin(angle)};
  }

  build(names) {
    this.names = names.join('\n');
    const n = names.length;
    this.radius = n <= 5 ? 38 : 28;
    this.places = new Map(names.map((name, i) => [name, this.place(i, n)]));
    this.links = new Map();
    this.nodes = new Map();
    const links = s('g');
    const labels = s('g', {class: 'labels'});
    for (const from of names) {
      for (const to of names) {
        if (from === to) continue;
        const link = this.buildLink(from, to);
        this.links.set(from + '\n' + to, link);
        links.append(link.group);
        labels.append(link.label);
      }
    }
    const nodes = s('g');
    names.forEach((name, i) => {
      const node = this.buildNode(name, i);
      this.nodes.set(name, node);
      nodes.append(node.group);
    });
    this.svg.replaceChildren(links, labels, nodes);
  }

  buildLink(from, to) {
    const a = this.places.get(from);
    const b = this.places.get(to);
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const [nx, ny] = [uy, -ux]; // to the left of the way
    const gap = this.radius + 8;
    const side = 7;
    const bow = 18;
    const start = {x: a.x + ux * gap + nx * side, y: a.y + uy * gap + ny * side};
    const end = {x: b.x - ux * gap + nx * side, y: b.y - uy * gap + ny * side};
    const bend = {x: (start.x + end.x) / 2 + nx * bow * 2, y: (start.y + end.y) / 2 + ny * bow * 2};
    const middle = {x: (start.x + end.x) / 2 + nx * bow, y: (start.y + end.y) / 2 + ny * bow};
    const d = `M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
    const way = s('path', {class: 'way', d});
    const flow = s('path', {class: 'flow', d});
    const cross = s('path', {class: 'cross', d: `M${middle.x - 8} ${middle.y - 8}l16 16m0 -16l-16 16`});
    const title = s('title');
    const group = s('g', {class: 'link', 'data-from': from, 'data-to': to}, title, way, flow, cross);
    const out = Math.abs(nx) > 0.35 ? 12 : 0;
    const x = middle.x + nx * 8 + Math.sign(nx) * out;
    const y = middle.y + ny * 24 - 3;
    const label = s('text', {class: out === 0 ? 'middle' : nx > 0 ? 'start' : 'end'},
      s('tspan', {x, y}), s('tspan', {x, y: y + 15, class: 'lag'}));
    return {group, way, flow, label, title};
  }

  buildNode(name, i) {
    const at = this.places.get(name);
    const r = this.radius;
    const above = at.y < HEIGHT / 2 - 20; // the links of the upper ones leave below them
    const below = s('text', {class: 'figure', y: above ? -r - 12 : r + 21});
    const state = s('text', {class: 'state', y: above ? -r - 29 : r + 38});
    const group = s('g', {
      class: `node dc-${i % 10}`, transform: `translate(${at.x} ${at.y})`, tabindex: 0, role: 'button',
      'data-dc': name, 'aria-pressed': 'false',
      onclick: () => this.choose(name),
      onkeydown: (e) => {
        if (e.key === 'Enter' || e.key === ' ') {
          e.preventDefault();
          this.choose(name);
        }
      }},
      s('circle', {class: 'halo', r: r + 6}), s('circle', {class: 'disc', r}),
      s('text', {class: 'name', y: 6}, shown(name)), below, state);
    return {group, below, state};
  }

  draw(model, scope) {
    const names = [...model.dcs.keys()].sort();
    if (names.join('\n') !== this.names) this.build(names);
    const crowded = names.length > 4;
    for (const link of model.links()) {
      const view = this.links.get(link.from + '\n' + link.to);
      const shownRate = bytes(link.rate) + '/s';
      attribute(view.group, 'data-state', link.state);
      attribute(view.way, 'stroke-width', (1.5 + Math.min(5.5, Math.log10(1 + link.rate / 200))).toFixed(2));
      attribute(view.flow, 'data-busy', link.rate > 400);
      const [first, second] = view.label.children;
      const touches = scope.dc && (link.from === scope.dc || link.to === scope.dc);
      const trouble = link.state === 'cut' || link.state === 'catching up';
      const visible = !crowded || touches || trouble;
      let lag = '';
      if (link.state === 'cut') lag = link.lag > 0 ? `cut · ${count(link.lag)} wait` : 'cut';
      else if (link.state === 'catching up') lag = `catching up · ${count(link.lag)}`;
      else if (link.lagMs > 0) lag = `lag ${millis(link.lagMs)}`;
      text(first, visible && link.state !== 'cut' && link.state !== 'unknown' ? shownRate : '');
      text(second, visible ? lag : '');
      attribute(view.label, 'data-state', link.state);
      text(view.title, `${link.from} to ${link.to}: ${link.state}, ${shownRate}, ${count(link.lag)} updates not confirmed`);
    }
    for (const dc of model.dcs.values()) {
      const node = this.nodes.get(dc.dc);
      const state = dc.silent ? 'silent' : !dc.status.ready ? 'not ready' : 'ready';
      const figure = dc.silent ? '' : rate(dc.rates(scope.keyspace).updates) + ' updates/s';
      attribute(node.group, 'data-state', state);
      attribute(node.group, 'aria-pressed', scope.dc === dc.dc);
      attribute(node.group, 'aria-label', `${dc.dc}: ${state}${figure ? ', ' + figure : ''}`);
      text(node.below, figure);
      text(node.state, state === 'ready' ? '' : state === 'silent' ? 'no word' + (Number.isFinite(dc.ageMs) ? ' for ' + millis(dc.ageMs) : '') : state);
    }
  }
}
