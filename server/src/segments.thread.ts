// The thread for simulations of segments: computes what a kind would show from data that was read before. It opens no database.
import { serveThread } from './jobs/threads.ts';
import { type SimulatedAccount, simulateKind } from './results/segments/simulate.ts';

serveThread((account: SimulatedAccount) => simulateKind(account));
