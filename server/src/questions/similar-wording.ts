// Finds questions with the same text under different keys. They count as one question in the disclosure procedure, so that asking
// it twice does not reveal more (rules.md P17). Pure.

/** A question with its texts. */
export type Wording = { id: number; text: string; translations: Readonly<Record<string, string>> };

/**
 * Returns the form in which texts are compared. Letter variants, accents, case, white space, punctuation, symbols and invisible
 * characters make no difference, and a Cyrillic or Greek letter that looks like a Latin one becomes that letter. A text that
 * consists only of symbols is compared by its symbols.
 */
export function comparable(text: string): string {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const letters = folded(text.replace(/[\p{P}\p{S}]/gu, '')).replace(/[\p{P}\p{S}]/gu, '');
  const form = letters === '' ? folded(text) : letters;
  if (recent.size >= 5_000) recent.clear();
  recent.set(text, form);
  return form;
}

/** Forms of texts that were compared. The ready-made questions alone have hundreds of texts, and each form takes some 10 µs. */
const recent = new Map<string, string>();

/** Lower case first, then upper case: together they unify ẞ with SS, and ς with σ. */
const folded = (text: string) =>
  bare(
    withLatinShapes(bare(text.replace(/[ϲϹ]/gu, 'c')))
      .toLowerCase()
      .toUpperCase(),
  ).replace(/\p{L}/gu, (letter) => latinByCapital.get(letter) ?? letter);

/**
 * Removes invisible characters and the accents of Latin, Greek and Cyrillic letters. In other scripts, marks are vowels or make a
 * different letter, so they stay. The marks of kana stay too.
 */
const bare = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\s]/gu, '')
    .replace(/[\p{Script=Inherited}--[\u3099\u309a]]/gv, '')
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '$1');

/**
 * Some small letters look like a different Latin letter than their capitals do: ν like v, but Ν like N. They are replaced by
 * their look-alikes only if no other letter shows that the text really is Greek or Cyrillic. In real Greek and Cyrillic texts,
 * case must make no difference.
 */
const withLatinShapes = (text: string) =>
  /[бджзилфцчшщъыэюяδθλξπσςφψ]/iu.test(text)
    ? text
    : text.replace(/[νηυӏ]/gu, (letter) => latinBySmall.get(letter) as string);

const latinBySmall = new Map(Object.entries({ ν: 'v', η: 'n', υ: 'u', ӏ: 'l' }));

/** Each entry: a Latin letter, followed by the Cyrillic, Greek and phonetic capitals that look like it or whose small letters do. */
const latinByCapital = new Map(
  ['AАΑⱭ BВΒ CС DԀ EЕΕ GꞬ HНҺΗ IІӀΙƖ JЈͿȷ KКΚ MМΜ', 'NПΝ OОΟ PРΡ QԚ RГ SЅ TТΤ VѴ WԜѠΩ XХΧ YУҮΓΥ ZΖ'].flatMap(
    (line) =>
      line
        .split(' ')
        .flatMap(([latin, ...others]) => others.map((other) => [other, latin as string] as const)),
  ),
);

/**
 * Returns the class of each question by its id. The class is the lowest id among all questions that have the same text in any
 * language. Two questions that share a text with a third one are in one class, even if they share none with each other.
 */
export function classesOf(questions: Iterable<Wording>): Map<number, number> {
  const parentOf = new Map<number, number>();
  const rootOf = (id: number): number => {
    const next = parentOf.get(id) as number;
    return next === id ? id : rootOf(next);
  };
  const firstWith = new Map<string, number>();
  for (const { id, text, translations } of [...questions].toSorted((a, b) => a.id - b.id)) {
    parentOf.set(id, id);
    for (const one of [text, ...Object.values(translations)]) {
      const compared = comparable(one);
      const other = firstWith.get(compared);
      firstWith.set(compared, other ?? id);
      if (other === undefined) continue;
      const [low, high] = [rootOf(id), rootOf(other)].toSorted((a, b) => a - b) as [number, number];
      parentOf.set(high, low);
    }
  }
  return new Map([...parentOf.keys()].map((id) => [id, rootOf(id)]));
}

/** Returns whether two versions of a question have the same texts, compared over all languages together. */
export function hasSameWording(before: Omit<Wording, 'id'>, after: Omit<Wording, 'id'>): boolean {
  const textsOf = ({ text, translations }: Omit<Wording, 'id'>) =>
    new Set([text, ...Object.values(translations)].map(comparable));
  return textsOf(before).symmetricDifference(textsOf(after)).size === 0;
}

/** Returns the list without questions that have the same text as an earlier one in it. */
export function withoutDuplicates(
  questionIds: readonly number[],
  classes: ReadonlyMap<number, number>,
): number[] {
  const seen = new Set<number>();
  return questionIds.filter((id) => {
    const own = classes.get(id) ?? id;
    return !seen.has(own) && seen.add(own);
  });
}
