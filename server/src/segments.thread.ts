// The thread for simulations of segments: computes what a kind would show from data that was read before, and posts the result. It
// opens no database.
import { parentPort, workerData } from 'node:worker_threads';
import { type SimulatedAccount, simulateKind } from './results/segments/simulate.ts';

parentPort!.postMessage(simulateKind(workerData as SimulatedAccount));
