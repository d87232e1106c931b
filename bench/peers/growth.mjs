// One thread that already has N turns, each with a gated tool call: time of a gated cycle and bytes stored a turn.
// Each size has a thread of its own whose first turn brings in the earlier messages at once: the same state,
// so the same cost of a further turn, without the minutes that building it turn by turn would take.
//   node growth.mjs [--points=10,100,500,1000] [--measure=9]
import path from 'node:path';
import { args, now, summary, emit, workDir, fileBytes } from './lib/measure.mjs';
import * as L from './lib/langchain.mjs';
process.env.LANGSMITH_TRACING = 'false';
const o = args({ points: '10,100,500,1000', measure: 9 });
const dbPath = path.join(workDir(), 'growth.db');
const s = await L.makeSaver('sqlite-full', { dbPath, fresh: true });
const agent = L.langchainAgent(s.saver);
function stored() { s.db.pragma('wal_checkpoint(TRUNCATE)'); return fileBytes(dbPath); }
let n = 0;
for (const N of String(o.points).split(',').map(Number)) {
  const thread = `seeded-${N}`;
  await L.approve(agent, await L.ask(agent, thread, n++, L.priorMessages(N - 1)));
  const turn = async () => L.approve(agent, await L.ask(agent, thread, n++));
  for (let k = 0; k < 2; k++) await turn();
  const before = stored(), lat = [];
  for (let k = 0; k < o.measure; k++) { const t = now(); await turn(); lat.push(now() - t); }
  emit({ priorTurns: N, ms: summary(lat), storedBytesPerTurn: Math.round((stored() - before) / o.measure) });
}
await s.close();
