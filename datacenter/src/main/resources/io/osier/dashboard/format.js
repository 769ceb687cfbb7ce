// Numbers as people read them. The space before a unit is narrow and does not break.

const NARROW = '\u202f';

export const num = (value) => (Number.isFinite(value) ? value : 0);

export function count(value) {
  const n = num(value);
  if (n >= 1e7) return (n / 1e6).toFixed(n >= 1e8 ? 0 : 1) + NARROW + 'M';
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

export function rate(value) {
  const n = num(value);
  return n > 0 && n < 10 ? n.toFixed(1) : count(n);
}

export function bytes(value) {
  let n = num(value);
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (n < 1000 || unit === 'GB') {
      return (unit === 'B' || n >= 100 ? Math.round(n) : n.toFixed(1)) + NARROW + unit;
    }
    n /= 1000;
  }
}

export function millis(value) {
  const n = num(value);
  if (n < 1000) return Math.round(n) + NARROW + 'ms';
  if (n < 10000) return String(Math.round(n / 100) / 10) + NARROW + 's';
  if (n < 120000) return Math.round(n / 1000) + NARROW + 's';
  return Math.round(n / 60000) + NARROW + 'min';
}

// Always in seconds: for what is compared with one another.
export function seconds(value) {
  const n = num(value) / 1000;
  return (n < 10 ? n.toFixed(1) : count(n)) + NARROW + 's';
}

export function percent(share, digits = 0) {
  // 99.97 % must not read as 100 %.
  const p = share * 100;
  const rounded = Number(p.toFixed(digits));
  if (rounded >= 100 && share < 1) return (100 - 10 ** -Math.max(digits, 2)).toFixed(Math.max(digits, 2)) + NARROW + '%';
  return rounded.toFixed(digits) + NARROW + '%';
}

// The time of day.
export const clock = (millis) => new Date(millis).toTimeString().slice(0, 8);
