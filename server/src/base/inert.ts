// Texts that others wrote, made fit to be read by people: nothing in them is hidden, forges a line, turns the direction of
// what stands beside them, or can be clicked.

/**
 * One line of at most `max` characters. A character that cannot be seen is named, as [U+202E]: it may well be the fault.
 * A line break is shown as ↵, more than three accents on a letter are dropped, and what is cut ends in ….
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
 * The same for a mail, whose reader's program makes links of what looks like an address of the web, and lays right-to-left
 * letters out with their neighbours. E-mail addresses and names of files stay as they are.
 */
export function inert(text: string, max: number): string {
  const unlinked = visible(text, max)
    .split(' ')
    .map((word) => (plainEmail.test(word) ? word : word.replaceAll(linkJoint, `$&${zeroWidthSpace}`)))
    .join(' ');
  return rightToLeft.test(unlinked) ? `${isolate}${unlinked}${endOfIsolate}` : unlinked;
}

const plainEmail = /^["'“(<]*[\w.+-]+@[\w.-]+["'”)>.,;:]*$/;
const linkJoint = /:(?=\/)|\.(?!(?:csv|xlsx?)(?![\p{L}\p{N}]))(?=\p{L})/giu;
const zeroWidthSpace = '\u200b';
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const isolate = '\u2068';
const endOfIsolate = '\u2069';
