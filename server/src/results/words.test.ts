// Words that stand out: planted words are found, and chance alone almost never lists one.
import { describe, expect, test } from 'vitest';
import { comments } from '../demo/comments.ts';
import { type Random, randomFrom } from '../simulation/random.ts';
import { cases } from '../testing/house/cases.ts';
import { fisher, logFactorials, wordsThatStandOut, type WrittenComment } from './words.ts';

/** Sentences as people write them: whole ones and mixed ones, so that words are as dependent as in real comments. */
const sentences = (['en', 'sv'] as const).map((language) => ({
  language,
  texts: Object.values(comments).flatMap(({ good, bad }) => [...good[language], ...bad[language]]),
}));

function written(random: Random, count: number): Omit<WrittenComment, 'isHere'>[] {
  return Array.from({ length: count }, () => {
    const { language, texts } = random.oneOf(sentences);
    const words = [random.oneOf(texts), ...(random.next() < 0.5 ? [random.oneOf(texts)] : [])];
    return { text: words.join(' '), language };
  });
}

const inRandomGroup = (
  random: Random,
  all: readonly Omit<WrittenComment, 'isHere'>[],
  share: number,
): WrittenComment[] => all.map((one) => ({ ...one, isHere: random.next() < share }));

const words = (all: readonly WrittenComment[]) => (wordsThatStandOut(all) ?? []).map(({ key }) => key);

describe('words that stand out', () => {
  test('are not there by chance: at most 5% of companies list any word of the same comments assigned at random', () => {
    const random = randomFrom(1, 'chance');
    const companies = cases(100).numRuns;
    let [compared, listing] = [0, 0];
    for (let i = 0; i < companies; i++) {
      const all = inRandomGroup(
        random,
        written(random, random.oneOf([40, 120, 400])),
        random.oneOf([0.1, 0.25, 0.5]),
      );
      const found = wordsThatStandOut(all);
      if (found) compared++;
      if (found?.length) listing++;
    }
    expect(compared).toBeGreaterThan(companies / 2);
    // Two standard errors above 5%.
    expect(listing / compared).toBeLessThan(0.05 + 2 * Math.sqrt((0.05 * 0.95) / compared));
  });

  test('include planted words, as people write them, and only those in comments of the group', () => {
    const random = randomFrom(2, 'planted');
    const companies = cases(60).numRuns;
    let found = 0;
    for (let i = 0; i < companies; i++) {
      const all = inRandomGroup(random, written(random, 300), 0.2).map((one) =>
        one.isHere && random.next() < 0.3 ? { ...one, text: `${one.text} Kranen!` } : one,
      );
      const listed = wordsThatStandOut(all) ?? [];
      if (listed.some(({ key, text }) => key === 'kranen' && text === 'Kranen')) found++;
      for (const { key, here } of listed) {
        const own = all.filter(({ isHere, text }) => isHere && text.toLowerCase().includes(key));
        expect(here.comments).toBeGreaterThanOrEqual(3);
        expect(own.length).toBeGreaterThanOrEqual(here.comments);
      }
    }
    expect(found / companies).toBeGreaterThanOrEqual(0.93);
  });

  /** Different comments of the same words: a number makes them differ, and isn't a word. */
  const many = (text: string, isHere: boolean, count: number, language = 'en'): WrittenComment[] =>
    Array.from({ length: count }, (_, i) => ({ text: `${text} ${i}`, isHere, language }));

  test('are never words of the rest of the company', () => {
    expect(words([...many('The crane is old', false, 30), ...many('Our floor is cold', true, 30)])).toEqual([
      'cold',
      'floor',
    ]);
  });

  test('need ten comments in one language on both sides, and three with the word', () => {
    const rest = many('All is well with the lights', false, 50);
    expect(wordsThatStandOut([...rest, ...many('The crane is old', true, 9)])).toBeUndefined();
    expect(words([...rest, ...many('The crane is old', true, 10)])).toContain('crane');
    expect(wordsThatStandOut([...rest.slice(0, 9), ...many('The crane is old', true, 50)])).toBeUndefined();
    expect(
      wordsThatStandOut([...rest, ...many('Kranen är gammal och det är inte bra', true, 50)]),
    ).toBeUndefined();
    const two = [...many('The crane is old', true, 2), ...many('All is well with the lights', true, 8)];
    expect(words([...many('All is well with the lights', false, 5000), ...two])).toEqual([]);
  });

  test('count comments of the same words once, whatever their case and punctuation', () => {
    const others = [
      ...many('All is well with the lights', false, 50),
      ...many('Our floor is cold', true, 12),
    ];
    const forklifts = many('The forklift must be repaired', true, 7);
    expect(words([...others, ...forklifts])).toContain('forklift');
    const repeated = forklifts.map((one, i) => ({
      ...one,
      text: i % 2 === 0 ? 'The forklift must be repaired!' : 'the  forklift must be repaired',
    }));
    expect(words([...others, ...repeated])).not.toContain('forklift');
    expect(wordsThatStandOut([...others, ...repeated])?.[0]?.here.of).toBe(13);
    // Once in the group and once elsewhere.
    const elsewhere = repeated.map((one) => ({ ...one, isHere: false }));
    const [floor] = wordsThatStandOut([...others, ...elsewhere, ...repeated]) ?? [];
    expect([floor?.here.of, floor?.elsewhere.of]).toEqual([13, 51]);
  });

  test('are compared within each language, without its stop words', () => {
    const all = [
      ...many('The lights are well', false, 100),
      ...many('Ljuset är bra och det räcker', false, 10),
      ...many('Ljuset är bra och det räcker', true, 90),
      ...many('The lights are well', true, 10),
    ];
    expect(words(all)).toEqual([]);
  });

  test('count once in each comment, however often it repeats them', () => {
    const rest = many('All is well with the lights', false, 60);
    const [first] = wordsThatStandOut([...rest, ...many('crane crane crane: the crane', true, 12)])!;
    expect(first).toMatchObject({
      key: 'crane',
      here: { comments: 12, of: 12 },
      elsewhere: { comments: 0, of: 60 },
    });
  });

  test("Fisher's exact test gives the published p value of the lady tasting tea, and others counted directly", () => {
    const logs = logFactorials(200);
    const p = (here: number, elsewhere: number, allHere: number, allElsewhere: number) =>
      fisher({ here, elsewhere, allHere, allElsewhere }, logs);
    expect(p(3, 1, 4, 4)).toBeCloseTo(17 / 70, 12);
    expect(p(4, 0, 4, 4)).toBeCloseTo(1 / 70, 12);
    expect(p(0, 7, 20, 30)).toBeCloseTo(1, 12);
    // choose(20, 5) / choose(50, 5)
    expect(p(5, 0, 20, 30)).toBeCloseTo(15504 / 2118760, 12);
  });
});
