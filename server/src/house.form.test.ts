// The rules about files and texts: no circular imports, no long files or functions, no crowded folders, one name for each function,
// plain words, and no comment that names a missing file.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type FunctionForm, importedPath, parsedFile, parsedText } from './testing/house/sources.ts';
import { namesToChange, namesToChangeIn } from './testing/house/names.ts';
import { phrasesToStopUsing, wordsToStopUsing } from './testing/house/writing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const glob = (...patterns: string[]) =>
  patterns
    .flatMap((pattern) =>
      globSync(pattern, { cwd: root, exclude: (path) => /node_modules|\bdist/.test(path) }),
    )
    .toSorted();
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** What is generated isn't read. */
const code = glob('{server,console,client,contract,bench}/src/**/*.{ts,tsx}').filter(
  (path) => path !== 'client/src/api-types.ts',
);
const isOfTests = (path: string) => /\.(test|fixture)\.tsx?$|^server\/src\/testing\//.test(path);
const product = code.filter((path) => !isOfTests(path));

/** Returns the files that a file imports, including types and dynamic imports. */
const importsOf = (path: string): string[] =>
  parsedFile(path).imports.flatMap((one) => importedPath(path, one) ?? []);

/** Returns the circles of a graph, each as its nodes in alphabetical order. */
function circlesOf(graph: Map<string, string[]>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const [open, circles]: [string[], string[][]] = [[], []];
  function visit(node: string): void {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (open.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = open.splice(open.indexOf(node));
    if (circle.length > 1) circles.push(circle.toSorted());
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles;
}

describe('files', () => {
  test('have no circular imports, not even of types or by dynamic imports', () => {
    expect(
      circlesOf(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
    ).toEqual([['b', 'c']]);
    expect(circlesOf(new Map(product.map((path) => [path, importsOf(path)])))).toEqual([]);
  });

  test('have at most 400 lines, except catalogues', () => {
    const catalogues = ['server/src/demo/comments.ts'];
    const long = [...product, ...glob('{server,console}/src/**/*.css')]
      .filter((path) => !catalogues.includes(path) && !path.endsWith('/text/arguments.ts'))
      .map((path) => ({ path, lines: textOf(path).split('\n').length - 1 }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });

  test('are in folders of at most 20 files, not counting tests and migrations', () => {
    const folders = Map.groupBy(
      [...product, ...glob('{server,console}/src/**/*.css', 'server/src/testing/**/*.ts')],
      dirname,
    );
    const crowded = [...folders].filter(([, files]) => files.length > 20);
    expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
  });

  test('have no 15 lines in common with another place', () => {
    /** Returns where the same 15 lines of code or style occur twice, not counting comments, imports, blank lines and indentation. */
    const repeated = (texts: ReadonlyMap<string, string>) => {
      const first = new Map<string, string>();
      const found = new Set<string>();
      for (const [path, text] of texts) {
        const lines = text
          .split('\n')
          .map((line, i) => ({ place: `${path}:${i + 1}`, line: line.trim() }))
          .filter(({ line }) => line !== '' && !/^(?:\/\/|\/?\*|import )/.test(line));
        for (let at = 0; at + 15 <= lines.length; at++) {
          const part = lines.slice(at, at + 15);
          const key = part.map(({ line }) => line).join('\n');
          const place = part[0]!.place;
          if (first.has(key)) found.add(`${first.get(key)} and ${place}`);
          else first.set(key, place);
        }
      }
      return [...found];
    };
    const lines = Array.from({ length: 15 }, (_, i) => `  step${i}();`);
    const copy = lines.map((line) => `  ${line}\n// and then`).join('\n');
    expect(repeated(new Map(Object.entries({ a: lines.join('\n'), b: copy })))).toEqual(['a:1 and b:1']);
    const places = [...product, ...glob('{server,console}/src/**/*.css')].filter(
      (path) => !path.endsWith('/text/arguments.ts'),
    );
    expect(repeated(new Map(places.map((path) => [path, textOf(path)])))).toEqual([]);
  });

  test('exist if a comment or document names them', () => {
    const names = new Set(
      [
        ...code,
        ...glob('*.*', '*/*.*', 'docs/**/*.*', '**/*.{md,sql,css,json,sh,yaml,yml}'),
        'docs/data.d.ts',
        'api-types.ts',
      ].map((path) => basename(path)),
    );
    const named = /(?<![\w*{<$./-])((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|tsx|md))(?![\w*])/g;
    const missing = [...code, ...glob('*.md', 'client/*.md', 'docs/**/*.md')]
      .filter((path) => !path.endsWith('CHANGELOG.md'))
      .flatMap((path) => {
        const text = textOf(path);
        const readable = path.endsWith('.md')
          ? [text]
          : (text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g) ?? []);
        return readable
          .flatMap((one) => [...one.matchAll(named)].map(([, name]) => name as string))
          .filter((name) => !names.has(basename(name)))
          .map((name) => `${path}: ${name}`);
      });
    expect(missing).toEqual([]);
  });
});

describe('names and homes', () => {
  test('are one for each function, type and value: nothing is forwarded, and nothing has a second name', () => {
    const { forwarded, aliases, imports } = parsedText(`
      import { a, b as second } from './b.ts';
      export { a };
      export type { c } from './c.ts';
      export const d: (one: number) => string = a;
      export const e = (one: number) => a(one);
      async function f(one: number, other: string): Promise<string> {
        return await g(one, other);
      }
      export const h = () => a(5), i = a.b, j = (one: number, other = 5) => a(other, one), k = one.map(a);
    `);
    expect([forwarded, aliases, imports.flatMap(({ renamed }) => renamed)]).toEqual([
      ['a', 'c'],
      ['d', 'e', 'f', 'i'],
      ['b as second'],
    ]);
    // The published package exports everything from one file.
    const entry = 'client/src/index.ts';
    const found = code
      .filter((path) => path !== entry)
      .flatMap((path) => {
        const parsed = parsedFile(path);
        const renamed = parsed.imports.flatMap((one) =>
          importedPath(path, one) === undefined ? [] : one.renamed,
        );
        // Tests compare with what they name.
        const all = [...parsed.forwarded, ...renamed, ...(isOfTests(path) ? [] : parsed.aliases)];
        return all.map((name) => `${path}: ${name}`);
      });
    expect(found).toEqual([]);
  });

  test('differ for different exported functions', () => {
    // The console and the server each know the question types, in their own form.

    const exported = product.flatMap((path) =>
      parsedFile(path)
        .exported.filter(({ kind }) => kind === 'function')
        .map(({ name }) => ({ name, path })),
    );
    const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(([, all]) => all.length > 1);
    expect(twice.map(([name]) => name).toSorted()).toEqual([]);
  });
});

describe('functions', () => {
  const withForm = (is: (form: FunctionForm) => boolean, among = product) =>
    among.flatMap((path) =>
      parsedFile(path)
        .functions.filter(is)
        .map(({ name }) => `${path}: ${name}`),
    );

  test('have at most 70 lines', () => {
    const lines = Array.from({ length: 70 }, () => '  wait();').join('\n');
    const { functions } = parsedText(`
      export const one = async (
        first: number,
      ): Promise<void> => {
      ${lines}
      };
      const table = { two: () => { wait(); } };
    `);
    expect(functions).toEqual([
      { name: 'one', lines: 74, parameters: 1 },
      { name: 'two', lines: 1, parameters: 0 },
    ]);
    expect(withForm((form) => form.lines > 70)).toEqual([]);
  });

  test('have at most five parameters', () => {
    expect(withForm((form) => form.parameters > 5)).toEqual([]);
  });
});

describe('texts', () => {
  /** The words that are allowed, by file. */
  const meant: Record<string, readonly string[]> = {
    'CHANGELOG.md': ['by hand', 'nobody', 'second step', 'held', 'oneself', 'spread', 'made'], // earlier names
    'server/src/db/renamed-values.test.ts': ['by hand', 'nobody', 'whoever', 'held'], // earlier values
    'server/src/layout/groups.test.ts': ['nobody'], // a name
    'server/src/cli/cli.organization.test.ts': ['nobody', 'held'], // a name, and the outcome in the description of the command
    'server/src/cli/runs.ts': ['held'],
    'docs/integrators/files.md': ['held'],
    'docs/administrators/questions.md': ['told, tells', 'silences'], // questions and titles of studies, as they are published
    'server/src/languages/text/en/answering.json': ['told, tells'],
    'server/src/auth/two-factor.ts': ['second step'], // 30-second steps, and the context of stored secrets
    'server/src/db/schema.sql': ['second step'],
    'server/src/auth/sign-in-throttle.sql.ts': ['least'], // the SQL function
    'CONTRIBUTING.md': ['by hand'], // without a program
    'docs/start/example.md': ['by hand'],
    'docs/operators/troubleshooting.md': ['held'], // the outcome that "runs list" prints
    'docs/decisions/0013-schedules-rounds-and-messages.md': ['delivered'], // an email
    'docs/integrators/gaps.md': ['delivered'],
  };

  test('of the product, its documents and its comments contain no words to stop using (docs/writing.md)', () => {
    const readable = [
      ...glob(
        '*.md',
        'client/*.md',
        'docs/**/*.md',
        '{server,console,contract}/src/**/text/*/*.json',
        'server/src/db/schema.sql',
      ),
      ...product,
    ].filter((path) => !['docs/writing.md', 'server/src/demo/comments.ts'].includes(path));
    expect(wordsToStopUsing(root, readable, meant)).toEqual([]);
  });

  test('of tests are as well', () => {
    const readable = code.filter(
      (path) => isOfTests(path) && !/testing\/house\/writing\.ts$|house\.form\.test\.ts$/.test(path),
    );
    expect(wordsToStopUsing(root, readable, meant)).toEqual([]);
  });
});

describe('sentences', () => {
  test('of documents and English catalogues are written as a native product writes them (docs/writing.md)', () => {
    // The text of docs/integrators/interfaces.md never changes, and docs/integrators/errors.md is generated from the
    // contract.
    const contract = ['interfaces.md', 'errors.md'].map((name) => `docs/integrators/${name}`);
    const readable = glob(
      '*.md',
      'client/*.md',
      'docs/**/*.md',
      '{server,console,contract}/src/**/text/en/*.json',
    ).filter((path) => ![...contract, 'docs/privacy/rules.md', 'docs/writing.md'].includes(path));
    // Names of the interfaces before, and Swedish percentages.
    const meant = { 'CHANGELOG.md': ['spread', 'space before %'] };
    expect(phrasesToStopUsing(root, readable, meant)).toEqual([]);
  });
});

describe('names', () => {
  /** The words that are really meant, by file. */
  const meant: Record<string, readonly string[]> = {
    // Words of comments, of names and of what was searched for.
    'console/src/pages/results/comments/CommentWordsSection.tsx': ['words'],
    'console/src/pages/results/comments/comments.module.css': ['words'],
    'console/src/text/en/results.json': ['words'],
    'console/src/text/sv/results.json': ['words'],
    'console/src/ui/Avatar.tsx': ['words'],
    'contract/src/people/find-groups.ts': ['words'],
    'console/src/ui/form/find-options.ts': ['words'],
    'contract/src/console/results/comments.ts': ['words'],
    'server/src/app.routes.ts': ['words'],
    'server/src/app.ts': ['words'],
    'server/src/console/people/people.sql.ts': ['words'],
    'server/src/console/results/comments.ts': ['words'],
    'server/src/console/results/results.routes.ts': ['words'],
    'server/src/results/comment-text.ts': ['words', 'letter'],
    'server/src/results/data/comments-shown.ts': ['words'],
    'server/src/results/data/words-thread.ts': ['words'],
    'server/src/results/words.ts': ['words'],
    // The wording of a question, which is compared with that of others.
    'server/src/questions/similar-wording.ts': ['wording', 'letter'],
    // Letters of the alphabet.
    'server/src/answers/page-language.ts': ['letter'],
    'server/src/http/pages.ts': ['letter'],
    'server/src/base/json/json.ts': ['letter'],
    'server/src/cli/accounts.ts': ['letter'],
    'server/src/sheets/xlsx.ts': ['letter'],
    // Moments of a distribution.
    'server/src/results/statistics/drivers.ts': ['moments'],
    'server/src/results/statistics/relative-weights.ts': ['moments'],
    // Answers that people give, and the people and weeks that were asked.
    'console/src/router.tsx': ['asking'],
    'console/src/ui/charts/charts.module.css': ['answer'],
    'console/src/ui/charts/scale.ts': ['asked'],
    'server/src/http/metrics.ts': ['asked'],
    // The earlier name of a setting.
    'server/src/base/config.ts': ['answer'],
    'server/src/base/config.test.ts': ['answer'],
    // The SQL function.
    'server/src/auth/sign-in-throttle.sql.ts': ['least'],
    // The parameter of a function, which can't be renamed without dropping its indexes.
    'server/src/db/schema.sql': ['words'],
    'server/src/cli/files.ts': ['means'], // the option's name before 1.0
    'server/src/layout/values.ts': ['words'], // of a full name
    'server/src/layout/header-aliases.ts': ['letter'], // of the alphabet
    // The examples below.
    'server/src/house.form.test.ts': ['beneath', 'held'],
  };

  test('in code, texts, styles and SQL contain no words to stop using (docs/writing.md)', () => {
    const names = (file: string, text: string) => namesToChange(file, text).map((one) => one.split(' (')[0]);
    expect(
      names(
        'server/src/a.ts',
        `// told
        const dropBeneath = 'oneself', told = 1; function testLetter(of: { mood: number; isHeld: boolean }) {}`,
      ),
    ).toEqual(['dropBeneath', 'testLetter', 'mood', 'isHeld']);
    expect(names('server/src/a.test.ts', 'const [mood, pieces] = [1, 2];')).toEqual(['pieces']);
    expect(names('server/src/http/a.ts', 'const answer = ask((asked) => handOver(asked));')).toEqual([
      'answer',
      'asked',
    ]);
    expect(names('server/src/a.sql.ts', 'const a = `select b as "madeAt" from c held -- told`;')).toEqual([
      'madeAt',
      'held',
    ]);
    expect(
      names('console/src/text/en/a.json', '{ "a.makeIt": "", "a.moments": "look", "a.handOver": "" }'),
    ).toEqual(['a.moments']);
    expect(names('console/src/a.css', '.stops, .b-looks > dt { --gate: 1px } /* .told */')).toEqual([
      'stops',
      'b-looks',
      'gate',
    ]);

    const files = glob(
      '{server,console,client,contract,bench}/src/**/*.{ts,tsx,js,css}',
      '{server,console}/src/**/text/*/*.json',
      'server/src/db/schema.sql',
    ).filter((file) => !/\/text\/arguments\.ts$|\/testing\/house\/(names|writing)\.ts$/.test(file));
    expect(namesToChangeIn(root, files, meant)).toEqual([]);
  });

  test('of the lists of words that are really meant are still needed', () => {
    const unneeded = Object.entries(meant).flatMap(([file, list]) => {
      const found = namesToChange(file, textOf(file)).join(' ').toLowerCase();
      return list.filter((word) => !found.includes(word)).map((word) => `${file}: ${word}`);
    });
    expect(unneeded).toEqual([]);
  });
});
