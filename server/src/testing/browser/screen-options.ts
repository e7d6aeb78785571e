// What `npm run screens` is asked for: which pictures, in which language, and where they are written (screens.ts).
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { kinds, type Kind, type ScreenTexts } from './screen-list.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    language: { type: 'string', default: 'en' },
    into: { type: 'string', default: fileURLToPath(new URL('../../../../docs/screens', import.meta.url)) },
    kinds: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
});

/** The language of the console, and of the pages and messages of people who answer, if they have it. */
export const { language } = values;

/** Where the pictures are written. */
export const folder = resolve(values.into);

/** Whether pictures show whole pages, however long. */
export const isWhole = values.whole;

/** Whether all pictures are taken, so that those of before can be deleted. */
export const isEverything =
  positionals.length === 0 && !process.argv.slice(2).some((one) => one.startsWith('--'));

const wanted = new Set(positionals);

/** Whether a picture is to be taken. Without names, all are. */
export const isWanted = ({ name }: { name: string }): boolean => wanted.size === 0 || wanted.has(name);

/** The kinds of pictures instead of those that a screen has; undefined: its own. */
export const wantedKinds: readonly Kind[] | undefined =
  values.kinds === undefined ? undefined : kinds.filter((one) => values.kinds?.split(',').includes(one));

/** Returns the texts of the console in the language, or in English. */
export function readScreenTexts(): ScreenTexts {
  const texts: Record<string, string> = {};
  for (const one of ['en', language]) {
    const cwd = fileURLToPath(new URL(`../../../../console/src/text/${one}`, import.meta.url));
    for (const file of globSync('*.json', { cwd }))
      Object.assign(texts, JSON.parse(readFileSync(`${cwd}/${file}`, 'utf8')));
  }
  return (key) => {
    const text = texts[key];
    if (text === undefined) throw new Error(`The console has no text ${key}.`);
    return text;
  };
}
