// Reads all text catalogues (decisions/0020) and checks each text. Run it as a program to write the types of the arguments next
// to the catalogues. A test of the house fails if they are out of date.
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** What an argument is: `string`, `number`, or the cases of a select, sorted. */
export type ArgumentKind = string;

/** A catalogue in all its languages, English first. `folder`: from the root of the repository. */
export type CatalogueFiles = {
  folder: string;
  name: string;
  texts: Record<string, Record<string, string>>;
};

/** Returns all catalogues: `<folder>/<language>/<name>.json`. */
export function catalogues(): CatalogueFiles[] {
  const english = globSync('{console,contract,server}/src/**/text/en/*.json', { cwd: root }).toSorted();
  return english.map((file) => {
    const folder = dirname(dirname(file));
    const name = basename(file, '.json');
    const files = globSync(`${folder}/*/${name}.json`, { cwd: root }).toSorted();
    const textsOf = (path: string) =>
      withoutHead(JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, string>);
    const others = files.filter((path) => path !== file);
    const texts = [file, ...others].map((path) => [basename(dirname(path)), textsOf(path)] as const);
    return { folder, name, texts: Object.fromEntries(texts) };
  });
}

/** Returns the texts of a file without the entries that describe the file, such as @@locale. */
export const withoutHead = (file: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(file).filter(([key]) => !key.startsWith('@@')));

/**
 * Returns the arguments of a text and their kinds. Throws if the text is not valid ICU MessageFormat, uses a part of it that we don't
 * (dates, tags), or lacks a plural category of its language.
 */
export function argumentsOf(text: string, language: string): Record<string, ArgumentKind> {
  const found: Record<string, ArgumentKind> = {};
  const add = (name: string, kind: ArgumentKind) => {
    if ((found[name] ??= kind) !== kind) throw new Error(`{${name}} is ${found[name]} and ${kind}`);
  };
  const visit = (elements: MessageFormatElement[]): void => {
    for (const element of elements) {
      switch (element.type) {
        case TYPE.literal:
        case TYPE.pound:
          break;
        case TYPE.argument:
          add(element.value, 'string');
          break;
        case TYPE.number:
          add(element.value, 'number');
          break;
        case TYPE.select:
          add(element.value, kindOfSelect(Object.keys(element.options)));
          for (const { value } of Object.values(element.options)) visit(value);
          break;
        case TYPE.plural: {
          add(element.value, 'number');
          const missing = categoriesOf(language, element.pluralType).filter(
            (one) => !Object.hasOwn(element.options, one),
          );
          if (missing.length > 0) throw new Error(`{${element.value}} lacks ${missing.join(', ')}`);
          for (const { value } of Object.values(element.options)) visit(value);
          break;
        }
        default:
          throw new Error('only arguments, number, plural, selectordinal and select are used');
      }
    }
  };
  visit(parse(text));
  return found;
}

/** Returns what a text consists of apart from its arguments. Empty if it is not valid ICU MessageFormat. */
export function literalsOf(text: string): string {
  const literals = (elements: MessageFormatElement[]): string =>
    elements
      .map((element) => {
        if (element.type === TYPE.literal) return element.value;
        if (element.type !== TYPE.plural && element.type !== TYPE.select) return ' ';
        return Object.values(element.options)
          .map(({ value }) => literals(value))
          .join(' ');
      })
      .join('');
  try {
    return literals(parse(text));
  } catch {
    return '';
  }
}

/**
 * Returns what is wrong with the texts of a language: empty, invalid, or with other arguments than the English ones. It may leave out the message
 * of the service, which is English.
 */
export function faultsOf(language: string, texts: Record<string, string>, english = texts): string[] {
  return Object.entries(texts).flatMap(([key, text]) => {
    if (text.trim() === '') return [`${key}: is empty`];
    try {
      const own = argumentsOf(text, language);
      const found = JSON.stringify(Object.entries(own).toSorted());
      const isNeeded = ([name]: [string, unknown]) => name !== 'message' || Object.hasOwn(own, name);
      const wanted = JSON.stringify(
        Object.entries(argumentsOf(english[key] ?? '', 'en'))
          .filter(isNeeded)
          .toSorted(),
      );
      return found === wanted ? [] : [`${key}: has ${found}, English has ${wanted}`];
    } catch (error) {
      return [`${key}: ${(error as Error).message}`];
    }
  });
}

const kindOfSelect = (cases: string[]): ArgumentKind =>
  cases
    .toSorted()
    .map((one) => `'${one}'`)
    .join(' | ');

const categoriesOf = (language: string, type: Intl.PluralRulesOptions['type']) =>
  new Intl.PluralRules(language, { type }).resolvedOptions().pluralCategories;

/** Returns the files with the types of the arguments, by path from the root of the repository. */
export function argumentTypes(): Record<string, string> {
  const byFolder = Map.groupBy(catalogues(), ({ folder }) => folder);
  return Object.fromEntries(
    [...byFolder].map(([folder, all]) => [
      `${folder}/arguments.ts`,
      `// The arguments of the texts in the English catalogues of this folder. Generated by \`npm run fix\`.
export type Arguments = {
${all.map(({ name, texts }) => `  ${/^\w+$/.test(name) ? name : `'${name}'`}: {\n${linesOf(texts['en'] ?? {})}  };\n`).join('')}};
`,
    ]),
  );
}

function linesOf(texts: Record<string, string>): string {
  const lines = Object.entries(texts).map(([key, text]) => {
    const all = Object.entries(argumentsOf(text, 'en')).map(([name, kind]) => `${name}: ${kind}`);
    return all.length === 0 ? '' : `    '${key}': { ${all.join('; ')} };\n`;
  });
  return lines.join('');
}

/** Returns the file with the types of the arguments as it is now. */
export const writtenArgumentTypes = (path: string): string => readFileSync(join(root, path), 'utf8');

if (import.meta.main) {
  for (const [path, text] of Object.entries(argumentTypes())) writeFileSync(join(root, path), text);
}
