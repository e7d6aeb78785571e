// Writes down which test files failed, so that .ci/suite can run them once more without the load of all others. Not those whose failure
// may depend on chance in what they test: a random case that found a mistake would pass the second time.
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** A failed test file. `messages`: of all errors in it. */
export type Failed = { file: string; messages: readonly string[] };

/** Files whose cases are random throughout, even where a failure doesn't say so. */
const random =
  /\.(attack|properties|hostile|killed|interrupted)\.|\/(hostile|properties|privacy|utility|queue)\./;
/** How fast-check begins the message about a case that it found. */
const foundByChance = /Property failed|Counterexample/;

/** Returns the files that may run once more. Returns none if that would hide something: errors outside of tests, or random cases. */
export function worthAnotherRun(failed: readonly Failed[], outside: number): string[] {
  const chance = failed.some(
    ({ file, messages }) => random.test(file) || messages.some((message) => foundByChance.test(message)),
  );
  return outside > 0 || chance ? [] : failed.map(({ file }) => file);
}

/** Writes the paths of the files that failed and may run once more to `path`, one per line. */
export class FailedReporter implements Reporter {
  readonly #path: string;
  constructor(path: string) {
    this.#path = path;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const failed = modules
      .filter((module) => !module.ok())
      .map((module) => ({ file: module.relativeModuleId, messages: messagesOf(module) }));
    writeFileSync(this.#path, worthAnotherRun(failed, unhandledErrors.length).join('\n'));
  }
}

const messagesOf = (module: TestModule): string[] =>
  [module.errors(), ...[...module.children.allTests('failed')].map((test) => test.result().errors ?? [])]
    .flat()
    .map(({ message }) => message);
