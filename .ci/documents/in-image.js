// Runs those commands of the operators' guide in a running image that change nothing: of `docker exec` and Docker Compose what they run, and the
// others without npx, which the image doesn't have.
//   node .ci/documents/in-image.js COMMAND...     COMMAND: what runs a program inside
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { commandsOf, withoutMentions } from './commands.js';

const [program, ...before] = process.argv.slice(2);
const prefix = /^(npx|docker exec soundings|docker compose .* exec soundings) (?=soundings )/;
const isHarmless =
  /^soundings (doctor|(keys|week) show|(runs|token) list|privacy report|audit verify)( --account 1)?$/;

const commands = withoutMentions(globSync('docs/operators/*.md').flatMap(commandsOf))
  .map(({ text }) => text.replace(prefix, ''))
  .filter((text) => isHarmless.test(text));
for (const text of new Set(commands)) {
  const { status, stdout, stderr } = spawnSync(program, [...before, ...text.split(' ')], {
    encoding: 'utf8',
  });
  // The doctor finds no proxy, no mail server and no NTP here.
  const hasRun = status === 0 || (text === 'soundings doctor' && /^OK +database/m.test(stdout));
  if (!hasRun) throw new Error(`In the image, ${text} ended with ${status}:\n${stdout}${stderr}`);
}
process.stdout.write(`Commands of the operators' guide that ran in the image: ${new Set(commands).size}\n`);
