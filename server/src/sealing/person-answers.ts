// What one person has answered in an open week: how it is written before it is sealed, and what may be changed by which link and
// browser (privacy.md P13, P14). Pure.
import type { KeptAnswer } from '../questions/types.ts';

/**
 * How an answer came. `link`: a tag of the personal link, or 'history'; `visit`: a digest of the browser session that gave it;
 * `handedOut`: the employer handed the link out.
 */
export type Giving = { link: string; visit: string | null; handedOut: boolean };

/** `counted`: the live figures of the week count it already, so it stays as it is (P16). */
export type PersonAnswer = KeptAnswer & {
  comment: string | null;
  skipped: boolean;
  counted: boolean;
  giving: Giving;
};

/** By question id. */
export type PersonAnswers = Map<number, PersonAnswer>;

type Written = {
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

const [skippedFlag, countedFlag] = [1, 2];

/** The bytes that are sealed. */
export function encodeAnswers(answers: PersonAnswers): Buffer {
  const written: Written = { g: [], a: [] };
  const places = new Map<string, number>();
  for (const [question, { value, choices, comment, skipped, counted, giving }] of answers) {
    const { link, visit, handedOut } = giving;
    const name = JSON.stringify([link, visit, handedOut]);
    const place = places.get(name) ?? written.g.push([link, visit, handedOut ? 1 : 0]) - 1;
    places.set(name, place);
    const flags = (skipped ? skippedFlag : 0) + (counted ? countedFlag : 0);
    written.a.push([question, place, value, choices, comment, flags]);
  }
  return Buffer.from(JSON.stringify(written));
}

/** What was encoded. */
export function decodeAnswers(bytes: Buffer): PersonAnswers {
  const { g, a } = JSON.parse(bytes.toString()) as Written;
  const givings = g.map(([link, visit, handedOut]): Giving => ({ link, visit, handedOut: handedOut === 1 }));
  return new Map(
    a.map(([question, place, value, choices, comment, flags]) => [
      question,
      {
        value,
        choices,
        comment,
        skipped: (flags & skippedFlag) !== 0,
        counted: (flags & countedFlag) !== 0,
        giving: givings[place] as Giving,
      },
    ]),
  );
}

/** Why an answer cannot take the place of the one before. */
export type Refusal = 'elsewhere' | 'counted';

/** Whether an answer was given by this link in this browser session: then it is shown there, and can be changed. */
export const isOwn = ({ giving }: PersonAnswer, by: Giving): boolean =>
  giving.link === by.link && giving.visit !== null && giving.visit === by.visit;

/** Why an answer that is there cannot be changed by a link in a browser session; undefined when it can. */
export function refusalOf(before: PersonAnswer | undefined, by: Giving): Refusal | undefined {
  if (!before) return undefined;
  if (!isOwn(before, by)) return 'elsewhere';
  return before.counted ? 'counted' : undefined;
}
