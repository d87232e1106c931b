// A langchain agent with its approval middleware and savers, and a scripted model.
import { z } from 'zod';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createAgent, humanInTheLoopMiddleware } from 'langchain';
import { MemorySaver, Command } from '@langchain/langgraph';
import * as W from './workload.mjs';
import { randomUUID } from 'node:crypto';
import { rmDb } from './measure.mjs';

// Stateless: what it answers depends on the messages only, so it serves any
// number of threads and a resumed process alike.
export class ScriptedModel extends BaseChatModel {
  constructor() { super({}); }
  _llmType() { return 'scripted'; }
  bindTools() { return this; }
  async _generate(messages) {
    const last = messages[messages.length - 1];
    const isTool = (last.getType ? last.getType() : last._getType()) === 'tool';
    const message = isTool
      ? new AIMessage({ content: W.FINAL })
      : new AIMessage({ content: '', tool_calls: [{ id: `call_${messages.length}`, name: W.TOOL_NAME, args: W.CALL_ARGS(messages.length), type: 'tool_call' }] });
    return { generations: [{ text: '', message }] };
  }
}

export function transferTool(onRun) {
  return tool(async (a) => { if (onRun) await onRun(a); return W.TOOL_RESULT(a); }, {
    name: W.TOOL_NAME, description: W.TOOL_DESC,
    schema: z.object({ to: z.string(), amount: z.number(), memo: z.string() }),
  });
}

export function langchainAgent(checkpointer, { onRun } = {}) {
  return createAgent({
    model: new ScriptedModel(), tools: [transferTool(onRun)], checkpointer,
    middleware: [humanInTheLoopMiddleware({ interruptOn: { [W.TOOL_NAME]: { allowedDecisions: ['approve', 'edit', 'reject'] } } })],
  });
}

// store: memory | sqlite (as shipped: WAL, synchronous=NORMAL) | sqlite-full
export async function makeSaver(store, { dbPath, fresh = false } = {}) {
  if (store === 'memory') return { saver: new MemorySaver(), close: async () => {} };
  if (store === 'sqlite' || store === 'sqlite-full') {
    const { default: Database } = await import('better-sqlite3');
    const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
    if (fresh) rmDb(dbPath);
    const db = new Database(dbPath);
    const saver = new SqliteSaver(db);
    saver.setup();
    if (store === 'sqlite-full') db.pragma('synchronous=FULL');
    return { saver, db, close: async () => db.close() };
  }
  throw new Error(`unknown store ${store}`);
}
export const resumeApprove = () => new Command({ resume: { decisions: [{ type: 'approve' }] } });
// N finished turns, as the model and the tool would have left them.
export function priorMessages(N) {
  const out = [];
  for (let t = 0; t < N; t++) {
    const n = 4 * t + 1, a = W.CALL_ARGS(n);
    out.push(new HumanMessage({ id: randomUUID(), content: W.PROMPT(t) }),
      new AIMessage({ id: randomUUID(), content: '', tool_calls: [{ id: `call_${n}`, name: W.TOOL_NAME, args: a, type: 'tool_call' }] }),
      new ToolMessage({ id: randomUUID(), content: W.TOOL_RESULT(a), name: W.TOOL_NAME, tool_call_id: `call_${n}` }),
      new AIMessage({ id: randomUUID(), content: W.FINAL }));
  }
  return out;
}
export async function ask(agent, thread, i, prior = []) {
  const cfg = { configurable: { thread_id: thread } };
  const res = await agent.invoke({ messages: [...prior, { role: 'user', content: W.PROMPT(i) }] }, cfg);
  if (!res.__interrupt__?.length) throw new Error('no interrupt');
  return cfg;
}
export async function approve(agent, cfg) {
  const res = await agent.invoke(resumeApprove(), cfg);
  const last = res.messages[res.messages.length - 1];
  if (last.content !== W.FINAL) throw new Error(`no final: ${JSON.stringify(last.content)}`);
  return res;
}
