// Computes key drivers on a thread, because half a second of computing would block other requests. At most one at a time; the last
// results are kept, because the same figures always have the same result.
import { Digest } from '../../base/crypto/digest.ts';
import { computationLimits, keepResults, runOnThread } from '../../jobs/threads.ts';
import type { DriverInput } from './driver-groups.ts';
import type { DriverResult } from './drivers.ts';

/** Like DriverInput, with the figures of each group as JSON, because they are parsed on the thread. */
export type DriversWork = Omit<DriverInput, 'figures'> & {
  figures: (readonly [groupId: number, figures: string])[];
};

/** Returns the drivers of an outcome. */
export type ComputeDrivers = (work: DriversWork) => Promise<DriverResult>;

/** How many results are kept. Each takes a few kB. */
const mostKept = 100;

/** `thread` is the module that computes. */
export function openDrivers(thread: URL): ComputeDrivers {
  const keep = keepResults<DriverResult>(mostKept);
  return (work) => keep(keyOf(work), () => runOnThread<DriverResult>(thread, work, computationLimits));
}

/** Returns a digest of everything that the result depends on. */
function keyOf({ parents, figures, kpis, outcome }: DriversWork): string {
  const digest = new Digest();
  for (const [groupId, parentId] of parents) digest.add(groupId).add(parentId);
  for (const [groupId, text] of figures) digest.add(groupId).add(text);
  for (const { id, questionIds } of kpis) digest.add(id).add(questionIds.join());
  return digest.add(outcome.join()).toString();
}
