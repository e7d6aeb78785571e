// The answers of one person in an open week: how they are encoded before they are encrypted, and which link and browser can change
// them (rules.md P13, P14). Pure.
import type { KeptAnswer } from '../questions/types.ts';

/**
 * How an answer was given. `link`: a short hash of the personal link, or 'history'; `visit`: a hash of the browser session;
 * `handedOut`: whether the employer handed out the link.
 */
export type Giving = { link: string; visit: string | null; handedOut: boolean };

/** `counted`: the live figures of the week already include it, so it can't be changed (P16). */
export type PersonAnswer = KeptAnswer & {
  comment: string | null;
  skipped: boolean;
  /** The answer is "not applicable", without value and choices. */
  notApplicable?: true;
  counted: boolean;
  giving: Giving;
};

/** An answer without how it was given. */
export type GivenAnswer = Omit<PersonAnswer, 'giving' | 'counted'>;

export const givenIn = ({ value, choices, comment, skipped, notApplicable }: PersonAnswer): GivenAnswer => ({
  value,
  choices,
  comment,
  skipped,
  ...(notApplicable && { notApplicable }),
});

/** Answers by question id. */
export type PersonAnswers = Map<number, PersonAnswer>;

type Encoded = {
  g: [link: string, visit: string | null, handedOut: 0 | 1][];
  a: [
    question: number,
    giving: number,
    value: number | null,
    choices: string[] | null,
    comment: string | null,
    flags: number,
  ][];
};

const [skippedFlag, countedFlag, notApplicableFlag] = [1, 2, 4];

/** Returns the bytes to encrypt. */
export function encodeAnswers(answers: PersonAnswers): Buffer {
  const encoded: Encoded = { g: [], a: [] };
  const places = new Map<string, number>();
  for (const [question, answer] of answers) {
    const { value, choices, comment, skipped, counted, notApplicable, giving } = answer;
    const { link, visit, handedOut } = giving;
    const name = `${link} ${visit} ${handedOut}`; // none of them contains a space
    const place = places.get(name) ?? encoded.g.push([link, visit, handedOut ? 1 : 0]) - 1;
    places.set(name, place);
    const flags =
      (skipped ? skippedFlag : 0) + (counted ? countedFlag : 0) + (notApplicable ? notApplicableFlag : 0);
    encoded.a.push([question, place, value, choices, comment, flags]);
  }
  return Buffer.from(JSON.stringify(encoded));
}

/** Returns the answers that encodeAnswers has encoded. */
export const decodeAnswers = (bytes: Buffer): PersonAnswers => new Map(decodedAnswers(bytes));

/** Returns the same as a list. A map takes longer, for everyone in a week. */
export function decodedAnswers(bytes: Buffer): [question: number, answer: PersonAnswer][] {
  const { g, a } = JSON.parse(bytes.toString()) as Encoded;
  const givings = g.map(([link, visit, handedOut]): Giving => ({ link, visit, handedOut: handedOut === 1 }));
  return a.map(([question, place, value, choices, comment, flags]) => {
    const answer: PersonAnswer = {
      value,
      choices,
      comment,
      skipped: (flags & skippedFlag) !== 0,
      counted: (flags & countedFlag) !== 0,
      giving: givings[place] as Giving,
    };
    if ((flags & notApplicableFlag) !== 0) answer.notApplicable = true;
    return [question, answer];
  });
}

/** Why an answer cannot replace the existing one. */
export type Refusal = 'elsewhere' | 'counted';

/** Returns whether an answer was given with this link in this browser session. Only there it is shown and can be changed. */
export const isOwn = ({ giving }: PersonAnswer, by: Giving): boolean =>
  giving.link === by.link && giving.visit !== null && giving.visit === by.visit;

/** Returns why an existing answer can't be changed with this link in this browser session; undefined if it can. */
export function changeRefusalOf(before: PersonAnswer | undefined, by: Giving): Refusal | undefined {
  if (!before) return undefined;
  if (!isOwn(before, by)) return 'elsewhere';
  return before.counted ? 'counted' : undefined;
}
