// The workload of bench/workload.hpp, for every peer: the user asks for a transfer, the model calls
// transfer_money, a person approves, the tool runs, the model says one line.
// About 300 bytes of text per turn in all. No peer touches a network.
export const PROMPT = (i) => `Please pay invoice INV-${String(i).padStart(6, '0')} to the supplier today; the details are in the mail that I forwarded to you this morning.`;
export const CALL_ARGS = (i) => ({ to: `ACME-${String(i % 1000).padStart(4, '0')}`, amount: 1250 + (i % 50), memo: 'invoice payment, approved budget line 7' });
export const TOOL_RESULT = (a) => `transferred ${a.amount} to ${a.to}, reference 8F3A-77`;
export const FINAL = 'Done: the invoice is paid and the reference is on file.';
export const TOOL_NAME = 'transfer_money';
export const TOOL_DESC = 'Transfer money to a supplier.';
