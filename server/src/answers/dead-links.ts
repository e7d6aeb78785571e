// How many links that open nothing an address has tried. Counted in memory: it slows nobody who has a link down.
import { networkOf } from '../base/addresses.ts';

/** So many in a minute, and of so many addresses at once. */
const most = 30;
const minute = 60_000;
const remembered = 10_000;

export type DeadLinks = {
  /** Counts one. Says after how many seconds the address may try another, or undefined while it may go on. */
  count(address: string): number | undefined;
};

/** `now`: the clock, in ms. */
export function openDeadLinks(now: () => number): DeadLinks {
  const counts = new Map<string, { count: number; since: number }>();
  return {
    count(address) {
      const network = networkOf(address);
      const moment = now();
      const before = counts.get(network);
      const isOver = !before || moment - before.since >= minute || moment < before.since;
      const one = isOver ? { count: 0, since: moment } : before;
      // Set anew, it stands last: the one forgotten first is who has been still for longest.
      counts.delete(network);
      counts.set(network, one);
      if (counts.size > remembered) counts.delete(counts.keys().next().value as string);
      one.count++;
      return one.count > most ? Math.ceil((one.since + minute - moment) / 1000) : undefined;
    },
  };
}
