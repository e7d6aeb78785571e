// Which questions have the same words, whatever their keys: they count as one question wherever it matters who asked whom
// what (privacy.md P17). Pure.

/** A question as far as its words go. */
export type Worded = { id: number; text: string; translations: Readonly<Record<string, string>> };

/**
 * Returns a text as it is compared: the forms of a letter, its accents, upper and lower case, white space, punctuation, symbols
 * and what is not seen at all make no difference, and a Cyrillic or Greek letter that looks like a Latin one is that letter.
 * A text of nothing but symbols is compared by these.
 */
export function comparable(text: string): string {
  const words = folded(text.replace(/[\p{P}\p{S}]/gu, '')).replace(/[\p{P}\p{S}]/gu, '');
  return words === '' ? folded(text) : words;
}

/** Lower and then upper case: the one turns ẞ into letters that the other knows, and the other joins ς and σ. */
const folded = (text: string) =>
  bare(
    withLatinShapes(bare(text.replace(/[ϲϹ]/gu, 'c')))
      .toLowerCase()
      .toUpperCase(),
  ).replace(/\p{L}/gu, (letter) => latinByCapital.get(letter) ?? letter);

/**
 * Without what is not seen, and without accents. In other scripts than these three, marks that belong to the script are vowels or
 * make another letter: they stay, and so do those of kana.
 */
const bare = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\s]/gu, '')
    .replace(/[\p{Script=Inherited}--[\u3099\u309a]]/gv, '')
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '$1');

/**
 * Some small letters look like another Latin letter than their capitals do: ν like v, Ν like N. They are taken for what they
 * look like only where no letter shows that the text really is Greek or Cyrillic, so that there case makes no difference.
 */
const withLatinShapes = (text: string) =>
  /[бджзилфцчшщъыэюяδθλξπσςφψ]/iu.test(text)
    ? text
    : text.replace(/[νηυӏ]/gu, (letter) => latinBySmall.get(letter) as string);

const latinBySmall = new Map(Object.entries({ ν: 'v', η: 'n', υ: 'u', ӏ: 'l' }));

/** A Latin letter, and the Cyrillic, Greek and phonetic capitals that look like it, or whose small letters do. */
const latinByCapital = new Map(
  ['AАΑⱭ BВΒ CС DԀ EЕΕ GꞬ HНҺΗ IІӀΙƖ JЈͿȷ KКΚ MМΜ', 'NПΝ OОΟ PРΡ QԚ RГ SЅ TТΤ VѴ WԜѠΩ XХΧ YУҮΓΥ ZΖ'].flatMap(
    (line) =>
      line
        .split(' ')
        .flatMap(([latin, ...others]) => others.map((other) => [other, latin as string] as const)),
  ),
);

/**
 * The class of each question by its id: the lowest id among all that have the same words, in any of their languages. Two
 * questions that share words with a third are in one class, whether they share any with each other or not.
 */
export function classesOf(questions: Iterable<Worded>): Map<number, number> {
  const above = new Map<number, number>();
  const rootOf = (id: number): number => {
    const next = above.get(id) as number;
    return next === id ? id : rootOf(next);
  };
  const firstWith = new Map<string, number>();
  for (const { id, text, translations } of [...questions].toSorted((a, b) => a.id - b.id)) {
    above.set(id, id);
    for (const one of [text, ...Object.values(translations)]) {
      const words = comparable(one);
      const other = firstWith.get(words);
      firstWith.set(words, other ?? id);
      if (other === undefined) continue;
      const [low, high] = [rootOf(id), rootOf(other)].toSorted((a, b) => a - b) as [number, number];
      above.set(high, low);
    }
  }
  return new Map([...above.keys()].map((id) => [id, rootOf(id)]));
}

/** Whether two versions of a question have the same words as far as they are compared: in all languages together. */
export function isWordedAlike(before: Omit<Worded, 'id'>, after: Omit<Worded, 'id'>): boolean {
  const wordsOf = ({ text, translations }: Omit<Worded, 'id'>) =>
    new Set([text, ...Object.values(translations)].map(comparable));
  return wordsOf(before).symmetricDifference(wordsOf(after)).size === 0;
}

/** The questions of a list without those that have the same words as one before them. */
export function withoutLookAlikes(
  questionIds: readonly number[],
  classes: ReadonlyMap<number, number>,
): number[] {
  const seen = new Set<number>();
  return questionIds.filter((id) => {
    const own = classes.get(id) ?? id;
    return !seen.has(own) && seen.add(own);
  });
}
