// Puts the page together: one stream of messages in, one picture a second out.

import {$, h, attribute, text, shown} from './dom.js';
import {bytes, clock, count, millis, num, percent, rate, seconds} from './format.js';
import {Model, SILENT_MS, chosen} from './model.js';
import {TimeChart} from './charts.js';
import {DatacenterMap} from './map.js';
import {Hour} from './history.js';
import {HotBoard} from './hot.js';
import {Distribution} from './visibility.js';

const model = new Model();
const scope = {keyspace: '', dc: ''};
let paused = false;
let heardAt = 0;
let linger = new Map(); // problems that have just ended are shown a little longer

const updatesChart = new TimeChart($('updates-chart'), [{of: (s) => s.updates, kind: 'area', className: 'updates'}], 'Updates a second, two minutes');
const bytesChart = new TimeChart($('bytes-chart'), [
  {of: (s) => s.ops, kind: 'area', className: 'ops'},
  {of: (s) => s.shipped, kind: 'area', className: 'shipped'}], 'Bytes a second as operations and as shipped, two minutes');
const distribution = new Distribution($('visibility'));
const map = new DatacenterMap($('map'), (dc) => choose('dc', scope.dc === dc ? '' : dc));
const hot = new HotBoard($('hot'));
const hour = new Hour($('hour'), $('hour-time'), $('hour-at'), $('hour-title'));
const LEVELS = ['error', 'warning', 'note'];
const wide = matchMedia('(min-width: 115rem)');
if (wide.matches) $('links').closest('details').open = true;

// ---------------------------------------------------------------- what is looked at

function choose(what, value) {
  scope[what] = value;
  $(what === 'dc' ? 'scope' : 'keyspace').value = value;
  draw();
}

function options(select, names) {
  const wanted = ['', ...names];
  if ([...select.options].map((o) => o.value).join('\n') === wanted.join('\n')) return;
  const value = select.value;
  select.replaceChildren(...wanted.map((n) => h('option', {value: n}, n === '' ? 'all' : names.some((o) => o.startsWith(n + '@')) ? `${shown(n)} with its homes` : shown(n))));
  select.value = wanted.includes(value) ? value : '';
}

$('keyspace').addEventListener('change', (e) => choose('keyspace', e.target.value));
$('scope').addEventListener('change', (e) => choose('dc', e.target.value));

function next(select) {
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  select.dispatchEvent(new Event('change'));
}

// ---------------------------------------------------------------- theme, pause, keys

const THEMES = ['auto', 'light', 'dark'];

function stored(value) {
  try {
    if (value !== undefined) localStorage.setItem('osier-theme', value);
    return localStorage.getItem('osier-theme');
  } catch (e) {
    return null; // a browser that keeps nothing
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  text($('theme'), 'Theme: ' + theme);
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  setTheme(theme);
  stored(theme);
}

function togglePause() {
  paused = !paused;
  attribute($('pause'), 'aria-pressed', paused);
  text($('pause'), paused ? 'Go on' : 'Pause');
  if (!paused) draw();
  live();
}

setTheme(THEMES.includes(stored()) ? stored() : 'auto');
$('theme').addEventListener('click', nextTheme);
$('pause').addEventListener('click', togglePause);
$('help').addEventListener('click', () => $('about').showModal());
document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || $('about').open || e.target.closest('select, input')) return;
  const keys = {k: () => next($('keyspace')), d: () => next($('scope')), p: togglePause, t: nextTheme, '?': () => $('about').showModal()};
  if (keys[e.key]) {
    e.preventDefault();
    keys[e.key]();
  }
});

// ---------------------------------------------------------------- the stream

let source;

function connect() {
  source = new EventSource('/dashboard/events');
  source.onmessage = (event) => {
    heardAt = Date.now();
    model.feed(JSON.parse(event.data));
    if (!paused) draw();
    live();
  };
  source.onerror = () => {
    live();
    // The browser comes again by itself, unless it was refused: too many look.
    if (source.readyState === EventSource.CLOSED) {
      source.close();
      setTimeout(connect, 5000);
    }
  };
}

function live() {
  const late = Date.now() - heardAt > SILENT_MS;
  const state = paused ? 'paused' : !late ? 'live' : heardAt === 0 ? 'connecting' : 'lost';
  attribute($('live'), 'data-state', state);
  attribute($('main'), 'data-lost', state === 'lost');
  if (state === 'lost') lost();
  const words = {live: 'live', paused: 'paused', connecting: 'connecting', lost: 'no connection'};
  text($('live'), words[state]);
}

setInterval(live, 1000);
addEventListener('pagehide', () => source.close());
connect();

// ---------------------------------------------------------------- the last hour, as the server kept it

async function look() {
  if (document.hidden || paused) return;
  try {
    const answer = await fetch('/dashboard/history');
    if (answer.ok) hour.take(await answer.json());
  } catch (e) {
    // The stream says that there is no connection.
  }
}

setInterval(look, 10000);
look();

// ---------------------------------------------------------------- the picture

function draw() {
  if (model.self === '') return;
  text($('self'), `seen from ${shown(model.self)}`);
  document.title = `Osier · ${model.self}`;
  options($('keyspace'), model.keyspaces());
  options($('scope'), [...model.dcs.keys()].sort());
  health();
  tiles();
  map.draw(model, scope);
  links();
  hot.draw(model, scope, wide.matches ? 24 : 12);
  switches();
  keyspaces();
}

function health() {
  const now = Date.now();
  const problems = model.problems();
  for (const p of problems) linger.set(p.about, {...p, until: now + 5000});
  for (const [about, p] of linger) if (p.until < now) linger.delete(about);
  const all = [...linger.values()].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
  const serving = [...model.dcs.values()].filter((d) => !d.silent && d.status.ready).length;
  show(all, all.length === 0
    ? `All is well: ${serving} of ${model.dcs.size} datacenters serve, every link is up.`
    : all[0].level === 'note' ? 'Something mends itself' : all.length === 1 ? 'One thing is wrong' : `${all.length} things are wrong`);
}

// Without messages nothing is known, least of all that all is well.
function lost() {
  const at = model.clients[model.self];
  show([{
    level: 'error', help: at ? `osier cli --connect ${at} why` : 'the log of the datacenter',
    what: `${model.self} has told this page nothing since ${clock(heardAt)}: everything below is from then.`}],
  `No connection to ${model.self}`);
}

// Shows problems, worst first, under a title.
function show(problems, title) {
  attribute($('health'), 'data-level', problems.length === 0 ? 'none' : problems[0].level);
  text($('health-title'), title);
  const key = JSON.stringify(problems.map((p) => [p.level, p.what, p.help]));
  if ($('problems').dataset.key === key) return;
  $('problems').dataset.key = key;
  $('problems').replaceChildren(...problems.map((p) =>
    h('li', {'data-level': p.level},
      h('span', {class: 'what'}, h('b', {class: 'level'}, p.level), ' ', shown(p.what)),
      h('span', {class: 'fix'}, h('code', {tabindex: 0}, shown(p.help))))));
}

function tiles() {
  const series = model.series(scope);
  const now = model.now(scope);
  text($('updates'), rate(now.updates));
  text($('updates-sub'), `committed a second, ${rate(now.applied)} arrived from elsewhere`);
  text($('bytes'), bytes(now.shipped) + '/s');
  text($('bytes-sub'), `as operations ${bytes(now.ops)}/s`);
  const carried = model.links().filter((l) => !scope.dc || l.from === scope.dc).reduce((sum, l) => sum + l.rate, 0);
  text($('links-sub'), scope.keyspace ? '' : `the links carry ${bytes(carried)}/s: compressed, with framing and acknowledgements`);
  updatesChart.draw(series, `${rate(now.updates)} now`);
  bytesChart.draw(series, `${bytes(now.shipped)} now, ${bytes(now.ops)} as operations`);
  const shipped = series.reduce((sum, s) => sum + s.shipped, 0);
  const ops = series.reduce((sum, s) => sum + s.ops, 0);
  const saved = ops > 0 ? Math.max(0, 1 - shipped / ops) : 0;
  text($('saved'), ops > 0 ? percent(saved) : '–');
  text($('saved-sub'), ops > 0 ? `of the bytes that operations alone would have taken in ${series.length < 120 ? series.length + ' s' : 'two minutes'}` : 'nothing was shipped yet');
  $('saved-meter').firstElementChild.style.transform = `scaleX(${(1 - saved).toFixed(3)})`;

  const counts = model.visibility(scope);
  const sla = model.sla(scope);
  const {total, inTime} = distribution.draw(counts, sla);
  const {confirmed, late, overdue} = model.timeliness(scope);
  const due = confirmed + overdue;
  // The senders count updates that are late by more than a confirmation takes, the receivers all late shipments.
  const bySenders = due > 0 ? (confirmed - late) / due : 1;
  const byReceivers = total > 0 ? inTime / total : 1;
  const share = Math.min(bySenders, byReceivers);
  text($('within'), due > 0 ? percent(share, share === 1 ? 0 : 2) : '–');
  attribute($('within'), 'data-late', share < 0.99);
  text($('delta-sub'), `${sla ? 'δ = ' + millis(sla) : 'δ, set for each keyspace'}: the longest that an update may take to be seen at every connected datacenter`);
  text($('within-sub'), due === 0 ? 'nothing was written in the last minute' : `of ${count(due)} updates in the last minute`
    + (late > 0 ? `, ${count(late)} came late` : '') + (overdue > 0 ? `, ${count(overdue)} are overdue` : '')
    + (byReceivers < bySenders ? `; ${count(total - inTime)} of ${count(total)} shipments came late` : ''));
  const at = (q) => {
    const share = Distribution.quantile(counts, q);
    return !Number.isFinite(share) ? 'over 2\u202fδ' : sla ? millis(share * sla) : share.toFixed(2) + '\u202fδ';
  };
  text($('late-sub'), total > 0 ? `delay: median ${at(0.5)}, p99 ${at(0.99)}` : '');
  text($('visibility-sub'), total > 0
    ? 'Shipments of the last minute, by the time from the commit of their oldest update until it could be read elsewhere; without those that an outage delayed. '
      + 'Updates of cold objects are shipped at once and stand on the left; hot objects are held until just before δ and stand on the right. Heights are square roots, so that few are seen beside many.'
    : 'Nothing has arrived from elsewhere in the last minute.');
  const states = model.spaces(scope).reduce((sum, {dc, k}) => sum + (dc.silent ? 0 : k.state_objects), 0);
  const switched = model.spaces(scope).reduce((sum, {dc, k}) => sum + (dc.silent ? 0 : k.switches), 0);
  text($('hot-sub'), `${count(states)} objects ship states now, ${count(switched)} switches since the start`);
}

function links() {
  const body = $('links').tBodies[0];
  if (!$('links').closest('details').open) {
    body.replaceChildren();
    return;
  }
  body.replaceChildren(...model.links().map((l) =>
    h('tr', {'data-state': l.state},
      h('td', {}, shown(l.from)), h('td', {}, shown(l.to)), h('td', {}, l.state),
      [[bytes, l.rate], [seconds, l.staleMs], [count, l.overdue], [count, l.lag], [bytes, l.inFlight]]
        .map(([unit, value]) => h('td', {}, value === null ? '?' : unit(value))))));
}

$('links').closest('details').addEventListener('toggle', links);

function keyspaces() {
  const placed = model.placed({keyspace: scope.keyspace, dc: ''}).filter((k) => !scope.dc || k.holders.includes(scope.dc));
  const holder = (k, dc) => [shown(dc), k.catchingUp.includes(dc) ? h('small', {}, ' (catches up)') : null];
  $('keyspaces').tBodies[0].replaceChildren(...placed.map((k) =>
    h('tr', {'data-keyspace': k.space},
      h('td', {}, shown(k.space)), h('td', {}, k.holders.flatMap((dc, i) => [i > 0 ? ', ' : '', holder(k, dc)]).flat()),
      h('td', {}, k.slaMs > 0 ? millis(k.slaMs) : 'none'), h('td', {}, count(k.objects)), h('td', {}, rate(k.updates)))));
  const all = [...model.dcs.values()].filter((dc) => !dc.silent);
  const copies = all.filter((dc) => num(dc.status.copies?.objects) > 0)
    .map((dc) => `${shown(dc.dc)} answers ${rate(dc.copyReads())} reads/s from copies of ${count(dc.status.copies.objects)} objects`);
  const left = Math.max(0, ...all.map((dc) => num(dc.status.keyspaces_left_out)));
  text($('keyspaces-sub'), [
    copies.length > 0 ? copies.join(', ') + ', which only others hold.' : '',
    left > 0 ? `${count(left)} more keyspaces, the least busy ones, are not shown.` : ''].filter(Boolean).join(' '));
}

function switches() {
  const all = model.switches.filter((w) => (!scope.dc || w.dc === scope.dc) && chosen(w.keyspace, scope.keyspace));
  const key = JSON.stringify(all.map((w) => [w.id, w.at]));
  if ($('switches').dataset.key === key) return;
  $('switches').dataset.key = key;
  $('switches').replaceChildren(...(all.length === 0
    ? [h('li', {class: 'sub'}, 'No object has switched since this page was opened.')]
    : all.map((w) =>
      h('li', {'data-mode': w.mode, 'data-key': w.key},
        h('time', {}, clock(w.at)), ' ',
        h('bdi', {}, shown(w.key)), h('small', {}, ` at ${shown(w.dc)}, ${shown(w.keyspace)}`),
        h('b', {class: 'to'}, w.mode === 'state' ? '→ states' : '→ operations'),
        h('small', {}, ` ${rate(w.rate)} updates/s, ${bytes(w.bytes)}`)))));
}
