// Gives the project a version: in every package.json, in package-lock.json, in CHANGELOG.md and in the files that name its image or package, as one
// commit with a tag. And checks that a tag fits the project.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sectionOf, withRelease } from './changelog.js';

const git = (project, ...args) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();

/** Files that name the version, as the tag of the image or in the name of the package. */
export const naming = [
  'deploy/Containerfile',
  'deploy/compose.yaml',
  'deploy/helm/soundings/Chart.yaml',
  'docs/operators/installing.md',
];

/** Commits and tags a version. Throws before it changes anything if the version or the working tree is not right. */
export function tagVersion(project, version) {
  refuseUnless(
    /^\d+\.\d+\.\d+(-rc\.[1-9]\d*)?$/.test(version),
    `"${version}" is not a version such as 1.0.0-rc.1 or 1.0.0.`,
  );
  refuseDirty(project);
  const tag = `v${version}`;
  refuseUnless(git(project, 'tag', '--list', tag) === '', `The tag ${tag} already exists.`);
  const read = (path) => readFileSync(join(project, path), 'utf8');
  const root = JSON.parse(read('package.json'));
  // In UTC, so that the same commit gets the same date everywhere.
  const date = new Date(git(project, 'log', '-1', '--format=%cI')).toISOString().slice(0, 10);
  const changelog = withRelease(read('CHANGELOG.md'), version, date);
  const written = {
    'CHANGELOG.md': changelog,
    ...Object.fromEntries(
      ['', ...root.workspaces].map((folder) => {
        const path = join(folder, 'package.json');
        return [path, jsonText(withVersion(JSON.parse(read(path)), version))];
      }),
    ),
    ...Object.fromEntries(naming.map((path) => [path, renamed(path, read(path), root.version, version)])),
    'package-lock.json': jsonText(lockWithVersion(JSON.parse(read('package-lock.json')), version)),
  };
  for (const [path, text] of Object.entries(written)) writeFileSync(join(project, path), text);
  git(project, 'add', '--', ...Object.keys(written));
  git(project, 'commit', '--quiet', '--message', `Version ${version}`);
  git(project, 'tag', '--annotate', tag, '--message', `Soundings ${version}`);
}

/** Returns the tag of a version at this commit; undefined if it has none. Throws if the project doesn't match it. */
export function checkedTag(project) {
  const tags = git(project, 'tag', '--points-at', 'HEAD', '--list', 'v*').split('\n').filter(Boolean);
  if (tags.length === 0) return undefined;
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  refuseUnless(
    tags.includes(`v${version}`),
    `This commit has the tag ${tags.join(', ')}, but package.json has the version ${version}. Run "npm run release -- VERSION", which sets both.`,
  );
  refuseDirty(project);
  const changelog = readFileSync(join(project, 'CHANGELOG.md'), 'utf8');
  refuseUnless(
    sectionOf(changelog, version) !== undefined && sectionOf(changelog, 'Unreleased') === '',
    `CHANGELOG.md needs a section for ${version}, and nothing under "Unreleased".`,
  );
  return `v${version}`;
}

function refuseDirty(project) {
  const changed = git(project, 'status', '--porcelain');
  refuseUnless(changed === '', `Commit or remove these changes first:\n${changed}`);
}

function refuseUnless(isRight, message) {
  if (!isRight) throw new Error(message);
}

const jsonText = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Returns a text with the new version in every place that has the old one. */
function renamed(path, text, old, version) {
  const parts = text.split(new RegExp(String.raw`(?<![\w.])${old.replaceAll('.', String.raw`\.`)}(?![\d-])`));
  refuseUnless(
    parts.length > 1,
    `${path} does not name the version ${old}, which package.json has. Correct it first.`,
  );
  return parts.join(version);
}

/** Returns a package.json with a version, also of our own packages that it depends on. */
function withVersion(manifest, version) {
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, wanted]) => [
    name,
    name.startsWith('@soundings/') ? version : wanted,
  ]);
  return {
    ...manifest,
    version,
    ...(manifest.dependencies && { dependencies: Object.fromEntries(dependencies) }),
  };
}

/** Returns a package-lock.json in which our own packages have a version. */
function lockWithVersion(lock, version) {
  const packages = Object.entries(lock.packages).map(([path, one]) => [
    path,
    path.includes('node_modules/') ? one : withVersion(one, version),
  ]);
  return { ...lock, version, packages: Object.fromEntries(packages) };
}
