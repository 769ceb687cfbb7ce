// Hot objects as rows, each with a dot for each datacenter that finds it hot: on the left it ships
// operations, on the right states. A dot glides when its datacenter changes its mind.

import {h, attribute, text, shown} from './dom.js';
import {bytes, rate} from './format.js';

const LINGER_MS = 4000;

export class HotBoard {
  constructor(parent) {
    this.rows = new Map();
    this.order = [];
    this.body = h('div', {class: 'rows', role: 'rowgroup'});
    this.empty = h('p', {class: 'sub empty'}, 'No object is hot at present: every update is shipped at once, as an operation.');
    this.table = h('div', {class: 'board', role: 'table', 'aria-labelledby': 'hot-title'},
      h('div', {role: 'rowgroup'},
        h('div', {class: 'hot-row head', role: 'row'},
          h('span', {role: 'columnheader', class: 'key'}, 'object'),
          h('span', {role: 'columnheader', class: 'track-head'},
            h('b', {}, 'operations'), h('span', {'aria-hidden': 'true'}, '⟷'), h('b', {}, 'states')),
          h('span', {role: 'columnheader', class: 'rate'}, 'updates/s'),
          h('span', {role: 'columnheader', class: 'size'}, 'size'))),
      this.body);
    parent.replaceChildren(this.table, this.empty);
  }

  // Keeps the order while rates are about the same: rows that jump cannot be read.
  arrange(objects, rows) {
    const found = new Map(objects.slice(0, rows).map((o) => [o.id, o]));
    const order = this.order.filter((id) => found.has(id));
    for (const id of found.keys()) if (!order.includes(id)) order.push(id);
    for (let i = 1; i < order.length; i++) {
      for (let k = i; k > 0 && found.get(order[k]).rate > 1.25 * found.get(order[k - 1]).rate; k--) {
        [order[k], order[k - 1]] = [order[k - 1], order[k]];
      }
    }
    this.order = order;
    return order.map((id) => found.get(id));
  }

  draw(model, scope, rows, now = Date.now()) {
    const objects = this.arrange(model.hot(scope).filter((o) => o.rate > 0), rows);
    const names = [...model.dcs.keys()].sort();
    const most = Math.max(1, ...objects.map((o) => o.rate));
    const seen = new Set();
    objects.forEach((object, i) => {
      seen.add(object.id);
      const row = this.rows.get(object.id) ?? this.add(object);
      row.place(i);
      text(row.rate, rate(object.rate));
      text(row.size, bytes(object.bytes));
      row.meter.style.transform = `scaleX(${(Math.log10(1 + object.rate) / Math.log10(1 + most)).toFixed(3)})`;
      this.dots(row, object, names, model, now);
    });
    for (const [id, row] of this.rows) {
      if (!seen.has(id)) {
        row.element.remove();
        this.rows.delete(id);
      }
    }
    this.body.style.setProperty('--rows', objects.length);
    this.empty.hidden = objects.length > 0;
    this.table.hidden = objects.length === 0;
  }

  add(object) {
    const row = {dots: new Map()};
    row.rate = h('span', {class: 'number'});
    row.meter = h('i', {class: 'meter-bar', 'aria-hidden': 'true'});
    row.size = h('span', {class: 'size', role: 'cell'});
    row.said = h('span', {class: 'sr'});
    row.track = h('span', {class: 'track', role: 'cell'}, row.said);
    row.element = h('div', {class: 'hot-row', role: 'row', 'data-key': object.key, 'data-keyspace': object.keyspace},
      h('span', {class: 'key', role: 'cell', title: shown(`${object.keyspace} / ${object.key} (${object.type})`)},
        h('bdi', {}, shown(object.key)), h('small', {}, shown(`${object.type} in ${object.keyspace}`))),
      row.track, h('span', {class: 'rate', role: 'cell'}, row.meter, row.rate), row.size);
    row.place = (i) => {
      row.element.style.setProperty('--row', i);
    };
    this.rows.set(object.id, row);
    this.body.append(row.element);
    return row;
  }

  dots(row, object, names, model, now) {
    const at = new Map(object.at.map((a) => [a.dc, a]));
    for (const [dc, dot] of row.dots) {
      if (!at.has(dc)) {
        dot.remove();
        row.dots.delete(dc);
      }
    }
    for (const [dc, a] of at) {
      const i = names.indexOf(dc);
      let dot = row.dots.get(dc);
      if (!dot) {
        dot = h('span', {class: `dot dc-${i % 10}`, 'data-dc': dc, 'aria-hidden': 'true'}, names.length <= 4 ? shown(dc).slice(0, 3) : '');
        dot.style.setProperty('--slot', i);
        row.dots.set(dc, dot);
        row.track.append(dot);
      }
      attribute(dot, 'data-mode', a.mode);
      attribute(dot, 'title', `${dc}: ${a.mode === 'state' ? 'states' : 'operations'}, ${rate(a.rate)} updates/s`);
      const moved = model.switches.some((w) => w.dc === dc && w.keyspace === object.keyspace && w.key === object.key && w.type === object.type && now - w.at < LINGER_MS);
      attribute(dot, 'data-moved', moved);
    }
    row.track.style.setProperty('--slots', names.length);
    text(row.said, object.at.map((a) => `${a.dc}: ${a.mode === 'state' ? 'states' : 'operations'}`).join(', '));
  }
}
