// The commands of README.md and docs/operators are read correctly, so that .ci/newcomer runs each of them.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
type Command = { document: string; heading: string; language?: string; line: number; text: string };
const load = (name: string): Promise<unknown> => import(join(root, '.ci/documents', name));
const { commandsOf, withoutMentions } = (await load('commands.js')) as {
  commandsOf: (path: string) => Command[];
  withoutMentions: (commands: Command[]) => Command[];
};
const { notHere } = (await load('not-here.js')) as { notHere: [RegExp, string][] };

const documents = ['README.md', ...globSync('docs/operators/*.md', { cwd: root })];
const all = withoutMentions(documents.flatMap((path) => commandsOf(join(root, path))));

test('every command that is listed as not runnable is in a document, and has a reason', () => {
  const stale = notHere.filter(([pattern]) => !all.some(({ text }) => pattern.test(text)));
  expect(stale).toEqual([]);
  expect(notHere.filter(([, reason]) => !reason.endsWith('.'))).toEqual([]);
});

test('every block has a language that .ci/newcomer knows', () => {
  const known = ['sh', 'sql', 'ini', 'json', 'haproxy', 'rsyslog', 'text'];
  const others = all.filter(({ language }) => language !== undefined && !known.includes(language));
  expect(others.map(({ document, line, language }) => `${document}:${line} ${language}`)).toEqual([]);
});

test('a block has one command a line, or more lines that belong together; in a sentence, a command has a program and arguments', () => {
  const folder = mkdtempSync(join(tmpdir(), 'soundings-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.md');
  const read = (text: string) => {
    writeFileSync(path, text);
    return withoutMentions(commandsOf(path)).map(({ line, language, text: one }) => [line, language, one]);
  };
  const text = [
    '# Install',
    '1. Run `npx soundings keys show`, with `DATA_DIR`, after `npm ci`:',
    '   ```sh',
    '   npm ci && npm start',
    '',
    '   sed s/a/b/ file |',
    '     curl -d @- \\',
    '       http://localhost',
    '   echo end',
    '   ```',
    '```ini',
    'A=1',
    'B=2',
    '```',
    'See `npx soundings backup FILE` and `npx soundings backup mine`.',
  ];
  expect(read(text.join('\n'))).toEqual([
    [2, undefined, 'npx soundings keys show'],
    [4, 'sh', 'npm ci && npm start'],
    [6, 'sh', 'sed s/a/b/ file |\n  curl -d @- \\\n    http://localhost'],
    [9, 'sh', 'echo end'],
    [12, 'ini', 'A=1\nB=2\n'],
    [15, undefined, 'npx soundings backup mine'],
  ]);
  expect(() => read('```\nls\n```')).toThrow('a.md:1: this block has no language');
});
