// npm run bench [-- NAME …] [--smoke] [--keep=DIRECTORY]: runs the benchmarks and prints Markdown tables, each value next to a floor
// measured in the same run. Exit status 1 if a target is missed. With --smoke, each benchmark takes seconds, has no targets, and only
// shows that it still works. With --keep, the data directory of each benchmark stays in this directory, and `results` uses its
// account again in the next run, because filling it takes minutes.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benches, trials } from './benches.ts';
import { machine, resultTable } from './measuring/measure.ts';
import type { Bench, Plans } from './measuring/plans.ts';
import { startService } from './measuring/service.ts';

const all = { ...benches, ...trials };

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, keep: { type: 'string' } },
});
const size = options.smoke ? 'smoke' : 'whole';
const unknown = named.find((name) => !Object.hasOwn(all, name));
if (unknown === undefined) await run(named.length > 0 ? named : Object.keys(benches));
else {
  process.stderr.write(`Unknown benchmark "${unknown}". Available: ${Object.keys(all).join(', ')}.\n`);
  process.exitCode = 2;
}

async function run(names: string[]): Promise<void> {
  for (const name of names) {
    const bench = (all[name] as Plans<Bench>)[size];
    const say = (progress: string) => process.stderr.write(`${name}: ${progress}\n`);
    // Parallel runs would affect each other's times.
    const { rows, postgres } = await bench(say, () => startService(keptDirOf(name)));
    process.stdout.write(`\n## ${name}\n\n${machine()}; PostgreSQL ${postgres}\n\n${resultTable(rows)}\n`);
    if (rows.some(({ met }) => met === false)) process.exitCode = 1;
  }
}

/** Returns the directory of a benchmark that stays; undefined without --keep. */
function keptDirOf(name: string): string | undefined {
  if (options.keep === undefined) return undefined;
  const directory = resolve(options.keep, `${name}-${size}`);
  mkdirSync(directory, { recursive: true });
  return directory;
}
