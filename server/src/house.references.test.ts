// Every reference leads somewhere: sections of the interface description (§4.1), settled gaps (decision B13), design decisions
// (decisions/0016) and privacy rules (P14) in comments, titles of tests and documents, and the links of documents.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const glob = (...patterns: string[]) =>
  patterns
    .flatMap((pattern) =>
      globSync(pattern, { cwd: root, exclude: (path) => /node_modules|\bdist/.test(path) }),
    )
    .toSorted();
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

const documents = glob('*.md', 'client/*.md', 'docs/**/*.md');
const code = glob('{server,console,client,contract,bench}/src/**/*.{ts,tsx,js,css,sql,py}').filter(
  (path) => !path.endsWith('house.references.test.ts'),
);

/** What can be referred to, each with the place that defines it. */
const known = new Set([
  ...[...textOf('docs/integrators/interfaces.md').matchAll(/^(?:#+ |- \*\*)(§[\w.]+)/gm)].map(first),
  ...[...textOf('docs/integrators/gaps.md').matchAll(/^- \*\*([A-F]\d+)\*\*/gm)].map(first),
  ...[...textOf('docs/privacy/rules.md').matchAll(/^- \*\*(P\d+)\*\*/gm)].map(first),
  ...glob('docs/decisions/*.md').map((path) => `decisions/${/\d{4}/.exec(path)?.[0]}`),
]);

function first(match: RegExpMatchArray): string {
  return match[1] as string;
}

/**
 * Returns the text of a file that people read, as one line: the whole text of a document, or the comments and test titles
 * of a source.
 */
function readable(path: string, text: string): string {
  const parts = path.endsWith('.md')
    ? [text]
    : (text.match(
        /\/\*[\s\S]*?\*\/|(?:^[ \t]*(?:\/\/|--)[^\n]*\n?)+|[ \t](?:\/\/|--) [^\n]*|\b(?:test|describe)(?:\.each\(\w+\))?\(\s*['"`][^\n]*|"""[\s\S]*?"""/gm,
      ) ?? []);
  return parts
    .map((part) => part.replace(/^[ \t]*(?:\/\/|\*(?!\*)|--)[ \t]?/gm, '').replace(/\s+/g, ' '))
    .join('\n');
}

/** Returns the references in a text whose target does not exist. */
function lost(text: string): string[] {
  // Sections of published standards
  const own = text.replace(/(?:RFC \d+|ECMA-[\d-]+|ITU-T [A-Z][\w.]+|\[MS-\w+\])(?:,? §[\d.–]+)+/g, '');
  const gaps = /\b[Dd]ecisions? ([A-Z]\d+(?:(?:,? (?:and|to|or) |, )[A-Z]\d+)*)/g;
  return [
    ...[...own.matchAll(/§ ?(\w+(?:\.\w+)*)/g)].map((match) => `§${match[1]}`),
    ...[...own.matchAll(gaps)].flatMap((match) => match[1]!.match(/[A-Z]\d+/g) ?? []),
    ...[...own.matchAll(/(?<![\w/-])P\d+\b/g)].map(String),
    ...[...own.matchAll(/\bdecisions\/(\d+)/g)].map((match) => `decisions/${match[1]}`),
    ...[...own.matchAll(/\b[Dd]ecisions? \[?(\d+)/g)].map(
      (match) => `decisions/${match[1]!.padStart(4, '0')}`,
    ),
  ].filter((one) => !known.has(one));
}

const lostIn = (path: string, text = textOf(path)) =>
  lost(readable(path, text)).map((reference) => `${path}: ${reference}`);

describe('references', () => {
  test('to sections, decisions and privacy rules lead to a place that exists', () => {
    expect(known.size).toBeGreaterThan(100);
    expect([...code, ...documents].flatMap((path) => lostIn(path))).toEqual([]);
  });

  test('are found across lines, in lists and in titles of tests; sections of standards are not ours', () => {
    const text = `// Something (§4.1, decisions
// B2, B3 and B99; privacy P14). RFC 5321 §4.9, §2.33.
/** Something (decision 77, decisions/0099). */
test('is refused (P77)', () => {});
const value = 'P88';
`;
    expect(lostIn('x.ts', text.replace('§4.1', '§4.9'))).toEqual(
      ['§4.9', 'B99', 'P77', 'decisions/0099', 'decisions/0077'].map((one) => `x.ts: ${one}`),
    );
  });

  test('of documents to files and headings lead to a file or heading that exists', () => {
    const anchorsOf = (path: string) =>
      [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        (heading as string)
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replace(/ /g, '-'),
      );
    const broken = documents.flatMap((path) =>
      [...textOf(path).matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)]
        .map(([, link, image]) => (link ?? image) as string)
        .filter((link) => !/^(https?|mailto):/.test(link))
        .filter((link) => {
          const [file = '', anchor] = link.split('#');
          const target = file === '' ? path : relative(root, join(root, dirname(path), file));
          return (
            !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
          );
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('to files and folders in backticks in ARCHITECTURE and CONTRIBUTING lead to one that exists', () => {
    const exists = (path: string) =>
      ['', 'server/src/'].some((base) =>
        [path, `${path}.*`].some((one) => globSync(base + one, { cwd: root }).length > 0),
      );
    // Neither what commands write nor references to decisions.
    const paths = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((document) =>
      [...textOf(document).matchAll(/`((?!node_modules\/|decisions\/)(?:[\w.*{},-]+\/)+[\w.*{},-]*)`/g)].map(
        first,
      ),
    );
    expect(paths.length).toBeGreaterThan(150);
    expect(paths.filter((path) => !exists(path))).toEqual([]);
  });
});
