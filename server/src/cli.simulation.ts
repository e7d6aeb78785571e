// The commands that simulate: weeks of an account that have passed, and the demo company.
import { weekName } from '@soundings/contract/weeks.ts';
import {
  account,
  accountOf,
  type Command,
  needed,
  numberOf,
  table,
  text,
  UsageError,
  type Values,
} from './cli.options.ts';
import type { Pool } from './db/db.ts';
import type { Demo } from './demo/demo.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';
import type { ServeAnswering } from './simulation/simulation.ts';

// What simulates is loaded by these commands alone: others would wait for it.
const simulation = () => import('./simulation/simulation.ts');
const demo = () => import('./demo/demo.ts');
const connect = async (databaseUrl: string): Promise<Pool> =>
  (await simulation()).openSimulationPool(databaseUrl);

/** `config`: where people find the service. */
export const simulationCommands = (
  config: () => { publicUrl: string; sftpPort: number },
): Record<string, Command> => ({
  simulate: {
    usage:
      '--account ID --weeks N --seed S [--rate 0.7]\n' +
      '    Makes up the last N weeks of an account: each is opened, answered over HTTP and closed as if it were then.\n' +
      '    Nobody is written to. The same seed gives the same answers. Without a schedule the account gets a weekly pulse.',
    options: { ...account, weeks: text, seed: text, rate: text },
    connect,
    run: simulateWeeks,
    say: ({ weeks, pulse, seconds }: Awaited<ReturnType<typeof simulateWeeks>>) =>
      [
        ...(pulse
          ? [
              'The account had no schedule: it has a weekly pulse now, which goes on. It asks everybody ' +
                `${pulse.perWeek} questions on Mondays, each of which comes round every 8 weeks` +
                `${pulse.hasNewLibrary ? ', from the library (docs/questions.md)' : ''}. ` +
                `To end it: npx soundings schedule pause --account ID --id ${pulse.scheduleId}`,
              '',
            ]
          : []),
        table([
          ['week', 'asked', 'answered', 'published'],
          ...weeks.map((one) => [one.week, ...[one.asked, one.answered, one.published].map(String)]),
        ]),
        '',
        `Simulated in ${seconds} s.`,
      ].join('\n'),
  },
  demo: {
    usage:
      '\n    A company to try Soundings with: people, groups and 26 weeks of answers, and a token for it.',
    options: {},
    connect,
    run: async (pool, _values, keys) => (await demo()).makeDemo(pool, keys, Date.now(), serve),
    say: async (made: Demo) => (await demo()).describeDemo(made, config()),
  },
});

async function simulateWeeks(pool: Pool, values: Values, keys: AnswerKeys) {
  const wanted = {
    weeks: numberOf(values, 'weeks'),
    seed: numberOf(values, 'seed'),
    rate: values['rate'] === undefined ? 0.7 : rateOf(needed(values, 'rate')),
  };
  const begun = performance.now();
  const { simulate } = await simulation();
  const { weeks, pulse } = await simulate(pool, keys, accountOf(values), {
    ...wanted,
    now: Date.now(),
    serve,
  });
  return {
    weeks: weeks.map((one) => ({ ...one, week: weekName(one.week) })),
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    ...(pulse && { pulse }),
  };
}

function rateOf(value: string): number {
  if (/^(0|1|0?\.\d+|1\.0+)$/.test(value)) return Number(value);
  throw new UsageError(`--rate takes a number from 0 to 1 such as 0.7, not "${value}".`);
}

/** Loaded only here: no other command serves anything. What is logged goes to standard error. */
const serve: ServeAnswering = async (pool, keys, now) => {
  const [{ startAnswering }, { openLog }] = await Promise.all([import('./app.ts'), import('./base/log.ts')]);
  return startAnswering({ pool, keys, now }, openLog('warn', 2));
};
