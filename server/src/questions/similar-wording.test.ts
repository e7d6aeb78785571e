// Questions with the same wording count as the same question (rules.md P17).
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classesOf, comparable, withoutDuplicates } from './similar-wording.ts';

describe('texts', () => {
  test.each([
    ['How are you?', 'how  are\tyou'],
    ['How are you?', 'HOW ARE YOU!!!'],
    ['How are you?', '“How are you” …'],
    ['How are you?', 'How\u00a0are\u200byou\u00ad?'],
    ['How are you?', 'Ｈｏｗ ａｒｅ ｙｏｕ？'],
    ['How are you?', 'How are you?\ufe0f'],
    ['How are you?', '`How are you´ ^'],
    ['Är du nöjd?', 'A\u0308r du no\u0308jd'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ ΜΟΥ', 'οδος μου'],
    ['up-to-date', 'up to date'],
    ['How are you?', 'H\u043ew are you?'],
    ['HOW ARE YOU?', '\u041d\u039fW \u0391R\u0415 \u03a5\u039fU?'],
    ['Have you seen it', 'ha\u03bde \u0443\u03bf\u03c5 \u0455\u0435\u0435\u03b7 \u0456\u03c4'],
    ['All well', 'A\u04cfl we\u04cfl'],
    ['Do you agree', 'Do you a\u0261ree'],
    ['face', 'fa\u03f2e'],
    ['How are you?', 'Ho\u0301w a\u0323\u0331re you'],
    ['Ar du nojd', 'Är du nöjd?'],
    ['Как дела?', 'КАК ДЕЛА'],
    ['Как дела?', 'K\u0061\u043a дел\u0061'],
    ['Πώς είναι ο μάνατζέρ σας;', 'ΠΩΣ ΕΙΝΑΙ Ο ΜΑΝΑΤΖΕΡ ΣΑΣ'],
    ['Πώς είναι;', 'Πώς είν\u0061ι;'],
    ['ᾳδω', 'ΑΔΩ'],
  ])('%j and %j have the same wording', (one, other) => {
    expect(comparable(other)).toBe(comparable(one));
  });

  test.each([
    ['How are you?', 'How are they?'],
    ['Rate 1', 'Rate 2'],
    ['Как дела?', 'Как тела?'],
    ['Πώς είναι;', 'Πού είναι;'],
    // Marks that make a separate letter.
    ['\u0915\u093f', '\u0915\u0940'],
    ['\u304b', '\u304c'],
    ['\u0e01\u0e34', '\u0e01\u0e35'],
    // Digits stay different digits.
    ['Rate 10', 'Rate lO'],
    ['🙂', '🙁'],
    ['?', '!'],
  ])('%j and %j have different wordings', (one, other) => {
    expect(comparable(other)).not.toBe(comparable(one));
  });

  test('whitespace, punctuation and case make no difference', () => {
    // Leaves out ν, η, υ and ӏ, because in a random text nothing else may show that it is Greek or Cyrillic, and the ι
    // below a letter.
    const wording = fc
      .array(fc.stringMatching(/^[\p{L}\p{N}]{1,6}$/u), { minLength: 1, maxLength: 5 })
      .filter((some) => !/\u0345|[νηυӏΝΗΥӀ]/u.test(some.join('').normalize('NFKD')));
    const between = fc.array(
      fc.constantFrom(' ', '  ', '\t', ', ', '-', '…', '?!', '\u200b', '\u00a0', ' “'),
      {
        minLength: 5,
        maxLength: 5,
      },
    );
    fc.assert(
      fc.property(wording, between, (some, gaps) => {
        const one = some.join(' ');
        const other = some.map((word, i) => `${word}${gaps[i]}`).join('');
        expect(comparable(other)).toBe(comparable(one));
        expect(comparable(other.toLowerCase().toUpperCase())).toBe(comparable(one));
      }),
    );
  });
});

describe('classes', () => {
  const question = (id: number, text: string, translations: Record<string, string> = {}) => ({
    id,
    text,
    translations,
  });

  test('a text in one language can be the translation of another, and a third question can join two classes', () => {
    const classes = classesOf([
      question(9, 'Mår du bra?'),
      question(4, 'Are you well?'),
      question(7, 'Are you well', { sv: 'mår du bra' }),
      question(5, 'Something else'),
    ]);
    expect([...classes].toSorted(([a], [b]) => a - b)).toEqual([
      [4, 4],
      [5, 5],
      [7, 4],
      [9, 4],
    ]);
  });

  test('questions that share a text, directly or through others, form one class in any order', () => {
    const some = fc.array(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { minLength: 1, maxLength: 3 }),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(some, fc.nat(), (texts, turn) => {
        const questions = texts.map(([text, ...rest], i) =>
          question(i + 1, text as string, Object.fromEntries(rest.map((one, n) => [`l${n}`, one]))),
        );
        const turned = [...questions.slice(turn % texts.length), ...questions.slice(0, turn % texts.length)];
        const classes = classesOf(turned);
        // The slow way: joins classes as long as any two share a text.
        let sets = texts.map((own, i) => ({ ids: [i + 1], texts: new Set(own) }));
        for (let round = 0; round < texts.length; round++) {
          for (const one of sets) {
            for (const other of sets) {
              if (one === other || ![...one.texts].some((text) => other.texts.has(text))) continue;
              one.ids.push(...other.ids.splice(0));
              for (const text of other.texts) one.texts.add(text);
              other.texts.clear();
            }
          }
          sets = sets.filter(({ ids }) => ids.length > 0);
        }
        for (const { ids } of sets) {
          for (const id of ids) expect(classes.get(id)).toBe(Math.min(...ids));
        }
      }),
    );
  });

  test('the first of several questions with the same wording stays', () => {
    const classes = classesOf([question(1, 'a'), question(2, 'b'), question(3, 'A!')]);
    expect(withoutDuplicates([3, 2, 1], classes)).toEqual([3, 2]);
  });
});
