// The commands that simulate past weeks of an account and create the demo company.
import { weekName } from '@soundings/contract/weeks.ts';
import {
  account,
  accountOf,
  type Command,
  required,
  numberOf,
  table,
  text,
  UsageError,
  type OptionValues,
} from './options.ts';
import type { Pool } from '../db/db.ts';
import type { Demo } from '../demo/demo.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { ServeAnswering } from '../simulation/simulation.ts';

// Loaded only by these commands, because it would slow down the others.
const simulation = () => import('../simulation/simulation.ts');
const demo = () => import('../demo/demo.ts');
const connect = async (databaseUrl: string): Promise<Pool> =>
  (await simulation()).openSimulationPool(databaseUrl);

/** Returns the commands. `config` supplies the addresses of the service. `serve`: how people reach the answering page. */
export const simulationCommands = (
  config: () => { publicUrl: string; sftpPort: number },
  serve: ServeAnswering,
): Record<string, Command> => ({
  simulate: {
    usage:
      '--account ID --weeks N --seed S [--rate 0.7]\n' +
      '    Simulates the last N weeks of an account: each week is opened, answered over HTTP and closed as if it were that week.\n' +
      '    No emails are sent. The same seed gives the same answers. An account without a schedule gets a weekly pulse.',
    options: { ...account, weeks: text, seed: text, rate: text },
    connect,
    run: (pool, values, keys) => simulateWeeks(pool, values, keys, serve),
    format: ({ weeks, pulse, seconds }: Awaited<ReturnType<typeof simulateWeeks>>) =>
      [
        ...(pulse
          ? [
              'The account had no schedule, so a weekly pulse was created. It asks everyone ' +
                `${pulse.perWeek} questions on Mondays, and repeats each question every 8 weeks` +
                `${pulse.hasNewLibrary ? ', from the library (docs/administrators/questions.md)' : ''}. ` +
                `To stop it: npx soundings schedule pause --account ID --id ${pulse.scheduleId}`,
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
    usage: '\n    Creates a demo company with people, groups, 26 weeks of answers and an API token.',
    options: {},
    connect,
    run: async (pool, _values, keys) => (await demo()).makeDemo(pool, keys, Date.now(), serve),
    format: async (company: Demo) => (await demo()).describeDemo(company, config()),
  },
});

async function simulateWeeks(pool: Pool, values: OptionValues, keys: AnswerKeys, serve: ServeAnswering) {
  const options = {
    weeks: numberOf(values, 'weeks'),
    seed: numberOf(values, 'seed'),
    rate: values['rate'] === undefined ? 0.7 : rateOf(required(values, 'rate')),
  };
  const start = performance.now();
  const { simulate } = await simulation();
  const { weeks, pulse } = await simulate(pool, keys, accountOf(values), {
    ...options,
    now: Date.now(),
    serve,
  });
  return {
    weeks: weeks.map((one) => ({ ...one, week: weekName(one.week) })),
    seconds: Math.round((performance.now() - start) / 100) / 10,
    ...(pulse && { pulse }),
  };
}

function rateOf(value: string): number {
  if (/^(0|1|0?\.\d+|1\.0+)$/.test(value)) return Number(value);
  throw new UsageError(`--rate must be a number from 0 to 1, such as 0.7, not "${value}".`);
}
