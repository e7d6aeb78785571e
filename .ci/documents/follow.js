// Runs commands of documents as they are written, and records the outcome of each.
import { notHere } from './not-here.js';
import { until } from './terminals.js';

/** The outcome of the commands: those that ran, and pairs of those that didn't with the reason, the missing program or the error. */
export const [ran, listed, missing, failed] = [[], [], [], []];

/**
 * Runs a command in a terminal. Throws if its exit status is not one of `status`, or if it doesn't print what matches `prints`. `fill`: what the
 * reader puts in for words. `seconds`: how long it is repeated until it succeeds; 0: not at all.
 */
export async function runAsWritten(command, terminal, options = {}) {
  const { status = [0], prints = /(?:)/, input, seconds = 0, fill = {} } = options;
  const text = filled(command, fill);
  let result;
  const attempt = async () => {
    result = await terminal.run(text, { input });
    return status.includes(result.status) && prints.test(result.output);
  };
  if (!(await attempt()) && seconds > 0) await until(text, seconds, attempt).catch(() => {});
  if (!status.includes(result.status) || !prints.test(result.output))
    throw new Error(
      `${placeOf(command)} ${text}\nended with ${result.status} and printed:\n${result.output}`,
    );
  ran.push(command);
  return result.output;
}

/** Runs a command that goes on until Ctrl-C, in its own terminal, until it has printed what matches `prints`. */
export async function startAsWritten(command, terminal, prints, seconds = 600) {
  terminal.type(command.text);
  await until(`${placeOf(command)} ${command.text}`, seconds, () => {
    if (/<\d+ ended: \d+>/.test(terminal.printed()) || terminal.hasEnded())
      throw new Error(`${placeOf(command)} ${command.text}\nended and printed:\n${terminal.printed()}`);
    return prints.test(terminal.printed());
  });
  ran.push(command);
  return terminal.printed();
}

/** Records a text that was used in another way, such as a configuration file. */
export const isDone = (command) => void ran.push(command);

/** Records a command whose program this machine doesn't have. */
export const lacks = (command, program) => void missing.push([command, program]);

/** Returns the text of a command with what the reader puts in. Throws if the text doesn't have the word. */
function filled(command, fill) {
  return Object.entries(fill).reduce((text, [word, value]) => {
    if (!text.includes(word)) throw new Error(`${placeOf(command)} has no ${word}.`);
    return text.replaceAll(word, value);
  }, command.text);
}

export const placeOf = ({ document, line }) => `${document}:${line}:`;

/**
 * Handles commands one after another. `handlers`: pairs of a pattern and what to do; the first that matches counts. `other`: what to do with a
 * command that no pattern matches. Commands that can't run here are recorded with the reason.
 */
export async function follow(commands, handlers, other) {
  for (const command of commands) {
    const [, reason] = notHere.find(([pattern]) => pattern.test(command.text)) ?? [];
    if (reason !== undefined) {
      listed.push([command, reason]);
      continue;
    }
    const [, handle = other] = handlers.find(([pattern]) => pattern.test(command.text)) ?? [];
    const started = performance.now();
    // The others are tried even so, and each failure is reported.
    await handle(command).catch((error) => failed.push([command, error]));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const outcome = failed.at(-1)?.[0] === command ? ' FAILED' : '';
    process.stdout.write(`${placeOf(command)} ${command.text.split('\n')[0]} (${seconds} s)${outcome}\n`);
  }
}
