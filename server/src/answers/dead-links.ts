// Limits how many invalid links an address can try. Counts in memory, and never slows down people with a valid link.
import { networkOf } from '../base/network.ts';

/** The maximum number of attempts per minute, and the number of addresses kept in memory. */
const maxAttempts = 30;
const minute = 60_000;
const maxAddresses = 10_000;

export type DeadLinks = {
  /** Counts an attempt. Returns the number of seconds after which the address can try again; undefined if it is below the limit. */
  count(address: string): number | undefined;
};

/** `now`: the clock, in ms. */
export function openDeadLinks(now: () => number): DeadLinks {
  const counts = new Map<string, { count: number; since: number }>();
  return {
    count(address) {
      const network = networkOf(address);
      const time = now();
      const before = counts.get(network);
      const isOver = !before || time - before.since >= minute || time < before.since;
      const one = isOver ? { count: 0, since: time } : before;
      // Deleted and set again, so that the address is last in the map and the least recent one is dropped first.
      counts.delete(network);
      counts.set(network, one);
      if (counts.size > maxAddresses) counts.delete(counts.keys().next().value as string);
      one.count++;
      return one.count > maxAttempts ? Math.ceil((one.since + minute - time) / 1000) : undefined;
    },
  };
}
