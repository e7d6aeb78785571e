// Groups what people send at the same time into single statements, because a statement and its commit cost more than an answer.
import type { Week } from '@soundings/contract/weeks.ts';
import { Batching } from '../base/batching.ts';
import type { Db } from '../db/db.ts';
import {
  type Keeping,
  type KeptOutcome,
  type LinkKeyRow,
  selectLinkKeys,
  upsertAnswers,
} from './answering.sql.ts';

/** `links`: finds the links of all weeks. `weeks`: saves the answers of each week. */
type Together = { links: Batching<Buffer, LinkKeyRow | undefined>; weeks: Batching<Keeping, KeptOutcome> };
const together = new WeakMap<Db, Together>();

/** Returns what groups statements on these connections. */
export function togetherOn(db: Db): Together {
  const known = together.get(db);
  if (known) return known;
  const created: Together = {
    links: new Batching((_, hashes) => selectLinkKeys(db, hashes), { most: 100, atOnce: 1 }),
    // A week that is being closed delays no answers of other weeks, and occupies at most one connection.
    weeks: new Batching((name, all) => keepAll(db, name, all), { most: 100, atOnce: 1 }),
  };
  together.set(db, created);
  return created;
}

const weekOfName = (name: string) => {
  const [accountId, week] = name.split(' ') as [string, Week];
  return { accountId: Number(accountId), week };
};

/** Saves the answers of several people. If a person is in the list twice, only the first is saved and the other is retried. */
async function keepAll(db: Db, name: string, all: Keeping[]): Promise<KeptOutcome[]> {
  const first = new Map<string, Keeping>();
  for (const one of all) if (!first.has(one.respondent)) first.set(one.respondent, one);
  const outcomes = await upsertAnswers(db, weekOfName(name), [...first.values()]);
  if (first.size === all.length) return outcomes;
  const places = new Map([...first.values()].map((one, i) => [one, outcomes[i] as KeptOutcome]));
  return all.map((one) => places.get(one) ?? { isOpen: true, unasked: [], isKept: false });
}
