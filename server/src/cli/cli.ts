// npx soundings …: the administration command, as a process.
import { readFileSync } from 'node:fs';
import { readConfig } from '../base/config.ts';
import { runCommand } from './run-command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  config: () => readConfig(process.env),
  input: () => readFileSync(0, 'utf8'),
  print: (output) => void process.stdout.write(output),
  printError: (output) => void process.stderr.write(output),
});
