// Shared helpers: statistics, arguments, result lines.
import fs from 'node:fs';

export function args(defaults = {}) {
  const out = { ...defaults };
  for (const a of process.argv.slice(2)) {
    const m = /^--([^=]+)(?:=(.*))?$/.exec(a);
    if (m) out[m[1]] = m[2] === undefined ? true : /^-?\d+(\.\d+)?$/.test(m[2]) ? Number(m[2]) : m[2];
  }
  return out;
}
export const now = () => Number(process.hrtime.bigint()) / 1e6; // ms
export function quant(sorted, q) {
  if (!sorted.length) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}
export function summary(xs) {
  const s = [...xs].sort((a, b) => a - b);
  return { n: s.length, p50: r(quant(s, 0.5)), p99: r(quant(s, 0.99)), min: r(s[0]), max: r(s[s.length - 1]),
    mean: r(s.reduce((a, b) => a + b, 0) / s.length) };
}
export const median = (xs) => { const s = [...xs].sort((a, b) => a - b), h = s.length >> 1; return s.length % 2 ? s[h] : (s[h - 1] + s[h]) / 2; };
export const r = (x) => (Math.abs(x) >= 100 ? Math.round(x * 10) / 10 : Math.round(x * 10000) / 10000);

// Work directory for databases; never inside the source tree.
export function workDir() {
  const d = process.env.BENCH_FOLDER;
  if (!d) throw new Error('BENCH_FOLDER must say where databases go');
  fs.mkdirSync(d, { recursive: true });
  return d;
}
export function emit(obj) {
  console.log(JSON.stringify(obj));
}
export function rssMiB() { return r(process.memoryUsage().rss / 1048576); }
export function peakRssMiB() { // VmHWM
  const m = /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync('/proc/self/status', 'utf8'));
  return m ? r(Number(m[1]) / 1024) : NaN;
}
export function fileBytes(p) {
  let n = 0;
  for (const s of ['', '-wal', '-shm']) { try { n += fs.statSync(p + s).size; } catch { /* none */ } }
  return n;
}
export function rmDb(p) { for (const s of ['', '-wal', '-shm', '-journal']) fs.rmSync(p + s, { force: true }); }
