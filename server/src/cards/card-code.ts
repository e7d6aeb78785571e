// The codes of printed cards: easy to read and to type, and hard to guess. Pure. answers/entry/card-code.client.js checks a code in the
// browser by the same rules.

/**
 * The characters of a code: no two look the same on paper or in handwriting, and without vowels they form no words. There are 23, a
 * prime number, so the check character finds every wrong character and every two that were swapped.
 */
export const codeCharacters = '23456789CDFHJKMNPQRTWXY';

/** Characters that people may read instead of one of a code. */
const lookalikes: Record<string, string> = { Z: '2', S: '5', G: '6', B: '8', O: 'Q', 0: 'Q' };

/** 11 random characters, which are 49.8 bits, and a check character. */
export const codeLength = 12;

/** Returns a new code. `random`: returns a random whole number from 0 up to, but without, its argument. */
export function newCode(random: (below: number) => number): string {
  const body = Array.from({ length: codeLength - 1 }, () => codeCharacters[random(codeCharacters.length)]);
  return body.join('') + checkOf(body.join(''));
}

/** Returns the check character of the other characters: the sum of their values, each times its place. */
function checkOf(body: string): string {
  const sum = [...body].reduce((total, one, i) => total + (i + 1) * codeCharacters.indexOf(one), 0);
  return codeCharacters[sum % codeCharacters.length] as string;
}

/**
 * Returns the code in a text; undefined if there is none. The text can have lower-case letters, spaces, hyphens and lookalikes. A
 * scanner types the whole address of a card, so only the end of the text counts.
 */
export function codeIn(text: string): string | undefined {
  const typed = text.slice(-200).toUpperCase().replaceAll(/[\s-]/g, '');
  const end = /[0-9A-Z]{12}$/.exec(typed)?.[0] ?? '';
  const code = end.replaceAll(/[ZSGBO0]/g, (one) => lookalikes[one] as string);
  const isCode = code !== '' && [...code].every((one) => codeCharacters.includes(one));
  return isCode && code.endsWith(checkOf(code.slice(0, -1))) ? code : undefined;
}

/** Returns a code as it is printed: in three groups. */
export const printedCode = (code: string): string => code.replaceAll(/(.{4})(?=.)/g, '$1-');
