// npm run bench:peers [-- NAME …] [--small | --smoke]: compares Soundings with other software from npm, and prints Markdown tables. It is
// not part of `npm run bench` and of the tests, because it installs that software from the npm registry. Comparisons run one after another.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { machine } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Service } from '../measuring/service.ts';
import { type Comparison, comparisonTable } from './comparison.ts';
import { compareAnswers } from './answers.ts';
import { compareDirectories } from './directories.ts';
import { compareLists } from './list.ts';
import { installPackages, nodePackage, type Packages, peerVersions } from './packages.ts';
import { startWithDatabases } from './processes.ts';

type Compare = (service: Service, packages: Packages, say: Say) => Promise<Comparison>;
type Sizes = Record<'whole' | 'small' | 'smoke', Compare>;

/** `whole`: the sizes in docs/benchmarks.md. `small`: for a machine that also does other work. `smoke`: shows only that it works. */
const comparisons: Record<string, Sizes> = {
  scim: inSizes(compareDirectories, {
    whole: { users: 2_000, groups: 200, atOnce: 4 },
    small: { users: 500, groups: 50, atOnce: 4 },
    smoke: { users: 100, groups: 25, atOnce: 4 },
  }),
  list: inSizes(compareLists, {
    whole: { users: 20_000, groups: 2_000, batch: 1_000, atOnce: 4, reads: 9 },
    small: { users: 5_000, groups: 500, batch: 500, atOnce: 4, reads: 9 },
    smoke: { users: 300, groups: 30, batch: 100, atOnce: 4, reads: 2 },
  }),
  answers: inSizes(compareAnswers, {
    whole: { users: 20_000, groups: 2_000, connections: 10, rounds: 3, seconds: 5, warmUp: 3 },
    small: { users: 20_000, groups: 2_000, connections: 10, rounds: 3, seconds: 2, warmUp: 1 },
    smoke: { users: 2_000, groups: 20, connections: 10, rounds: 1, seconds: 0.2, warmUp: 0.1 },
  }),
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { small: { type: 'boolean', default: false }, smoke: { type: 'boolean', default: false } },
});
const unknown = positionals.find((name) => !Object.hasOwn(comparisons, name));
if (unknown === undefined) await run(positionals.length > 0 ? positionals : Object.keys(comparisons));
else {
  process.stderr.write(
    `Unknown comparison "${unknown}". Available: ${Object.keys(comparisons).join(', ')}.\n`,
  );
  process.exitCode = 2;
}

function inSizes<Plan>(
  compare: (service: Service, packages: Packages, plan: Plan, say: Say) => Promise<Comparison>,
  plans: Record<keyof Sizes, Plan>,
): Sizes {
  const of =
    (size: keyof Sizes): Compare =>
    (service, packages, say) =>
      compare(service, packages, plans[size], say);
  return { whole: of('whole'), small: of('small'), smoke: of('smoke') };
}

async function run(names: string[]): Promise<void> {
  const packages = await installPackages((progress) => process.stderr.write(`${progress}\n`));
  const size = options.smoke ? 'smoke' : options.small ? 'small' : 'whole';
  for (const name of names) {
    const load = loadavg()[0]?.toFixed(1);
    const service = await startWithDatabases();
    try {
      const say = (progress: string) => process.stderr.write(`${name}: ${progress}\n`);
      const comparison = await (comparisons[name] as Sizes)[size](service, packages, say);
      const date = new Date().toISOString().slice(0, 10);
      process.stdout.write(
        `\n### ${comparison.title}\n\n${date}, load ${load} before; ${machine()}; PostgreSQL ${service.postgres}\n\n` +
          `${comparisonTable(comparison)}\n`,
      );
    } finally {
      await service.stop();
    }
  }
  const versions = Object.entries(peerVersions).map(
    ([name, version]) => `${name === nodePackage ? 'Node of Directus' : name} ${version}`,
  );
  process.stdout.write(`\nVersions: ${versions.join(', ')}\n`);
}
