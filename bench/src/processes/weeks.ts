// Opens, answers or closes weeks in a separate process, as the thread for weeks does, so that its memory can be measured.
// Arguments: the database URL and the directory of the answer key. It carries out one order after another, and sends back the time, its
// peak memory and how many statements it sent.
import { inTransaction, openPool } from '@soundings/server/src/db/db.ts';
import { copyAnswerBatches } from '@soundings/server/src/answers/imported.sql.ts';
import { sealedIn } from '@soundings/server/src/answers/imported.ts';
import { closeEndedWeeks, closeWeekNow } from '@soundings/server/src/results/close-week.ts';
import { selectSealed } from '@soundings/server/src/results/published-figures.sql.ts';
import { openDueRounds } from '@soundings/server/src/rounds/opening.ts';
import { AnswerKeys } from '@soundings/server/src/sealing/answer-keys.ts';
import { decodeAnswers, type PersonAnswers } from '@soundings/server/src/sealing/person-answers.ts';
import type { WeekKey } from '@soundings/server/src/sealing/week-key.ts';
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import { timed } from '../measuring/measure.ts';
import { countStatements } from '../measuring/statements.ts';
import { serveOrders } from './orders.ts';

/**
 * `answer`: 70 of 100 people answer these questions. `read`: decrypts the answers, and nothing else. `openAll` and `closeAll`: all schedules
 * that are due and all weeks that have ended, of every account, as if it were `now` (ms since 1970).
 */
export type WeekOrder =
  | { work: 'openAll'; now: number }
  | { work: 'closeAll'; now: number }
  | { work: 'open'; accountId: number; now: number }
  | { work: 'answer'; accountId: number; week: string; questionIds: number[] }
  | { work: 'read' | 'close'; accountId: number; week: string };
export type WeekDone = { ms: number; peak: number; statements: number; week?: string; people?: number };

const [databaseUrl = '', directory = ''] = process.argv.slice(2);
const pool = openPool(databaseUrl, 3);
const keys = new AnswerKeys(pool, { place: 'file', directory });

serveOrders(carryOut);

async function carryOut(order: WeekOrder): Promise<WeekDone> {
  await keys.chain.prepare();
  const [ms, { result, statements }] = await timed(() => countStatements(() => doWork(order)));
  return { ms, peak: process.resourceUsage().maxRSS * 1024, statements, ...result };
}

async function doWork(order: WeekOrder): Promise<Partial<WeekDone>> {
  if (order.work === 'openAll') {
    const opened = await openDueRounds(pool, keys, order.now);
    const week = opened.at(-1)?.week;
    return {
      ...(week !== undefined && { week }),
      people: opened.reduce((sum, { people }) => sum + people, 0),
    };
  }
  if (order.work === 'closeAll') {
    await closeEndedWeeks(pool, keys, order.now);
    return {};
  }
  const { accountId } = order;
  if (order.work === 'open') {
    const [opened] = await openDueRounds(pool, keys, order.now, { accountId });
    if (opened?.outcome !== 'opened') throw new Error(`Not opened: ${JSON.stringify(opened)}`);
    return { week: opened.week, people: opened.people };
  }
  const { week } = order;
  if (order.work === 'close') {
    const { published } = await closeWeekNow(pool, keys, accountId, week, Date.now());
    if (published === 0) throw new Error('No figures were published');
    return {};
  }
  await inTransaction(pool, async (tx) => {
    const key = (await keys.of(tx, accountId, week)) as WeekKey;
    if (order.work === 'answer')
      return copyAnswerBatches(tx, accountId, answersOf(key, accountId, week, order.questionIds));
    for await (const rows of selectSealed(tx, accountId, week))
      for (const { respondent, sealed } of rows) decodeAnswers(key.open(respondent, sealed));
  });
  return {};
}

async function* answersOf(key: WeekKey, accountId: number, week: string, questionIds: number[]) {
  for (let last = 0; ;) {
    const rows = await pool<{ id: number }[]>`
      select user_id as id from participants
      where  account_id = ${accountId} and week = ${week} and user_id > ${last}
      order  by user_id limit 10000`;
    if (rows.length === 0) return;
    last = rows.at(-1)?.id as number;
    yield rows.flatMap(({ id }) => {
      const random = mulberry32(id);
      if (random() > 0.7) return [];
      const answers: PersonAnswers = new Map(
        questionIds.map((questionId, i) => [
          questionId,
          {
            value: 1 + Math.floor(random() * 5),
            choices: null,
            comment: i === 0 && random() < 0.05 ? `There should be more of ${id % 1000}.` : null,
            skipped: false,
            counted: false,
            giving: { link: 'bench', visit: null, handedOut: false },
          },
        ]),
      );
      return [sealedIn(key, { week, respondent: key.respondentOf(id), answers })];
    });
  }
}
