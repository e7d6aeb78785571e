// Many accounts of the same size: pushing them one after another, opening and closing a week of all of them, and reading their results. The floor
// of each is as many people of one large account.
import { attribute } from '../company.ts';
import { scheduleForAll } from '../answers.ts';
import { type BenchRow, ratioText, time, timed } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { BenchAccount, Service } from '../measuring/service.ts';
import { push, pushBodyOf } from '../push.ts';
import { peopleIn, unitsIn } from './organization.ts';
import { withThousands, type Step } from './rows.ts';
import { carryOutOn, laterDays, weeksProcess } from './week.ts';

/** How many accounts, and how many people each of them has. */
export type Many = { accounts: number; people: number };

/** The large account: how many people it has, and how long a step took. */
type One = { people: number; msOf: (step: Step) => number };

const day = 86_400_000;

export async function measureMany(
  service: Service,
  { accounts, people }: Many,
  one: One,
  say: Say,
): Promise<BenchRow[]> {
  if (accounts < 2) return [];
  const rows: BenchRow[] = [];
  const what = `${withThousands(accounts)} accounts of ${withThousands(people)} people`;
  const note = (step: Step, ms: number) => {
    const floor = (one.msOf(step) * accounts * people) / one.people;
    say(`${what}, ${step}: ${time(ms)}, one account ${time(floor)}, ${ratioText(ms / floor)}`);
    rows.push({
      what: `${what}, ${step} (floor: as many people of the largest account)`,
      measured: time(ms),
      floor: time(floor),
      ratio: ratioText(ms / floor),
      target: '≤ 1.3×',
      met: ms / floor <= 1.3,
    });
  };
  const body = pushBodyOf({ groups: unitsIn(people), users: peopleIn({ people }, 0, people) });
  const created: BenchAccount[] = [];
  let pushing = 0;
  for (let i = 0; i < accounts; i++) {
    const account = await service.account(attribute);
    created.push(account);
    pushing += (await timed(() => push(service, account, body, { created: people })))[0];
  }
  note('first push', pushing);
  await service.pool`vacuum analyze`;
  const { opening, closing } = await weekOf(service, created, people);
  note('opening a round', opening);
  note('closing the week', closing);
  let reading = 0;
  for (const account of created) reading += await readAll(service, account);
  note('reading', reading);
  return rows;
}

/** Opens a week of these accounts, lets seven in ten answer, and closes it. Returns the milliseconds. */
async function weekOf(
  service: Service,
  accounts: readonly BenchAccount[],
  people: number,
): Promise<{ opening: number; closing: number }> {
  const now = Date.now() + laterDays * day;
  const questionIds: number[][] = [];
  for (const { id } of accounts) questionIds.push(await scheduleForAll(service, id, now));
  const weeks = await weeksProcess(service);
  const opened = await carryOutOn(weeks, { work: 'openAll', now });
  if (opened.week === undefined || (opened.people ?? 0) < people * accounts.length)
    throw new Error(`Only ${opened.people} people were asked.`);
  const { week } = opened;
  for (const [i, { id: accountId }] of accounts.entries())
    await carryOutOn(weeks, { accountId, work: 'answer', week, questionIds: questionIds[i] as number[] });
  await service.pool`vacuum analyze`;
  const closed = await carryOutOn(weeks, { work: 'closeAll', now: now + 8 * day });
  weeks.end();
  return { opening: opened.ms, closing: closed.ms };
}

/** Reads the groups of an account, and the results of a tree of groups in the last week. Returns the milliseconds. */
export async function readAll({ address, pool }: Service, { id, token }: BenchAccount): Promise<number> {
  const [top] = await pool<{ id: number }[]>`
    select min(group_id) as id from groups where account_id = ${id} and parent_id is null`;
  const read = async (path: string) => {
    const response = await fetch(address + path, { headers: { authorization: token } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
  };
  const [ms] = await timed(async () => {
    await read('/v1/groups');
    await read(`/v1/results?groupId=${top?.id}&includeSubgroups=true`);
  });
  return ms;
}
