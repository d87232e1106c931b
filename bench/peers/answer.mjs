// A fresh process answers one of the threads that wait. Who starts it takes the time.
//   node answer.mjs --thread=p17
import { args, emit, rssMiB, workDir } from './lib/measure.mjs';
import path from 'node:path';
import * as L from './lib/langchain.mjs';
process.env.LANGSMITH_TRACING = 'false';
const o = args({});
const s = await L.makeSaver('sqlite-full', { dbPath: path.join(workDir(), 'waiting.db') });
await L.approve(L.langchainAgent(s.saver), { configurable: { thread_id: o.thread } });
emit({ rssMiB: rssMiB() });
await s.close();
