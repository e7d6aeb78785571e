// Lists the skipped tests and the reasons at the end of a run, so that no one thinks that they have passed.
import type { Reporter, TestModule } from 'vitest/node';

/** `note`: the reason that the test gave, if any. */
export type Skipped = { file: string; name: string; project: string; note: string | undefined };

export class SkippedReporter implements Reporter {
  #isPartial = false;

  onInit({ config }: Parameters<NonNullable<Reporter['onInit']>>[0]): void {
    // If there is a pattern, tests with other names are skipped on request.
    this.#isPartial = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isPartial) return;
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => {
        const result = test.result();
        const note = result.state === 'skipped' ? result.note : undefined;
        return { file: module.relativeModuleId, name: test.fullName, project: module.project.name, note };
      }),
    );
    process.stdout.write(describeSkipped(skipped));
  }
}

/** Returns a line for each reason, followed by its tests. Returns nothing if no test was skipped. */
export function describeSkipped(skipped: readonly Skipped[]): string {
  if (skipped.length === 0) return '';
  const byReason = Map.groupBy(skipped, reasonOf);
  const lines = [...byReason].flatMap(([reason, tests]) => [
    `Skipped: ${reason}`,
    ...tests.map(({ file, name }) => `  ${file}: ${name}`),
  ]);
  return `\nTests that were skipped: ${skipped.length}\n${lines.join('\n')}\n\n`;
}

function reasonOf({ file, name, project, note }: Skipped): string {
  if (note !== undefined) return note.replace(/^SKIPPED: /, '');
  if (project === 'browser') return 'there is no Chromium on this machine';
  const [, reason] = /\(skipped: ([^)]+)\)/.exec(name) ?? [];
  const [, folder] = /\((\.\.\/shared\/[^)]+)\)/.exec(name) ?? [];
  return (
    reason ?? (folder === undefined ? `something is missing that ${file} looks for` : `${folder} is absent`)
  );
}
