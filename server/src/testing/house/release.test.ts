// Giving the project a version: what is written, committed and tagged, and what is refused before anything changes.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
type Versions = {
  tagVersion: (project: string, version: string) => void;
  checkedTag: (project: string) => string | undefined;
  naming: string[];
};
const load = (name: string): Promise<unknown> => import(join(root, 'packaging', name));
const { tagVersion, checkedTag, naming } = (await load('version.js')) as Versions;
const { notesOf } = (await load('changelog.js')) as { notesOf: (text: string, version: string) => string };

let project: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();
const read = (path: string) => readFileSync(join(project, path), 'utf8');
const json = (path: string) => JSON.parse(read(path)) as Record<string, Record<string, string>>;

/** The real project's manifests and files that name the version, with a short changelog. */
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'soundings-release-'));
  for (const folder of ['', 'contract', 'client', 'server', 'console', 'bench']) {
    mkdirSync(join(project, folder), { recursive: true });
    cpSync(join(root, folder, 'package.json'), join(project, folder, 'package.json'));
  }
  for (const path of ['package-lock.json', ...naming]) cpSync(join(root, path), join(project, path));
  writeFileSync(join(project, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n### Upgrading\n\nStop it.\n');
  git('init', '--quiet', '--initial-branch=main');
  for (const [name, value] of Object.entries({ name: 'Ada', email: 'ada@example.com' }))
    git('config', `user.${name}`, value);
  commit('First', '2026-11-26T23:30:00-05:00');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function commit(message: string, date: string): void {
  git('add', '--all');
  execFileSync('git', ['commit', '--quiet', '--message', message], {
    cwd: project,
    env: { ...process.env, GIT_COMMITTER_DATE: date },
  });
}

test('a version is in every manifest, the lock file and the changelog, with the date of the commit in UTC', () => {
  tagVersion(project, '1.0.0-rc.1');
  expect(git('status', '--porcelain')).toBe('');
  for (const folder of ['.', 'contract', 'client', 'server', 'console', 'bench'])
    expect(json(join(folder, 'package.json'))['version']).toBe('1.0.0-rc.1');
  expect(json('server/package.json')['dependencies']?.['@soundings/contract']).toBe('1.0.0-rc.1');
  const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version?: string }> };
  expect(lock.packages['server']?.version).toBe('1.0.0-rc.1');
  const others = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as typeof lock;
  expect(lock.packages['node_modules/fastify']).toEqual(others.packages['node_modules/fastify']);
  expect(read('CHANGELOG.md')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 1.0.0-rc.1 (2026-11-27)\n\n### Upgrading\n\nStop it.\n',
  );
  expect(checkedTag(project)).toBe('v1.0.0-rc.1');
  expect(notesOf(read('CHANGELOG.md'), '1.0.0-rc.1')).toBe(
    '# Soundings 1.0.0-rc.1\n\n## Upgrading\n\nStop it.\n',
  );
});

const placesOf = (text: string, version: string) => text.split(version).length - 1;

test('a version replaces the one before it in everything that names the image or the package', () => {
  const { version } = json('package.json') as unknown as { version: string };
  const before = naming.map((path) => placesOf(read(path), version));
  expect(before.every((places) => places > 0)).toBe(true);
  for (const next of ['1.0.0-rc.1', '1.0.0', '10.20.30']) {
    if (next !== '1.0.0-rc.1') {
      writeFileSync(join(project, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- New.\n');
      commit('A change', '2026-11-28T00:00:00Z');
    }
    tagVersion(project, next);
    expect(naming.map((path) => placesOf(read(path), next))).toEqual(before);
  }
  expect(naming.map((path) => placesOf(read(path), '1.0.0'))).toEqual(naming.map(() => 0));
  expect(git('status', '--porcelain')).toBe('');
  writeFileSync(join(project, naming[0] as string), 'FROM scratch\n');
  writeFileSync(join(project, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n- New.\n');
  commit('Without the version', '2026-11-29T00:00:00Z');
  expect(() => tagVersion(project, '10.20.31')).toThrow('does not name the version 10.20.30');
  expect(git('status', '--porcelain')).toBe('');
});

test('the chart, compose.yaml, the image and the steps of the installation have the version of the project', () => {
  const { version } = json('package.json') as unknown as { version: string };
  const files = naming.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
  const named = files.flatMap(([path, text]) =>
    [
      ...text.matchAll(
        /^(?:appVersion|version): (.+)$|localhost\/soundings:([\w.-]*\d)|soundings-(\d[\w.-]*)\.tgz/gm,
      ),
    ].map(([, ...found]) => [path, found.find(Boolean)]),
  );
  expect(new Set(named.map(([path]) => path))).toEqual(new Set(naming));
  expect(named.filter(([, one]) => one !== version)).toEqual([]);
});

test('nothing changes if the version, the tree, the tag or the changelog is not right', () => {
  const refused = (version: string) => {
    const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')];
    let message = '';
    try {
      tagVersion(project, version);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual(before);
    return message;
  };
  for (const wrong of ['1.0', 'v1.0.0', '1.0.0-rc.0', '1.0.0-beta.1', '1.0.0; rm -rf .'])
    expect(refused(wrong)).toContain('is not a version');
  writeFileSync(join(project, 'new'), '');
  expect(refused('1.0.0')).toContain('Commit or remove these changes first:\n?? new');
  rmSync(join(project, 'new'));
  tagVersion(project, '1.0.0');
  expect(refused('1.0.0')).toContain('already exists');
  expect(refused('1.0.1')).toContain('nothing to release');
});

test('a commit whose tag is not that of its version is not released', () => {
  expect(checkedTag(project)).toBeUndefined();
  git('tag', 'v9.0.0');
  expect(() => checkedTag(project)).toThrow('has the tag v9.0.0, but package.json has the version');
  git('tag', '--delete', 'v9.0.0');
  tagVersion(project, '1.0.0');
  writeFileSync(
    join(project, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.0.0 (x)\n\n- Old.\n',
  );
  expect(() => checkedTag(project)).toThrow('Commit or remove these changes');
  commit('After the release', '2026-11-28T00:00:00Z');
  expect(checkedTag(project)).toBeUndefined();
  git('tag', '--force', '--annotate', 'v1.0.0', '--message', 'moved');
  expect(() => checkedTag(project)).toThrow('nothing under "Unreleased"');
});

test('npm ci has no reason to warn: no package in the lock file asks for a newer Node than npm may run with (npm run fix)', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { engines?: { node?: string }; deprecated?: string }>;
  };
  const first = (range: string) =>
    Math.min(...range.split('||').map((one) => Number(/\d+/.exec(one)?.[0] ?? 0)));
  const asking = Object.entries(lock.packages).filter(
    ([, one]) => first(one.engines?.node ?? '') > 20 || one.deprecated !== undefined,
  );
  expect(asking.map(([path]) => path)).toEqual([]);
});
