// The built service, for tests: programs that they start, and the threads and child processes of a service in the test's own process.
// They start in half the time that they take from the sources. Before a run, the service is built again if its sources are newer.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildFolder } from '../base/places.ts';

/** Returns the file of a program of the service. */
export const builtProgram = (name: 'main' | 'command'): string =>
  fileURLToPath(new URL(`${name}.js`, buildFolder));

// oxlint-disable-next-line import/no-default-export -- the test runner demands it
export default function setup(): void {
  const build = fileURLToPath(new URL('../build.js', buildFolder));
  execFileSync(process.execPath, [build, '--if-changed'], { stdio: ['ignore', 'ignore', 'inherit'] });
}
