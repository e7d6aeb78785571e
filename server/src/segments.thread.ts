// The thread for simulations of segments: computes what a breakdown would show from data that was read before. It
// opens no database.
import { serveThread } from './jobs/threads.ts';
import { type SimulatedAccount, simulateBreakdown } from './results/segments/simulate.ts';

serveThread((account: SimulatedAccount) => simulateBreakdown(account));
