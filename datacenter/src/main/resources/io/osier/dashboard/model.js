// What is known of the datacenters, from the messages that come. No DOM here.

import {count, millis, num} from './format.js';

const SAMPLES_MAX = 61; // a minute
const HISTORY_MAX = 120; // two minutes
const SWITCHES_MAX = 8;
const SILENT_MS = 3500;
// What has arrived, and what that takes as operations: what is held up by an outage is in neither.
const EMPTY = {updates: 0, applied: 0, shipped: 0, ops: 0};

const list = (value) => (Array.isArray(value) ? value : []);
const name = (value) => (typeof value === 'string' ? value : '');

class Datacenter {
  constructor(dc) {
    this.dc = dc;
    this.status = null;
    this.ageMs = Infinity;
    this.by = '';
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
    this.samples.push({incarnation: status.incarnation, uptime: num(status.uptime_ms), spaces, links});
    if (this.samples.length > SAMPLES_MAX) this.samples.shift();
    return true;
  }

  // The last two samples, if they can be compared.
  last() {
    const [a, b] = this.samples.slice(-2);
    return b && b.uptime > a.uptime ? {a, b, seconds: (b.uptime - a.uptime) / 1000} : null;
  }

  rates(keyspace) {
    const pair = this.last();
    if (!pair || this.silent) return EMPTY;
    const sum = {...EMPTY};
    for (const [space, b] of pair.b.spaces) {
      const a = pair.a.spaces.get(space);
      if (!a || (keyspace && space !== keyspace)) continue;
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
        dc.by = name(entry.by);
        if (dc.take(status)) this.compareModes(dc, now);
      } catch (e) {
        // A peer of another version, perhaps: it counts as silent.
      }
    }
    const second = new Map();
    for (const dc of this.dcs.values()) {
      const spaces = new Map();
      for (const k of this.keyspaces()) spaces.set(k, dc.rates(k));
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
        .filter((k) => !scope.keyspace || k.name === scope.keyspace)
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
        if (scope.keyspace && scope.keyspace !== space) continue;
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
        if (scope.keyspace && space !== scope.keyspace) continue;
        const start = a.spaces.get(space)?.counts ?? [];
        end.counts.forEach((n, i) => {
          counts[i] = (counts[i] ?? 0) + Math.max(0, n - num(start[i]));
        });
      }
    }
    return counts;
  }

  // Whether the updates of the last minute were seen elsewhere in time. What is overdue counts as late,
  // also while a peer is unheard; of what arrived a little too late the receivers tell, by shipments.
  timeliness(scope) {
    const sum = {confirmed: 0, late: 0, overdue: 0};
    for (const dc of this.chosen(scope)) {
      const a = dc.samples[0];
      const b = dc.samples.at(-1);
      if (!b || dc.silent) continue;
      for (const [space, end] of b.spaces) {
        if (scope.keyspace && space !== scope.keyspace) continue;
        const start = a.spaces.get(space) ?? end;
        sum.confirmed += Math.max(0, end.confirmed - start.confirmed);
        sum.late += Math.max(0, end.late - start.late);
        sum.overdue += end.overdue;
      }
    }
    return sum;
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

  // Every direction between two datacenters.
  links() {
    const links = [];
    for (const from of this.dcs.values()) {
      for (const to of this.dcs.values()) {
        if (from === to) continue;
        const told = list(from.status?.links).find((l) => l.dc === to.dc);
        let state = 'unknown';
        if (told && !from.silent) {
          state = !told.connected ? 'cut' : told.stream === 'catching-up' && num(told.lag_updates) > 0 ? 'catching up'
            : num(told.overdue_updates) > 0 ? 'late' : 'healthy';
        }
        // Of one that is silent the other one knows for how long.
        const heard = to.silent ? null : list(to.status?.links).find((l) => l.dc === from.dc);
        const staleMs = from.silent ? (heard ? num(heard.unheard_ms) : null) : num(told?.lag_ms);
        links.push({
          from: from.dc, to: to.dc, state, rate: from.linkRate(to.dc), lag: num(told?.lag_updates),
          overdue: num(told?.overdue_updates), staleMs, holdsMs: from.holdsMs(), inFlight: num(told?.in_flight_bytes)});
      }
    }
    return links;
  }

  // What is wrong, in words, worst first; what a datacenter cannot say itself is added.
  problems() {
    const problems = [];
    for (const dc of this.dcs.values()) {
      if (dc.silent) {
        const self = dc.dc === this.self;
        const waits = self ? [] : [...this.dcs.values()].filter((o) => !o.silent)
          .map((o) => list(o.status.links).find((l) => l.dc === dc.dc)).filter((l) => num(l?.lag_updates) > 0);
        const held = waits.length === 0 ? '' : ` ${count(waits.reduce((sum, l) => sum + num(l.lag_updates), 0))} updates wait`
          + ` for it, the oldest for ${millis(Math.max(...waits.map((l) => num(l.lag_ms))))}.`;
        const at = name(this.clients[dc.dc]);
        const seconds = Number.isFinite(dc.ageMs) ? ` for ${Math.round(dc.ageMs / 1000)} s` : '';
        const hears = [...this.dcs.values()].filter((o) => !o.silent && o !== dc &&
          list(o.status.links).some((l) => l.dc === dc.dc && l.connected)).map((o) => o.dc);
        problems.push({
          level: 'error',
          about: 'silent ' + dc.dc,
          what: self
            ? `${dc.dc} itself does not answer${seconds}: one of its partitions hangs, or the machine is too busy.`
            : `No word from ${dc.dc}${seconds}. ` + (hears.length ? `${hears.join(', ')} can still reach it.` : 'Nobody here can reach it.') + held,
          help: self ? 'the log; jcmd PID Thread.print' : at ? `osier cli --connect ${at} peers` : `osier cli peers, on the machine of ${dc.dc}`,
        });
      } else {
        for (const p of list(dc.status.problems)) {
          problems.push({
            level: ['error', 'warning', 'note'].includes(p.level) ? p.level : 'warning',
            about: name(p.about), what: name(p.what), help: name(p.help)});
        }
      }
    }
    const order = {error: 0, warning: 1, note: 2};
    return problems.sort((a, b) => order[a.level] - order[b.level]);
  }
}
