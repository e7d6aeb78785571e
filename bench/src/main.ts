// npm run bench [-- NAME …]: runs the benchmarks and prints what they measured as Markdown, each value beside a floor
// that was measured in the same run. Exit status 1 when a demand does not hold.
import { benchAnswers } from './answers.ts';
import { benchConsole } from './console.ts';
import { benchData, smallPlan, wholePlan } from './data.ts';
import { benchDrops } from './drops.ts';
import { machine, type Row, table } from './measure.ts';
import { benchSftp } from './sftp.ts';
import { benchSheets } from './sheets.ts';
import { benchSync } from './sync.ts';

/** What a benchmark returns: its lines, and the version of PostgreSQL that it ran on. */
export type Bench = (say: (progress: string) => void) => Promise<{ rows: Row[]; postgres: string }>;

const benches: Record<string, Bench> = {
  sync: benchSync,
  data: benchData(wholePlan),
  answers: benchAnswers,
  console: benchConsole,
  sheets: benchSheets,
  drops: benchDrops,
  sftp: benchSftp,
};
/** Those that are run only when they are named. */
const trials: Record<string, Bench> = { 'data:small': benchData(smallPlan) };
const all = { ...benches, ...trials };

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(all, name));
if (unknown === undefined) await run(asked.length > 0 ? asked : Object.keys(benches));
else {
  process.stderr.write(`There is no benchmark "${unknown}". There are: ${Object.keys(all).join(', ')}.\n`);
  process.exitCode = 2;
}

async function run(names: string[]): Promise<void> {
  for (const name of names) {
    const bench = all[name] as Bench;
    // oxlint-disable-next-line no-await-in-loop -- at once they would measure each other
    const { rows, postgres } = await bench((progress) => process.stderr.write(`${name}: ${progress}\n`));
    process.stdout.write(`\n## ${name}\n\n${machine()}; PostgreSQL ${postgres}\n\n${table(rows)}\n`);
    if (rows.some(({ holds }) => holds === false)) process.exitCode = 1;
  }
}
