// The files of docs/screens: their names, and the page that shows them (screens.ts).
import { pullScreens } from './pull-screens.ts';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answering, languages } from './answering-screens.ts';
import { folder } from './screen-options.ts';
import {
  handoverScreens,
  type Kind,
  latestScreens,
  referenceScreens,
  signOnScreens,
  moreScreens,
  outside,
  type Screen,
  screens,
  signIn,
} from './screen-list.ts';
import { messages } from './screen-mails.ts';

const inside = [...outside, ...signIn, ...screens, ...moreScreens];
const all = [
  ...inside,
  ...answering,
  ...messages,
  ...languages,
  ...latestScreens,
  ...signOnScreens,
  ...pullScreens,
  ...referenceScreens,
  ...handoverScreens,
];
const numbers = new Map(all.map(({ name }, i) => [name, String(i + 1).padStart(2, '0')]));

/** Of the JPEG files, so that all of them together stay below 9 MB. */
export const quality = 56;

const fileOf = ({ name }: { name: string }, kind: Kind) => `${numbers.get(name)}-${name}-${kind}.jpg`;

/** Returns the path of a picture. */
export const pathOf = (one: { name: string }, kind: Kind): string => join(folder, fileOf(one, kind));

/** The kinds of pictures of a screen. */
export const kindsOf = ({ kinds = ['light', 'dark'] }: Pick<Screen, 'kinds'>): readonly Kind[] => kinds;

type Entry = Pick<Screen, 'name' | 'title' | 'description' | 'kinds'>;

function entryOf(one: Entry): string[] {
  const taken = kindsOf(one).filter((kind) => existsSync(pathOf(one, kind)));
  const images = taken.map(
    (kind) =>
      `<img src="${fileOf(one, kind)}" alt="${one.title}, ${kind}" width="${kind.startsWith('phone') ? '24%' : '49%'}">`,
  );
  return taken.length === 0 ? [] : [`### ${one.title}`, one.description, images.join('\n')];
}

/** Writes the README.md that shows the pictures. */
export function writeIndex(): void {
  const parts = [
    '# Screens',
    'A quarter of the demo company: the console, the pages on which people answer, and the messages that they get, in light and dark. Created by `npm run screens`.',
    '## The console',
    ...[
      ...inside,
      ...latestScreens,
      ...signOnScreens,
      ...pullScreens,
      ...referenceScreens,
      ...handoverScreens,
    ].flatMap(entryOf),
    '## Answering',
    ...answering.flatMap(entryOf),
    '## Emails and text messages',
    ...messages.flatMap(entryOf),
    '## The answering page in other languages',
    ...languages.flatMap(entryOf),
  ];
  writeFileSync(join(folder, 'README.md'), `${parts.join('\n\n')}\n`);
}
