// npx soundings …: the administration command, as a process.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { pushTokenIn, readConfig, readSettings } from './base/config.ts';
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
  push: {
    token: () => pushTokenIn(process.env),
    ask: process.stdin.isTTY ? ask : undefined,
    progress: process.stderr.isTTY ? (line) => void process.stderr.write(`${line}\n`) : undefined,
  },
  // Loaded only when a command simulates weeks, since no other command serves anything. Logs to standard error.
  serve: async (pool, keys, now) => {
    const [{ startAnswering }, { openLog }] = await Promise.all([
      import('./app.ts'),
      import('./base/log.ts'),
    ]);
    return startAnswering({ pool, keys, now }, openLog('warn', 2));
  },
});

/** Asks on standard error, because standard output may be read by a program. The end of the input isn't an answer. */
async function ask(question: string): Promise<string> {
  // A prompt is one line.
  const prompt = question.lastIndexOf('\n') + 1;
  process.stderr.write(question.slice(0, prompt));
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    return await Promise.race([terminal.question(question.slice(prompt)), ended]);
  } finally {
    terminal.close();
  }
}
