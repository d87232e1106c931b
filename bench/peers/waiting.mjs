// Makes N threads that wait for a person, and leaves them for answer.mjs.
//   node waiting.mjs [--n=10000]
import { args, now, emit, workDir, fileBytes, rssMiB, r } from './lib/measure.mjs';
import path from 'node:path';
import * as L from './lib/langchain.mjs';
process.env.LANGSMITH_TRACING = 'false';
const o = args({ n: 10000, conc: 16 });
const dbPath = path.join(workDir(), 'waiting.db');
const s = await L.makeSaver('sqlite-full', { dbPath, fresh: true });
const agent = L.langchainAgent(s.saver);
function stored() { s.db.pragma('wal_checkpoint(TRUNCATE)'); return fileBytes(dbPath); }
const before = stored();
let next = 0;
const t0 = now();
await Promise.all(Array.from({ length: o.conc }, async () => { while (next < o.n) { const i = next++; await L.ask(agent, `p${i}`, i); } }));
const sec = (now() - t0) / 1000;
emit({ n: o.n, perSec: r(o.n / sec), rssMiB: rssMiB(), bytesEach: Math.round((stored() - before) / o.n) });
await s.close();
