// Installs the software that we compare Soundings with from npm, into a cache. It is never a dependency of the project.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Say } from '../measuring/plans.ts';

/** Directus is not compiled for Node 24: version 5 of isolated-vm, which it needs, doesn't know its V8. So it runs on its own Node. */
export const nodePackage = `node-linux-${process.arch}`;

/** Fixed, because results can only be repeated with the same versions. */
export const peerVersions = {
  directus: '12.4.0',
  express: '5.3.0',
  [nodePackage]: '22.23.3',
  pg: '8.23.1',
  scimmy: '1.3.5',
  'scimmy-routers': '1.3.2',
  sequelize: '6.37.8',
  zod: '4.6.7',
} as const;

/** The directory of the installed packages, and the Node that Directus runs on. */
export type Packages = { directory: string; nodeOfDirectus: string };

const run = promisify(execFile);

/** Installs the packages if they are absent or have other versions. The first time takes minutes, because isolated-vm is compiled. */
export async function installPackages(say: Say): Promise<Packages> {
  if (process.platform !== 'linux') throw new Error('The comparison runs only on Linux.');
  const directory = fileURLToPath(new URL('../../../node_modules/.cache/peers', import.meta.url));
  const node = join(directory, 'node_modules', nodePackage);
  const packages = { directory, nodeOfDirectus: join(node, 'bin/node') };
  const wanted = `${JSON.stringify({ name: 'soundings-peers', private: true, dependencies: peerVersions }, null, 2)}\n`;
  // Written at the end, so that an interrupted installation is repeated.
  const marker = join(directory, 'installed.json');
  const compiled = join(directory, 'node_modules/isolated-vm/out/isolated_vm.node');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return packages;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), wanted);
  say(
    `installing ${Object.entries(peerVersions)
      .map((one) => one.join(' '))
      .join(', ')} from npm`,
  );
  // Without scripts: the packages with native code come compiled, except isolated-vm.
  await npm(directory, node, ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  say('compiling isolated-vm for Directus, which takes minutes');
  await npm(directory, node, ['rebuild', 'isolated-vm', '--loglevel=error']);
  if (!existsSync(compiled)) throw new Error("isolated-vm was not compiled. Directus can't run without it.");
  writeFileSync(marker, wanted);
  return packages;
}

/** Runs npm with the Node of Directus and with its headers. */
async function npm(directory: string, node: string, args: string[]): Promise<void> {
  const env = {
    ...process.env, // with this machine's settings of npm
    PATH: `${join(node, 'bin')}${delimiter}${process.env['PATH']}`,
    npm_config_nodedir: node,
  };
  await run('npm', args, { cwd: directory, env, maxBuffer: 2 ** 28 }).catch(
    (error: Error & { stderr?: string }) => {
      const remedy =
        args[0] === 'install' ? 'It needs the npm registry.' : 'It needs a C++ compiler, make and Python 3.';
      throw new Error(
        `npm ${args.slice(0, 2).join(' ')} failed in ${directory}. ${remedy}\n${(error.stderr ?? '').slice(-2000)}`,
      );
    },
  );
}

/** Loads an installed package. The caller states the part of its types that it uses. */
export const loadPackage = <T>(directory: string, name: string): T =>
  createRequire(join(directory, 'package.json'))(name) as T;
