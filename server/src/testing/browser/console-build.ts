// The built console, for tests that use it. It is built again if its sources are newer.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtConsole } from '../../console/core/pages.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

const youngest = (folder: string): number =>
  Math.max(
    ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => statSync(join(root, folder, path)).mtimeMs,
    ),
  );

// oxlint-disable-next-line import/no-default-export -- the test runner demands it
export default function setup(): void {
  const built = join(builtConsole, 'index.html');
  const sources = Math.max(youngest('console/src'), youngest('contract/src'));
  if (existsSync(built) && statSync(built).mtimeMs > sources) return;
  // Built elsewhere and then moved, because another run may be reading the previous build.
  const aside = `${builtConsole}-${process.pid}`;
  execFileSync('npm', ['run', 'build', '-w', 'console', '--', '--outDir', aside], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' }, // the test runner sets another, which makes React run checks
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(builtConsole, { recursive: true, force: true });
  renameSync(aside, builtConsole);
}
