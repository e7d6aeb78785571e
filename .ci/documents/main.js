// Runs all commands of README.md and docs/operators, on two machines at the same time, and prints the outcomes.
//   node .ci/documents/main.js FOLDER     FOLDER: `one/soundings` and `two/soundings` are clones, the second with the built package in `out`
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, withoutMentions } from './commands.js';
import { failed, listed, missing, placeOf, ran } from './follow.js';
import { notHere } from './not-here.js';
import { followOperators } from './operators.js';
import { followReadme } from './readme.js';
import { boot } from './terminals.js';

const [, , home, only] = process.argv;
const say = (text) => process.stdout.write(`${text}\n`);
const guide = globSync('docs/operators/*.md').toSorted().flatMap(commandsOf);
const readme = commandsOf('README.md');
const isReadme = ({ document }) => document === 'README.md';
// The guide may name a command of the README, but not the other way round: the README's reader has nothing else.
const ofGuide = withoutMentions([...readme, ...guide]).filter((one) => !isReadme(one));
const commands = [...withoutMentions(readme), ...ofGuide];

/** Boots a machine and follows documents on it. */
async function on(name, follow, own) {
  const folder = join(home, name);
  const started = performance.now();
  const machine = await boot(folder);
  try {
    await follow(machine, '/srv/soundings', own);
  } finally {
    await machine.stop();
  }
  say(`${name}: ${Math.round((performance.now() - started) / 1000)} seconds`);
}

const outcomes = await Promise.allSettled([
  only === 'two' ? undefined : on('one', followReadme, commands.filter(isReadme)),
  only === 'one'
    ? undefined
    : on(
        'two',
        followOperators,
        commands.filter((one) => !isReadme(one)),
      ),
]);
const where = (command) => `${placeOf(command)} ${command.text.split('\n')[0]}`;
for (const [command, reason] of listed) say(`Not run: ${where(command)} (${reason})`);
for (const [command, program] of missing) say(`SKIPPED: ${where(command)} (${program} is missing)`);
const handled = new Set([...ran, ...[...listed, ...missing, ...failed].map(([command]) => command)]);
const left = commands.filter((one) => !handled.has(one));
const errors = [
  ...outcomes.flatMap(({ reason }) => (reason === undefined ? [] : [reason])),
  ...failed.map(([command, error]) => new Error(where(command), { cause: error })),
  ...(left.length > 0 ? [new Error(`Not handled:\n${left.map(where).join('\n')}`)] : []),
  ...notHere
    .filter(([pattern]) => !commands.some(({ text }) => pattern.test(text)))
    .map(([pattern]) => new Error(`No command matches ${pattern}, which is listed as not runnable here.`)),
];
for (const error of errors) process.stderr.write(`\n${error.message}\n${error.cause?.message ?? ''}\n`);
say(
  `${ran.length} commands ran, ${listed.length} are listed as not runnable here, ${missing.length} lacked a program, ${errors.length} failed.`,
);
process.exitCode = errors.length > 0 ? 1 : 0;
