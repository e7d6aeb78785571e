// What can happen to an account in a story. Each change chooses at random what it does, and does it: in the service, then in the story.
import { changeAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { buildFragments } from '../../results/fragments/build-fragments.ts';
import { buildPacks } from '../../results/fragments/build-packs.ts';
import { computeStatistics } from '../../results/statistics/statistics.ts';
import { importLines } from '../surveys.ts';
import { firstDefinitions, linesOfDefinitions, noteDefinitions } from './definitions.ts';
import { pushChanged, pushFirst } from './organization.ts';
import type { Story } from './story.ts';
import { closeFirst, giveAnswers, importPastWeek, openWeek, showLive } from './weeks.ts';

/** Returns undefined if the change is impossible now. */
type Change = (story: Story) => (() => Promise<void>) | undefined;

/** Changes the threshold and the publication of weeks that open later (P4, P16). */
const changeSettings: Change = (story) => {
  const [threshold, isLive] = [story.random.oneOf([3, 4, 5]), story.random.chance(0.5)];
  const publication = isLive ? 'live' : 'weekly';
  return async () => {
    await inTransaction(story.world.pool, (tx) =>
      changeAccount(tx, story.account.id, { threshold, publication }),
    );
    Object.assign(story, { threshold, isLive });
  };
};

/** Does what the jobs do after a publication, which changes nothing that is read. */
const runJobs: Change =
  ({ world: { pool }, account: { id } }) =>
  async () => {
    await buildPacks(pool, id);
    await buildFragments(pool, id);
    await computeStatistics(pool, id);
  };

/** The more often a change is in the list, the more often it happens. */
const changes: Change[] = [
  pushChanged,
  pushChanged,
  importPastWeek,
  importPastWeek,
  openWeek,
  giveAnswers,
  giveAnswers,
  showLive,
  closeFirst,
  changeSettings,
  runJobs,
];

/** Creates the organization and the first questions. */
export async function beginStory(story: Story): Promise<void> {
  await pushFirst(story);
  const defined = firstDefinitions();
  await importLines(story.world, story.account.id, linesOfDefinitions(defined));
  await noteDefinitions(story, defined);
}

/** Returns the next change. */
export function nextChange(story: Story): { label: string; run: () => Promise<void> } {
  story.count++;
  for (;;) {
    const change = story.random.oneOf(changes);
    const run = change(story);
    if (run) return { label: `${story.count} ${change.name}`, run };
  }
}
