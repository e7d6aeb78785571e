// The sentences of findings, in English and Swedish, and the pages that they link to. A finding is never about a change that is not
// clear.
import { type CompiledText, translator } from '@soundings/contract/texts.ts';
import type { FigureChange, Finding } from '@soundings/contract/console/results/results.ts';
import compile from 'icu-minify/compile';
import { describe, expect, test } from 'vitest';
import en from '../../../text/en/results.json' with { type: 'json' };
import sv from '../../../text/sv/results.json' with { type: 'json' };
import type { Translator } from '../../../text/text.tsx';
import { findingTexts } from './findings.ts';

const textsIn = (language: 'en' | 'sv') => {
  const texts: Record<string, string> = { en, sv }[language];
  const compiled = (key: string): CompiledText => compile(texts[key] as string);
  return {
    language,
    t: translator(language, compiled) as unknown as Translator,
    sinceText: (about: FigureChange) =>
      ({ en: 'since week 38', sv: 'sedan vecka 38' })[language] + (about.since === since ? '' : '?'),
  };
};

const since = '2026-09-14';
const workload = { id: 'workload', name: 'Workload' };
const change = (by: number, verdict: 'up' | 'down' | 'unclear') => ({
  by,
  since,
  questions: 4,
  verdict,
  handedOut: false,
});
const lavmark = { id: 1, name: 'Lavmark' };
const clothing = { id: 7, name: 'Clothing' };
const fall: Finding = {
  kind: 'kpi',
  kpi: workload,
  change: change(-0.114, 'down'),
  clearIn: [],
  mostIn: clothing,
};
const response: Finding = { kind: 'response', week: '2026-11-16', answered: 389, asked: 474 };
const question: Finding = {
  kind: 'question',
  question: { id: 12, text: 'I have enough time.' },
  week: '2026-11-16',
  change: change(0.01, 'up'),
};
const differenceOf = (by: number, verdict: 'up' | 'down' | 'unclear'): Finding => ({
  kind: 'difference',
  kpi: workload,
  difference: { value: 0.6, by, verdict, handedOut: false },
});

const about = {
  group: { id: 3, name: 'Shops', people: 474 },
  path: [lavmark],
  company: lavmark,
  comparison: { kind: 'company', group: lavmark, available: ['company', 'none'] },
} as Parameters<typeof findingTexts>[1];
const read = (findings: Finding[], language: 'en' | 'sv' = 'en', of = about) =>
  findingTexts(findings, of, textsIn(language));
const sentences = (...findings: Finding[]) =>
  (['en', 'sv'] as const).map((language) => read(findings, language).map(({ text }) => text));

describe('a finding', () => {
  test('is a sentence', () => {
    expect(sentences(fall, question, response)).toEqual([
      [
        'Workload fell 11 points since week 38, most in Clothing.',
        '“I have enough time.” rose 1 point since week 38.',
        '82% answered (389 of 474).',
      ],
      [
        'Workload har gått ned 11 poäng sedan vecka 38, mest i Clothing.',
        '”I have enough time.” har gått upp 1 poäng sedan vecka 38.',
        '82 % svarade (389 av 474).',
      ],
    ]);
    expect(sentences({ ...fall, mostIn: null } as Finding, differenceOf(0.05, 'up'))).toEqual([
      ['Workload fell 11 points since week 38.', 'Workload is 5 points higher than in Lavmark.'],
      ['Workload har gått ned 11 poäng sedan vecka 38.', 'Workload ligger 5 poäng högre än i Lavmark.'],
    ]);
  });

  test('lists where a change is clear, at most three places, if it is not clearly the largest in one of them', () => {
    const named = (...names: string[]) => names.map((name, i) => ({ id: 10 + i, name }));
    const places = named('Shops', 'IT', 'Clothing', 'Workshops', 'Care');
    const of = (count: number) => ({ ...fall, clearIn: places.slice(0, count), mostIn: null }) as Finding;
    expect(sentences(of(1), of(3), of(5))).toEqual([
      [
        'Workload fell 11 points since week 38, clearly in Shops.',
        'Workload fell 11 points since week 38, clearly in Shops, IT and Clothing.',
        'Workload fell 11 points since week 38, clearly in Shops, IT and 3 other groups.',
      ],
      [
        'Workload har gått ned 11 poäng sedan vecka 38, tydligt i Shops.',
        'Workload har gått ned 11 poäng sedan vecka 38, tydligt i Shops, IT och Clothing.',
        'Workload har gått ned 11 poäng sedan vecka 38, tydligt i Shops, IT och 3 andra grupper.',
      ],
    ]);
    expect(read([of(5)])[0]?.search).toEqual({ kpi: 'workload', groups: '3,10,11,12' });
  });

  test('names other KPIs that have clearly changed, by direction', () => {
    const kpis = ['Autonomy', 'Pay', 'Growth', 'Voice'].map((name) => ({ id: name.toLowerCase(), name }));
    const of = (rose: number, fell: number) =>
      ({ kind: 'kpis', rose: kpis.slice(0, rose), fell: kpis.slice(4 - fell), handedOut: true }) as Finding;
    expect(sentences(of(2, 0), of(0, 4), of(1, 1))).toEqual([
      [
        'Autonomy and Pay also rose clearly.',
        'Autonomy, Pay and 2 other KPIs also fell clearly.',
        'Autonomy also rose clearly, while Voice fell.',
      ],
      [
        'Även Autonomy och Pay har gått upp tydligt.',
        'Även Autonomy, Pay och 2 andra nyckeltal har gått ned tydligt.',
        'Även Autonomy har gått upp tydligt, medan Voice har gått ned.',
      ],
    ]);
    expect(read([of(0, 2)])).toMatchObject([{ handedOut: true, search: { kpi: 'growth', groups: '3' } }]);
  });

  test('compares with half a year ago if that is chosen', () => {
    const comparison = { kind: 'halfYear' as const, group: null, available: ['halfYear' as const] };
    const [finding] = read([differenceOf(-0.05, 'down')], 'en', { ...about, comparison });
    expect(finding).toMatchObject({
      text: 'Workload is 5 points lower than half a year ago.',
      search: { kpi: 'workload', groups: '3', weeks: 52 },
    });
  });

  test('links to its evidence: a trend, which includes the group that the finding names, or the question', () => {
    expect(read([fall, question, response]).map(({ to, params, search }) => [to, params, search])).toEqual([
      ['/trends', undefined, { kpi: 'workload', groups: '3,7' }],
      ['/results/questions/$questionId', { questionId: '12' }, { group: 3, week: '2026-11-16' }],
      ['/trends', undefined, { of: 'response', groups: '3' }],
    ]);
  });

  test('links to the group that is compared with only if the caller can see its results', () => {
    const searchOf = (of: typeof about) => read([differenceOf(0.05, 'up')], 'en', of)[0]?.search;
    expect(searchOf(about)).toEqual({ kpi: 'workload', groups: '3,1' });
    expect(searchOf({ ...about, path: [], company: null })).toEqual({ kpi: 'workload', groups: '3' });
  });

  test('is never about a change or a difference that is not clear, and there are at most three', () => {
    expect(
      read([
        { ...fall, change: change(-0.3, 'unclear') } as Finding,
        { ...question, change: change(0.3, 'unclear') } as Finding,
        differenceOf(0.3, 'unclear'),
        { ...response, answered: 0, asked: 0 } as Finding,
      ]),
    ).toEqual([]);
    const comparison = { ...about.comparison, kind: 'none' as const, group: null };
    expect(read([differenceOf(0.3, 'up')], 'en', { ...about, comparison })).toEqual([]);
    expect(read([fall, fall, fall, response])).toHaveLength(3);
  });
});
