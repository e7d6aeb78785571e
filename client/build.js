// Builds the package into dist, which is the whole package: code for browsers and Node 20, declarations, its own package.json, the README and
// the licence. `npm publish client/dist` publishes it, and `npm run release` packs it.
//
//   node client/build.js [FOLDER]
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const project = join(folder, '..');
const built = process.argv[2] ?? join(folder, 'dist');
const { name, version, description, license } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
);

// Built elsewhere and then moved, because a test may be reading the previous build.
const aside = `${built}-${process.pid}`;
try {
  mkdirSync(aside, { recursive: true });
  const compiler = join(
    dirname(createRequire(join(project, 'package.json')).resolve('typescript/package.json')),
    'bin/tsc',
  );
  execFileSync(process.execPath, [compiler, '-p', folder, '--outDir', aside], { stdio: 'inherit' });
  // The compiler rewrites imports in code, but not in declarations.
  for (const path of globSync(join(aside, '*.d.ts')))
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  for (const path of [join(folder, 'README.md'), join(project, 'LICENSE')])
    copyFileSync(path, join(aside, path.split(/[\\/]/).at(-1)));
  writeFileSync(join(aside, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`);
  rmSync(built, { recursive: true, force: true });
  renameSync(aside, built);
} finally {
  rmSync(aside, { recursive: true, force: true });
}

function published() {
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    sideEffects: false,
    engines: { node: '>=20' },
  };
}
