// A gated cycle: prompt -> interrupt stored -> approve -> tool runs -> final text stored.
// One process is one run: first serial, then 64 threads in flight.
//   node cycle.mjs [--store=sqlite-full] [--serial=150] [--conc=64] [--total=320]
import path from 'node:path';
import { args, now, summary, emit, workDir, peakRssMiB, r } from './lib/measure.mjs';
import * as L from './lib/langchain.mjs';
process.env.LANGSMITH_TRACING = 'false';
const o = args({ store: 'sqlite-full', serial: 150, conc: 64, total: 320, warm: 40 });
const dbPath = path.join(workDir(), `cycle-${o.store}.db`);
let ran = 0;
const onRun = () => { ran++; };

const saver = await L.makeSaver(o.store, { dbPath, fresh: true });
const agent = L.langchainAgent(saver.saver, { onRun });
let seq = 0;
async function cycle(prefix, lat) {
  const i = seq++;
  const t0 = now();
  const h = await L.ask(agent, `${prefix}${i}`, i);
  await L.approve(agent, h);
  const t2 = now();
  lat.push(t2 - t0);
}
for (let i = 0; i < o.warm; i++) {
  const before = ran; const k = seq++;
  const h = await L.ask(agent, `w${k}`, k);
  if (ran !== before) throw new Error('tool ran before the approval');
  await L.approve(agent, h);
  if (ran !== before + 1) throw new Error('tool did not run once');
}
{
  const lat = [];
  const t0 = now();
  for (let i = 0; i < o.serial; i++) await cycle('s', lat);
  const dt = now() - t0;
  emit({ mode: 'serial', perSec: r(o.serial / dt * 1000), ms: summary(lat) });
}
{
  const lat = [];
  let left = o.total;
  const t0 = now();
  await Promise.all(Array.from({ length: o.conc }, async () => { while (left-- > 0) await cycle('c', lat); }));
  const dt = now() - t0;
  emit({ mode: 'flight', perSec: r(lat.length / dt * 1000), ms: summary(lat), peakRssMiB: peakRssMiB() });
}
const want = o.warm + o.serial + o.total;
if (ran !== want) throw new Error(`tool ran ${ran} times, expected ${want}`);
await saver.close();
