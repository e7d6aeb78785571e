// Makes texts from outside safe to show to people: no hidden characters, no fake lines, no change of text direction and no
// clickable links.

/**
 * Returns a text as one line of at most `max` characters. Invisible characters are shown by their code, such as [U+202E], because
 * they may be the reason why a text is refused. Line breaks are shown as ↵, a letter keeps at most three accents, and a shortened
 * text ends with ….
 */
export function visible(text: string, max: number): string {
  const start = text.length > 4 * max ? text.slice(0, 4 * max) : text;
  const line = start
    .toWellFormed()
    .trim()
    .replaceAll(/\s*[\r\n\v\f\x85\u2028\u2029]\s*/g, ' ↵ ')
    .replaceAll(/[\t\p{Zs}]+/gu, ' ')
    .replaceAll(/(\p{M}{3})\p{M}+/gu, '$1')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}]|(?![\ufe00-\ufe0f])\p{DI}/gu, nameOf);
  const characters = line.length <= max ? undefined : [...line];
  if (start === text && (!characters || characters.length <= max)) return line;
  return `${(characters ?? [...line]).slice(0, max - 1).join('')}…`;
}

const nameOf = (character: string) =>
  `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`;

/**
 * Like `visible`, for emails: also prevents mail programs from turning web addresses into links, and isolates right-to-left text
 * from its surroundings. Email addresses and file names are unchanged.
 */
export function inert(text: string, max: number): string {
  const unlinked = visible(text, max)
    .split(' ')
    .map((word) => (plainEmail.test(word) ? word : word.replaceAll(linkJoint, `$&${zeroWidthSpace}`)))
    .join(' ');
  return rightToLeft.test(unlinked) ? `${isolate}${unlinked}${endOfIsolate}` : unlinked;
}

/**
 * Like `visible`, for text messages: also separates what a phone could turn into a link, without characters that would make the message
 * longer than it looks.
 */
export function inertInSms(text: string, max: number): string {
  const line = visible(text.replaceAll(linkJoint, '$& ').replaceAll('@', ' @ '), max);
  return line.endsWith('…') && line.length > 1 ? `${line.slice(0, -1).trimEnd()}...` : line;
}

const plainEmail = /^["'“(<]*[\w.+-]+@[\w.-]+["'”)>.,;:]*$/;
const linkJoint = /:(?=\/)|\.(?!(?:csv|xlsx?)(?![\p{L}\p{N}]))(?=\p{L})/giu;
const zeroWidthSpace = '\u200b';
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const isolate = '\u2068';
const endOfIsolate = '\u2069';
