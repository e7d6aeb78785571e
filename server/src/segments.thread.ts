// The thread for simulations of segments: computes what a breakdown would show from data that was read before, and posts the result. It
// opens no database.
import { parentPort, workerData } from 'node:worker_threads';
import { type SimulatedAccount, simulateBreakdown } from './results/segments/simulate.ts';

parentPort!.postMessage(simulateBreakdown(workerData as SimulatedAccount));
