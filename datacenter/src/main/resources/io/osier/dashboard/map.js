// The datacenters and the links between them. They have no places on earth that Osier knows of, so
// they stand on a ring, each in its place for good.

import {s, attribute, text, shown} from './dom.js';
import {bytes, count, millis, rate, seconds} from './format.js';

const narrow = matchMedia('(max-width: 40rem)');

// Where a label may stand: how far along its link, and how far beside it; best first.
const STOPS = [8, 22, 36].flatMap((off) => [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78].map((t) => [t, off]));
const overlaps = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export class DatacenterMap {
  constructor(parent, choose) {
    this.choose = choose;
    this.names = '';
    this.svg = s('svg', {role: 'group', 'aria-label': 'Map of the datacenters'});
    parent.replaceChildren(this.svg);
    narrow.addEventListener('change', () => {
      this.names = '';
    });
  }

  place(i, n) {
    const {width, height} = this;
    if (n === 1) return {x: width / 2, y: height / 2};
    if (n === 2 && narrow.matches) return {x: width / 2, y: i === 0 ? 70 : height - 76};
    const angle = n === 2 ? Math.PI * (1 - i) : -Math.PI / 2 + (2 * Math.PI * i) / n;
    const lift = n === 3 ? 46 : 0;
    const aside = narrow.matches ? 66 : n === 3 ? 58 : 112;
    return {x: width / 2 + (width / 2 - aside) * Math.cos(angle), y: height / 2 + lift + (height / 2 - (n === 3 ? 34 : 62)) * Math.sin(angle)};
  }

  build(names) {
    this.names = names.join('\n');
    const n = names.length;
    [this.width, this.height] = narrow.matches ? [360, 400] : [640, 400];
    attribute(this.svg, 'viewBox', `0 0 ${this.width} ${this.height}`);
    this.radius = narrow.matches ? 28 : n <= 5 ? 38 : 28;
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
    const on = (t) => ({
      x: (1 - t) ** 2 * start.x + 2 * t * (1 - t) * bend.x + t ** 2 * end.x,
      y: (1 - t) ** 2 * start.y + 2 * t * (1 - t) * bend.y + t ** 2 * end.y});
    const middle = on(0.5);
    const d = `M${start.x} ${start.y}Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
    const way = s('path', {class: 'way', d});
    const flow = s('path', {class: 'flow', d});
    const cross = s('path', {class: 'cross', d: `M${middle.x - 8} ${middle.y - 8}l16 16m0 -16l-16 16`});
    const title = s('title');
    const group = s('g', {class: 'link', 'data-from': from, 'data-to': to}, title, way, flow, cross);
    const label = s('text', {'data-from': from, 'data-to': to}, s('tspan', {x: 0}), s('tspan', {x: 0, class: 'lag'}));
    const crossed = {x: middle.x - 9, y: middle.y - 9, width: 18, height: 18};
    return {group, way, flow, label, title, on, nx, ny, crossed, stop: 0};
  }

  buildNode(name, i) {
    const at = this.places.get(name);
    const r = this.radius;
    const above = at.y < this.height / 2 - 20; // the links of the upper ones leave below them
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
    return {group, below, state, at};
  }

  // Two lines: what flows, and how stale the other side is.
  words(link) {
    const stale = link.staleMs === null ? '' : seconds(link.staleMs);
    switch (link.state) {
      case 'cut': return [link.lag > 0 ? `cut · stale ${stale}` : 'cut', link.lag > 0 ? `${count(link.lag)} wait` : ''];
      case 'unknown': return ['', stale && link.staleMs >= 3000 ? `unheard for ${stale}` : ''];
      case 'catching up': return [`catching up · ${count(link.lag)}`, `stale ${stale}`];
      case 'late': return [`${bytes(link.rate)}/s`, `stale ${stale} · ${count(link.overdue)} late`];
      default: return [`${bytes(link.rate)}/s`, link.holdsMs > 0 ? `holds up to ${millis(link.holdsMs)}` : link.staleMs >= 100 ? `stale ${stale}` : ''];
    }
  }

  draw(model, scope) {
    const names = [...model.dcs.keys()].sort();
    if (names.join('\n') !== this.names) this.build(names);
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
    const crowded = names.length > 4;
    const shownLinks = [];
    for (const link of model.links()) {
      const view = this.links.get(link.from + '\n' + link.to);
      attribute(view.group, 'data-state', link.state);
      attribute(view.way, 'stroke-width', (1.5 + Math.min(5.5, Math.log10(1 + link.rate / 200))).toFixed(2));
      attribute(view.flow, 'data-busy', link.rate > 400);
      const touches = scope.dc && (link.from === scope.dc || link.to === scope.dc);
      const trouble = link.state !== 'up';
      const words = !crowded || touches || trouble ? this.words(link) : ['', ''];
      const lines = words[0] === '' ? [words[1], ''] : words;
      view.label.children[0].classList.toggle('lag', words[0] === '' || trouble);
      lines.forEach((line, i) => text(view.label.children[i], line));
      attribute(view.label.children[1], 'dy', lines[1] === '' ? '0' : '1.15em');
      attribute(view.label, 'data-state', link.state);
      text(view.title, link.state === 'unknown' ? `${link.from} to ${link.to}: ${link.from} cannot be asked`
        : `${link.from} to ${link.to}: ${link.state}, ${bytes(link.rate)}/s, ${count(link.lag)} updates not confirmed, stale ${seconds(link.staleMs)}`);
      if (lines[0] !== '') shownLinks.push({view, trouble, cut: link.state === 'cut'});
      else attribute(view.label, 'visibility', 'hidden');
    }
    this.arrange(shownLinks);
  }

  // No label is printed over another one, or over a datacenter: it moves along its link, and where there
  // is no room at all it is left to the table. What is in trouble comes first.
  arrange(shownLinks) {
    const taken = [...this.nodes.values()].map(({group, at}) => {
      const box = group.getBBox();
      return {x: box.x + at.x, y: box.y + at.y, width: box.width, height: box.height};
    });
    for (const {view, cut} of shownLinks) if (cut) taken.push(view.crossed);
    shownLinks.sort((a, b) => b.trouble - a.trouble);
    for (const {view} of shownLinks) {
      const size = view.label.getBBox();
      const box = (stop) => {
        const {x, y} = view.on(STOPS[stop][0]);
        const off = STOPS[stop][1] + Math.abs(view.nx) * size.width / 2 + Math.abs(view.ny) * size.height / 2;
        const left = x + view.nx * off - size.width / 2;
        return {
          x: Math.min(Math.max(left, 0), Math.max(0, this.width - size.width)),
          y: Math.min(y + view.ny * off - size.height / 2, this.height - size.height), width: size.width, height: size.height};
      };
      const free = (stop) => taken.every((t) => !overlaps(t, box(stop)));
      const stop = free(view.stop) ? view.stop : STOPS.findIndex((_, i) => free(i));
      attribute(view.label, 'visibility', stop < 0 ? 'hidden' : 'visible');
      if (stop < 0) continue;
      view.stop = stop;
      const place = box(stop);
      taken.push(place);
      attribute(view.label, 'transform', `translate(${(place.x - size.x).toFixed(1)} ${(place.y - size.y).toFixed(1)})`);
    }
  }
}
