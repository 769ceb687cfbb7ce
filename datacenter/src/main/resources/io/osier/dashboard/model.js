// What is known of the datacenters, from the messages that come. No DOM here.

import {count, num, seconds} from './format.js';

const SAMPLES_MAX = 61; // a minute
const HISTORY_MAX = 120; // two minutes
const SWITCHES_MAX = 8;
export const SILENT_MS = 3500; // after so long without a message
// What has arrived, and what that takes as operations: what is held up by an outage is in neither.
const EMPTY = {updates: 0, applied: 0, shipped: 0, ops: 0};

const list = (value) => (Array.isArray(value) ? value : []);
const name = (value) => (typeof value === 'string' ? value : '');

// Whether a keyspace is looked at; '' chooses all, and a keyspace its homes, which are called as 'carts@eu'.
export const chosen = (space, keyspace) => !keyspace || space === keyspace || space.startsWith(keyspace + '@');

class Datacenter {
  constructor(dc) {
    this.dc = dc;
    this.status = null;
    this.ageMs = Infinity;
    this.samples = [];
  }

  get silent() {
    return this.status === null || this.ageMs > SILENT_MS;
  }

  take(status) {
    const last = this.samples.at(-1);
    if (last && last.incarnation === status.incarnation && last.uptime === num(status.uptime_ms)) return false;
    if (last && last.incarnation !== status.incarnation) this.samples = [];
    this.status = status;
    const spaces = new Map();
    for (const k of list(status.keyspaces)) {
      spaces.set(name(k.name), {
        updates: num(k.updates),
        applied: num(k.applied),
        shipped: num(k.arrived_bytes ?? k.shipped_bytes),
        ops: num(k.op_bytes),
        confirmed: num(k.timeliness?.confirmed),
        late: num(k.timeliness?.late),
        overdue: num(k.timeliness?.overdue),
        counts: list(k.visibility?.counts).map(num),
      });
    }
    const links = new Map();
    for (const l of list(status.links)) links.set(name(l.dc), num(l.sent_bytes));
    this.samples.push({incarnation: status.incarnation, uptime: num(status.uptime_ms), spaces, links, copyHits: num(status.copies?.hits)});
    if (this.samples.length > SAMPLES_MAX) this.samples.shift();
    return true;
  }

  // The last two samples, if they can be compared.
  last() {
    const [a, b] = this.samples.slice(-2);
    return b && b.uptime > a.uptime ? {a, b, seconds: (b.uptime - a.uptime) / 1000} : null;
  }

  // Sums over a keyspace and its homes, or only over what has that very name.
  rates(keyspace, alone = false) {
    const pair = this.last();
    if (!pair || this.silent) return EMPTY;
    const sum = {...EMPTY};
    for (const [space, b] of pair.b.spaces) {
      const a = pair.a.spaces.get(space);
      if (!a || !(alone ? space === keyspace : chosen(space, keyspace))) continue;
      for (const what of Object.keys(sum)) {
        sum[what] += Math.max(0, b[what] - a[what]) / pair.seconds;
      }
    }
    return sum;
  }

  // For how long it may hold updates on purpose: the longest δ of a keyspace with objects in state mode.
  holdsMs() {
    return Math.max(0, ...list(this.status?.keyspaces)
      .filter((k) => num(k.state_objects) > 0 || k.propagation === 'state').map((k) => num(k.sla_ms)));
  }

  // What it tells of its link to another datacenter.
  link(to) {
    return list(this.status?.links).find((l) => l.dc === to);
  }

  // Reads a second that it answers from copies of objects that only others hold.
  copyReads() {
    const pair = this.last();
    return pair && !this.silent ? Math.max(0, pair.b.copyHits - pair.a.copyHits) / pair.seconds : 0;
  }

  linkRate(to) {
    const pair = this.last();
    if (!pair || this.silent) return 0;
    return Math.max(0, num(pair.b.links.get(to)) - num(pair.a.links.get(to))) / pair.seconds;
  }
}

export class Model {
  constructor() {
    this.self = '';
    this.clients = {}; // where the datacenters' ports for clients are reached
    this.dcs = new Map();
    this.history = [];
    this.switches = [];
    this.modes = new Map();
  }

  // Takes a message; ready-made JSON of each datacenter is in it as text.
  feed(message, now = Date.now()) {
    this.self = name(message.self);
    this.clients = message.clients ?? {};
    const names = [this.self, ...list(message.peers).map(name)].filter(Boolean);
    for (const dc of names) if (!this.dcs.has(dc)) this.dcs.set(dc, new Datacenter(dc));
    for (const dc of this.dcs.values()) dc.ageMs += 1000;
    for (const entry of list(message.statuses)) {
      const dc = this.dcs.get(entry.dc);
      if (!dc) continue;
      try {
        const status = JSON.parse(entry.status);
        dc.ageMs = num(entry.age_ms);
        if (dc.take(status)) this.compareModes(dc, now);
      } catch (e) {
        // A peer of another version, perhaps: it counts as silent.
      }
    }
    const second = new Map();
    for (const dc of this.dcs.values()) {
      const spaces = new Map();
      for (const k of this.keyspaces()) spaces.set(k, dc.rates(k, true));
      second.set(dc.dc, spaces);
    }
    this.history.push(second);
    if (this.history.length > HISTORY_MAX) this.history.shift();
  }

  compareModes(dc, now) {
    for (const k of list(dc.status.keyspaces)) {
      for (const hot of list(k.hot)) {
        const id = JSON.stringify([dc.dc, k.name, hot.type, hot.key]);
        const before = this.modes.get(id);
        this.modes.delete(id); // what is seen again goes to the end
        this.modes.set(id, hot.mode);
        if (before && before !== hot.mode) {
          this.switches.unshift({
            id, at: now, dc: dc.dc, keyspace: name(k.name), key: name(hot.key), type: name(hot.type),
            mode: hot.mode, rate: num(hot.rate), bytes: num(hot.bytes)});
          this.switches.length = Math.min(this.switches.length, SWITCHES_MAX);
        }
      }
    }
    for (const id of this.modes.keys()) {
      if (this.modes.size <= 2000) break;
      this.modes.delete(id);
    }
  }

  keyspaces() {
    const names = new Set();
    for (const dc of this.dcs.values()) {
      for (const k of list(dc.status?.keyspaces)) names.add(name(k.name));
    }
    return [...names].sort();
  }

  chosen(scope) {
    return [...this.dcs.values()].filter((dc) => !scope.dc || dc.dc === scope.dc);
  }

  spaces(scope) {
    return this.chosen(scope).flatMap((dc) =>
      list(dc.status?.keyspaces)
        .filter((k) => chosen(name(k.name), scope.keyspace))
        .map((k) => ({dc, k})));
  }

  // This second, summed up.
  now(scope) {
    return this.sum(this.history.at(-1), scope);
  }

  sum(second, scope) {
    const sum = {...EMPTY};
    for (const [dc, spaces] of second ?? []) {
      if (scope.dc && scope.dc !== dc) continue;
      for (const [space, rates] of spaces) {
        if (!chosen(space, scope.keyspace)) continue;
        for (const what of Object.keys(sum)) sum[what] += rates[what];
      }
    }
    return sum;
  }

  series(scope) {
    return this.history.map((second) => this.sum(second, scope));
  }

  // Of the last minute: how many shipments were visible how soon, by ranges that are shares of δ.
  visibility(scope) {
    const counts = [];
    for (const dc of this.chosen(scope)) {
      const a = dc.samples[0];
      const b = dc.samples.at(-1);
      if (!a || a === b) continue;
      for (const [space, end] of b.spaces) {
        if (!chosen(space, scope.keyspace)) continue;
        const start = a.spaces.get(space)?.counts ?? [];
        end.counts.forEach((n, i) => {
          counts[i] = (counts[i] ?? 0) + Math.max(0, n - num(start[i]));
        });
      }
    }
    return counts;
  }

  // Whether the updates of the last minute reached the other datacenters in time, each update counted once for
  // each of them. What is overdue counts as late, also while a datacenter is silent.
  timeliness(scope) {
    const sum = {confirmed: 0, late: 0, overdue: 0};
    for (const dc of this.chosen(scope)) {
      const a = dc.samples[0];
      const b = dc.samples.at(-1);
      if (!b || dc.silent) continue;
      for (const [space, end] of b.spaces) {
        if (!chosen(space, scope.keyspace)) continue;
        const start = a.spaces.get(space) ?? end;
        sum.confirmed += Math.max(0, end.confirmed - start.confirmed);
        sum.late += Math.max(0, end.late - start.late);
        sum.overdue += end.overdue;
      }
    }
    return sum;
  }

  // Each keyspace, or home of one, with the datacenters that hold it, and those of them that still catch up.
  // What a silent datacenter holds is what it told last.
  placed(scope) {
    const placed = new Map();
    const spaces = this.spaces(scope).sort((a, b) => (a.dc.dc < b.dc.dc ? -1 : 1));
    for (const {dc, k} of spaces) {
      const space = name(k.name);
      const one = placed.get(space) ?? {space, slaMs: num(k.sla_ms), holders: [], catchingUp: [], objects: 0, updates: 0};
      one.holders.push(dc.dc);
      if (k.ready === false) one.catchingUp.push(dc.dc);
      one.objects = Math.max(one.objects, num(k.objects));
      one.updates += dc.rates(space, true).updates;
      placed.set(space, one);
    }
    return [...placed.values()].sort((a, b) => (a.space < b.space ? -1 : 1));
  }

  // δ, if all that is looked at has the same one; 0 otherwise.
  sla(scope) {
    const all = new Set(this.spaces(scope).map(({k}) => num(k.sla_ms)));
    return all.size === 1 ? [...all][0] : 0;
  }

  // Objects with what each datacenter makes of them, hottest first.
  hot(scope) {
    const objects = new Map();
    for (const {dc, k} of this.spaces(scope)) {
      if (dc.silent) continue;
      for (const hot of list(k.hot)) {
        const id = JSON.stringify([k.name, hot.type, hot.key]);
        const object = objects.get(id) ?? {
          id, keyspace: name(k.name), key: name(hot.key), type: name(hot.type), rate: 0, bytes: 0, at: []};
        object.rate += num(hot.rate);
        object.bytes = Math.max(object.bytes, num(hot.bytes));
        object.at.push({dc: dc.dc, mode: hot.mode === 'state' ? 'state' : 'op', rate: num(hot.rate)});
        objects.set(id, object);
      }
    }
    return [...objects.values()].sort((a, b) => b.rate - a.rate);
  }

  // Every direction between two datacenters, as its sender tells; null is what a silent sender cannot tell.
  links() {
    const links = [];
    for (const from of this.dcs.values()) {
      for (const to of this.dcs.values()) {
        if (from === to) continue;
        const told = from.silent ? null : from.link(to.dc);
        // For how long a silent sender has not been heard, the receiver knows.
        const heard = from.silent && !to.silent ? to.link(from.dc) : null;
        const link = {from: from.dc, to: to.dc, state: 'unknown', rate: null, lag: null, overdue: null, inFlight: null,
          staleMs: heard ? num(heard.unheard_ms) : null, holdsMs: 0};
        if (told) {
          link.state = !told.connected ? 'cut' : told.stream === 'catching-up' && num(told.lag_updates) > 0 ? 'catching up'
            : num(told.overdue_updates) > 0 ? 'late' : 'up';
          // Over a cut link go vain attempts to connect, at most.
          link.rate = told.connected ? from.linkRate(to.dc) : 0;
          link.lag = num(told.lag_updates);
          link.overdue = num(told.overdue_updates);
          link.inFlight = num(told.in_flight_bytes);
          link.staleMs = num(told.lag_ms);
          link.holdsMs = from.holdsMs();
        }
        links.push(link);
      }
    }
    return links;
  }

  // What is wrong, in words, worst first. Each datacenter tells its own problems; here are added those that
  // it cannot tell, and what two datacenters tell of one link is said once.
  problems() {
    const problems = [];
    const links = this.links();
    for (const dc of this.dcs.values()) {
      if (dc.silent) {
        problems.push(this.silence(dc, links));
        continue;
      }
      for (const p of list(dc.status.problems)) {
        const about = name(p.about);
        const cut = links.find((l) => l.state === 'cut' && about === `${l.from} link ${l.to}`);
        if (cut && this.dcs.get(cut.to).silent) continue; // said of the silent one
        const back = cut && links.find((l) => l.from === cut.to && l.to === cut.from && l.state === 'cut');
        if (back && back.from < cut.from) continue; // said of the other direction
        problems.push({
          level: ['error', 'warning', 'note'].includes(p.level) ? p.level : 'warning', about,
          what: back ? this.bothCut(cut, back) : name(p.what), help: name(p.help)});
      }
    }
    const order = {error: 0, warning: 1, note: 2};
    return problems.sort((a, b) => order[a.level] - order[b.level]);
  }

  bothCut(there, back) {
    return `The link between ${there.from} and ${there.to} is cut. `
      + `${count(there.lag)} updates of ${there.from} and ${count(back.lag)} of ${there.to} wait`
      + `, the oldest for ${seconds(Math.max(there.staleMs, back.staleMs))}. `
      + 'Both keep serving, and exchange what they lack when the link is back.';
  }

  silence(dc, links) {
    const silentFor = Number.isFinite(dc.ageMs) ? ` for ${Math.round(dc.ageMs / 1000)} s` : '';
    if (dc.dc === this.self) {
      return {
        level: 'error', about: 'silent ' + dc.dc, help: 'the log; jcmd PID Thread.print',
        what: `${dc.dc} itself does not answer${silentFor}: one of its partitions hangs, or the machine is too busy.`};
    }
    const to = links.filter((l) => l.to === dc.dc && l.state !== 'unknown');
    const reach = to.filter((l) => l.state !== 'cut').map((l) => l.from);
    const waits = to.filter((l) => l.lag > 0);
    const at = name(this.clients[dc.dc]);
    return {
      level: 'error',
      about: 'silent ' + dc.dc,
      what: `No word from ${dc.dc}${silentFor}. `
        + (reach.length ? `${reach.join(', ')} can still reach it.` : 'No other datacenter reaches it.')
        + (waits.length === 0 ? '' : ` ${count(waits.reduce((sum, l) => sum + l.lag, 0))} updates wait for it, the oldest for `
          + `${seconds(Math.max(...waits.map((l) => l.staleMs)))}; it gets them when it is back.`),
      help: at ? `osier cli --connect ${at} why` : `osier cli why, on the machine of ${dc.dc}`};
  }
}
