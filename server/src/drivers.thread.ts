// The thread for key drivers: computes them from figures that were read before, and posts the result. It opens no database.
import { parentPort, workerData } from 'node:worker_threads';
import { computeDrivers } from './results/statistics/drivers.ts';
import type { DriversWork } from './results/statistics/drivers-thread.ts';

const { figures, ...about } = workerData as DriversWork;
const parsed = figures.map(([groupId, text]) => ({ groupId, figures: JSON.parse(text) as never }));
parentPort!.postMessage(computeDrivers({ ...about, figures: parsed }));
