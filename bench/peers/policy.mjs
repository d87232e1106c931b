// Time of a decision with N rules.
//   kind=amount: rule i is  tool == tool_i && args.amount > LIMIT_i
//   kind=string: rule i is  tool == bash && args.command =~ ^rm -rf /srv/app_i(/|$)
//                (Cedar has no regex: like "rm -rf /srv/app_i/*")
// Requests: "last" matches only rule N-1, "none" matches no rule. Decision:
// gate if any rule matches. Rules are compiled once, outside the timing.
//   node policy.mjs --engine=cedar --kind=amount --n=1000
import { args, now, emit, r, median } from './lib/measure.mjs';
const o = args({ engine: 'plain-js', kind: 'amount', n: 1000, secs: 0.4 });
const N = o.n, limit = (i) => 100 + (i % 50);
const reqs = o.kind === 'amount'
  ? { last: { tool: `tool_${N - 1}`, args: { amount: 1e6, to: 'ACME' } }, none: { tool: 'tool_x', args: { amount: 1e6, to: 'ACME' } } }
  : { last: { tool: 'bash', args: { command: `rm -rf /srv/app_${N - 1}/data` } }, none: { tool: 'bash', args: { command: 'ls -la /srv/app_data/current/releases' } } };
const rx = (i) => `^rm -rf /srv/app_${i}(/|$)`;
const idx = Array.from({ length: N }, (_, i) => i);
const amount = o.kind === 'amount';

const engines = {
  'plain-js': async () => { // floor: a loop over precompiled predicates
    const rules = idx.map((i) => { if (amount) { const t = `tool_${i}`, l = limit(i); return (q) => q.tool === t && q.args.amount > l; } const re = new RegExp(rx(i)); return (q) => q.tool === 'bash' && re.test(q.args.command); });
    return { sync: (q) => { for (const f of rules) if (f(q)) return true; return false; } };
  },
  cedar: async () => {
    const c = (await import('@cedar-policy/cedar-wasm/nodejs')).default ?? await import('@cedar-policy/cedar-wasm/nodejs');
    const text = idx.map((i) => (amount ? `permit(principal, action == Action::"tool_${i}", resource) when { context.amount > ${limit(i)} };` : `permit(principal, action == Action::"bash", resource) when { context.command like "rm -rf /srv/app_${i}/*" };`)).join('\n');
    const a = c.preparsePolicySet('p', { staticPolicies: text });
    if (a.type !== 'success') throw new Error(JSON.stringify(a).slice(0, 300));
    return { sync: (q) => {
      const x = c.statefulIsAuthorized({ principal: { type: 'Agent', id: 'a' }, action: { type: 'Action', id: q.tool }, resource: { type: 'Sys', id: 's' }, context: q.args, preparsedPolicySetId: 'p', entities: [] });
      if (x.type !== 'success') throw new Error(JSON.stringify(x).slice(0, 300));
      return x.response.decision === 'allow';
    } };
  },
  'json-rules-engine': async () => {
    const { Engine } = await import('json-rules-engine');
    const e = new Engine([], { allowUndefinedFacts: true });
    const cache = new Map();
    e.addOperator('regex', (v, p) => { let re = cache.get(p); if (!re) cache.set(p, (re = new RegExp(p))); return typeof v === 'string' && re.test(v); });
    for (const i of idx) e.addRule({ event: { type: 'gate' }, conditions: { all: amount
      ? [{ fact: 'tool', operator: 'equal', value: `tool_${i}` }, { fact: 'args', path: '$.amount', operator: 'greaterThan', value: limit(i) }]
      : [{ fact: 'tool', operator: 'equal', value: 'bash' }, { fact: 'args', path: '$.command', operator: 'regex', value: rx(i) }] } });
    return { async: async (q) => (await e.run(q)).events.length > 0 };
  },
  casbin: async () => {
    const { newEnforcer, newModelFromString } = await import('casbin');
    const m = newModelFromString(`
[request_definition]
r = tool, val
[policy_definition]
p = tool, lim
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = ${amount ? 'r.tool == p.tool && r.val > p.lim' : 'r.tool == p.tool && regexMatch(r.val, p.lim)'}
`);
    const e = await newEnforcer(m);
    await e.addPolicies(idx.map((i) => (amount ? [`tool_${i}`, String(limit(i))] : ['bash', rx(i)])));
    return { async: (q) => e.enforce(q.tool, amount ? q.args.amount : q.args.command) };
  },
  'cel-js': async () => {
    const { parse } = await import('@marcbachmann/cel-js');
    const rules = idx.map((i) => parse(amount ? `tool == "tool_${i}" && args.amount > ${limit(i)}.0` : `tool == "bash" && args.command.matches("${rx(i)}")`));
    return { sync: (q) => { for (const f of rules) if (f(q)) return true; return false; } };
  },
  'zen-engine': async () => {
    const { ZenEngine } = await import('@gorules/zen-engine');
    const e = new ZenEngine();
    const f2 = amount ? 'args.amount' : 'args.command';
    const d = e.createDecision({
      nodes: [
        { id: 'in', type: 'inputNode', name: 'in', position: { x: 0, y: 0 } },
        { id: 't', type: 'decisionTableNode', name: 't', position: { x: 0, y: 0 }, content: { hitPolicy: 'first',
          inputs: [{ id: 'a', name: 'tool', field: 'tool' }, { id: 'b', name: 'v', field: f2 }], outputs: [{ id: 'o', name: 'gate', field: 'gate' }],
          rules: idx.map((i) => ({ _id: String(i), a: amount ? `"tool_${i}"` : '"bash"', b: amount ? `> ${limit(i)}` : `matches($, "${rx(i)}")`, o: 'true' })) } },
        { id: 'out', type: 'outputNode', name: 'out', position: { x: 0, y: 0 } }],
      edges: [{ id: 'e1', sourceId: 'in', targetId: 't', type: 'edge' }, { id: 'e2', sourceId: 't', targetId: 'out', type: 'edge' }],
    });
    return { async: async (q) => (await d.evaluate(q)).result?.gate === true };
  },
  'json-logic-js': async () => {
    const jl = (await import('json-logic-js')).default;
    const cache = new Map();
    jl.add_operation('regex', (v, p) => { let re = cache.get(p); if (!re) cache.set(p, (re = new RegExp(p))); return re.test(v); });
    const rule = { or: idx.map((i) => ({ and: amount ? [{ '==': [{ var: 'tool' }, `tool_${i}`] }, { '>': [{ var: 'args.amount' }, limit(i)] }] : [{ '==': [{ var: 'tool' }, 'bash'] }, { regex: [{ var: 'args.command' }, rx(i)] }] })) };
    return { sync: (q) => jl.apply(rule, q) === true };
  },
};
const t0 = now();
const e = await engines[o.engine]();
const buildMs = r(now() - t0);
for (const [req, q] of Object.entries(reqs)) {
  const want = req === 'last';
  const one = e.sync ? async () => e.sync(q) : () => e.async(q);
  if ((await one()) !== want) throw new Error(`${o.engine} ${o.kind} ${N} ${req}: wrong decision`);
  const batch = []; let k = 1;
  const runK = async (n) => { const t = now(); if (e.sync) for (let i = 0; i < n; i++) e.sync(q); else for (let i = 0; i < n; i++) await e.async(q); return now() - t; };
  for (let w = 0; w < 30; w++) { const dt = await runK(k); if (dt < 10) k = Math.min(1e6, k * 2); else break; }
  for (const wend = now() + o.secs * 1000; now() < wend;) await runK(Math.max(1, k >> 3)); // let the compilers finish
  const end = now() + o.secs * 1000;
  do { batch.push((await runK(k)) / k * 1000); } while (now() < end && batch.length < 200);
  emit({ req, us: r(median(batch)), buildMs });
}
