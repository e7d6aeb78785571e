// npx soundings …: the administration command, as a process.
import { readFileSync } from 'node:fs';
import { readConfig, readSettings } from './base/config.ts';
import { runCommand } from './cli/run-command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  config: () => readConfig(process.env),
  settings: () => readSettings(process.env),
  input: () => readFileSync(0, 'utf8'),
  print: (output) => void process.stdout.write(output),
  printError: (output) => void process.stderr.write(output),
  isTerminal: process.stderr.isTTY,
  write: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
    }),
  // Loaded only when a command simulates weeks, since no other command serves anything. Logs to standard error.
  serve: async (pool, keys, now) => {
    const [{ startAnswering }, { openLog }] = await Promise.all([
      import('./app.ts'),
      import('./base/log.ts'),
    ]);
    return startAnswering({ pool, keys, now }, openLog('warn', 2));
  },
});
