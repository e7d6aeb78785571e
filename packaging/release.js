// Builds the files of a release into out/: the package for npm, the client's package, the list of components (SBOM, CycloneDX), the release notes
// and checksums.
// The same commit gives the same bytes.
//
//   npm run release                   from this commit: a release if it has the tag of its version, otherwise a trial
//   npm run release -- 1.0.0-rc.1     gives the project this version first: moves what is unreleased in CHANGELOG.md, commits and tags
//   npm run release -- --tagged       refuses a commit without a tag
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notesOf } from './changelog.js';
import { checkedTag, tagVersion } from './version.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const out = join(project, 'out');
const staged = join(out, 'package');
const run = (program, args, options = {}) =>
  execFileSync(program, args, { cwd: project, encoding: 'utf8', maxBuffer: 2 ** 28, ...options });
const json = (path) => JSON.parse(readFileSync(join(project, path), 'utf8'));
const tag = chooseVersion(process.argv[2]);
const server = json('server/package.json');

/** PostgreSQL, and the Node that runs the service if the installed one is too old. npm has no current Node for macOS. */
const optional = { ...server.optionalDependencies, ...json('package.json').optionalDependencies };

rmSync(out, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
const bundled = build();
stage();
const file = pack();
packClient();
writeComponents();
writeNotes();
writeChecksums();
process.stdout.write(`${join(out, file)}\n`);

/** Gives the project the wanted version, if any. Returns the tag of this commit; undefined for a trial. */
function chooseVersion(wanted) {
  try {
    if (wanted !== undefined && wanted !== '--tagged') tagVersion(project, wanted);
    const found = isCheckout() ? checkedTag(project) : undefined;
    if (found === undefined && wanted === '--tagged')
      throw new Error('This commit has no tag of a version. Run "npm run release -- VERSION" first.');
    return found;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}

function isCheckout() {
  try {
    run('git', ['rev-parse', '--git-dir'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Builds the console, the client and the service, and returns the packages that the service contains. */
function build() {
  run('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return json('server/dist/packages.json');
}

/** Copies what the package contains. */
function stage() {
  const copy = (path, filter) => cpSync(join(project, path), join(staged, path), { recursive: true, filter });
  for (const path of [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'server/bin',
    'server/dist',
    'console/dist',
  ])
    copy(path);
  // What the service reads as it runs. The code is in server/dist.
  copy(
    'server/src',
    (path) => extname(path) !== '.ts' && relative(project, path) !== join('server', 'src', 'testing'),
  );
  // Not deploy/.env, which has the passwords of an installation.
  copy('deploy', (path) => basename(path) !== '.env');
  copy('docs', (path) => relative(project, path) !== join('docs', 'screens'));
  // The build contains the code of all other dependencies.
  const contained = new Set(['@soundings/client', '@soundings/contract', ...bundled.map((one) => one.name)]);
  const { name, version, license } = server;
  writeJson('server/package.json', { name, version, license, private: true, type: 'module' });
  writeJson('package.json', {
    name: 'soundings',
    version,
    description: json('package.json').description,
    license,
    type: 'module',
    bin: { soundings: 'server/bin/soundings.js' },
    scripts: { postinstall: 'node server/bin/after-install.js' },
    engines: json('package.json').engines,
    dependencies: Object.fromEntries(
      Object.entries(server.dependencies).filter(([one]) => !contained.has(one)),
    ),
    optionalDependencies: optional,
  });
  writeFileSync(join(staged, 'THIRD_PARTY_LICENSES.txt'), licences());
}

function writeJson(path, value) {
  writeFileSync(join(staged, path), `${JSON.stringify(value, null, 2)}\n`);
}

/** Returns the licences of all packages whose code the package contains. */
function licences() {
  return bundled
    .map(({ name, version, folder }) => {
      const from = join(project, folder);
      const files = readdirSync(from).filter((one) => /^(licen[cs]e|copying|notice)/i.test(one));
      const texts = files.map((one) => readFileSync(join(from, one), 'utf8').trim());
      const { license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}

function pack() {
  // npm gives every file the same time, and its order is that of the names.
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], { cwd: staged }),
  );
  rmSync(staged, { recursive: true });
  return filename;
}

/**
 * Packs the client, which `npm run build` has built. Its file has another name than npm's, because `soundings-*.tgz` is the service in
 * scripts and in the image.
 */
function packClient() {
  const args = [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    out,
    join(project, 'client/dist'),
  ];
  const [{ filename }] = JSON.parse(run('npm', args));
  renameSync(join(out, filename), join(out, `typescript-client-${server.version}.tgz`));
}

/** Writes the list of components. npm gives it a random number and the current time, which would make each release unique. */
function writeComponents() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const { serialNumber: _serialNumber, ...sbom } = JSON.parse(run('npm', args));
  const timestamp = timeOfCommit();
  const text = JSON.stringify({ ...sbom, metadata: { ...sbom.metadata, timestamp } }, null, 2);
  writeFileSync(join(out, `soundings-${server.version}.cdx.json`), `${text}\n`);
}

/** Returns the time of the commit, or of nothing if the sources are not a checkout. */
function timeOfCommit() {
  try {
    return run('git', ['log', '-1', '--format=%cI'], { stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '1970-01-01T00:00:00Z';
  }
}

/** Writes the release notes: of the version, or for a trial of what is not released yet. */
function writeNotes() {
  const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(out, 'NOTES.md'), notesOf(changelog, tag ? server.version : 'Unreleased'));
}

function writeChecksums() {
  const lines = readdirSync(out)
    .toSorted()
    .map(
      (one) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, one)))
          .digest('hex')}  ${one}\n`,
    );
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}
