// The thread for key drivers: computes them from figures that were read before. It opens no database.
import { serveThread } from './jobs/threads.ts';
import { computeDrivers } from './results/statistics/drivers.ts';
import type { DriversWork } from './results/statistics/drivers-thread.ts';

serveThread(({ figures, ...about }: DriversWork) => {
  const parsed = figures.map(([groupId, text]) => ({ groupId, figures: JSON.parse(text) as never }));
  return computeDrivers({ ...about, figures: parsed });
});
