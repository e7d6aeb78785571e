import type { Finding } from '@soundings/contract/console/results/results.ts';
import { periodNamed } from '@soundings/contract/periods.ts';
import { describe, expect, test } from 'vitest';
import type { ReportQuestion } from './report-data.ts';
import { reportTextOf } from './report-text.ts';
import { anyKpi, anyQuestion, anyReport } from './reports.fixture.ts';

const change = { by: -0.11, since: '2026-08-10', questions: 5, verdict: 'down' as const, handedOut: false };

describe('a report in words', () => {
  test('names its week and dates, in both languages', () => {
    expect(reportTextOf(anyReport(), 'en').period).toEqual({
      name: '2026-W38',
      title: 'Week 38, 2026',
      dates: '14 – 20 September 2026',
    });
    const quarter = reportTextOf(anyReport({ period: periodNamed('2026-Q3')!, isLive: true }), 'sv').period;
    expect(quarter.title).toBe('Kvartal 3, 2026');
    expect(quarter.dates).toBe('29 juni–27 september 2026, preliminärt resultat');
  });

  test('has its findings as sentences, with the year of weeks that are in another year', () => {
    expect(reportTextOf(anyReport(), 'en').findings.items).toEqual([
      'Workload fell 11 points since week 33, most in Barnkläder.',
      '“My manager gives me feedback that helps me in my work” rose 7 points since week 33.',
    ]);
    const [old] = anyReport().findings.map((one) =>
      one.kind === 'kpi'
        ? { ...one, clearIn: [], mostIn: null, change: { ...change, since: '2025-12-01' } }
        : one,
    );
    expect(reportTextOf(anyReport({ findings: [old!] }), 'sv').findings.items).toEqual([
      'Workload har gått ned 11 poäng sedan vecka 49, 2025.',
    ]);
    const sinceOf = (since: string, firstSince: string) => {
      const mixed = { kind: 'kpi' as const, kpi: { id: 'a', name: 'Growth' }, clearIn: [], mostIn: null };
      const data = anyReport({ findings: [{ ...mixed, change: { ...change, since, firstSince } }] });
      return ['en', 'sv'].map((language) => reportTextOf(data, language).findings.items[0]);
    };
    expect(sinceOf('2026-08-10', '2026-06-29')).toEqual([
      'Growth fell 11 points since the same questions were last asked (weeks 27 to 33).',
      'Growth har gått ned 11 poäng sedan samma frågor senast ställdes (vecka 27 till 33).',
    ]);
    const places = ['Shops', 'IT', 'Care', 'Clothing'].map((name, id) => ({ id, name }));
    const named = (...names: string[]) => names.map((name) => ({ id: name, name }));
    const others: Finding = { kind: 'kpis', rose: named('Pay', 'Voice'), fell: [], handedOut: true };
    const clearly = {
      kind: 'kpi' as const,
      kpi: { id: 'a', name: 'Growth' },
      clearIn: places,
      mostIn: null,
      change,
    };
    expect(reportTextOf(anyReport({ findings: [clearly, others] }), 'en').findings.items).toEqual([
      'Growth fell 11 points since week 33, clearly in Shops, IT and 2 other groups.',
      'Pay and Voice also rose clearly. *',
    ]);
    expect(sinceOf('2026-08-10', '2026-08-10')[0]).toContain('last asked (week 33).');
    expect(sinceOf('2026-01-05', '2025-12-01')[0]).toContain('last asked (week 49, 2025 to week 2, 2026).');
    const difference = { value: 0.6, by: 0.084, verdict: 'up' as const, handedOut: false };
    const kpi = { id: 'a', name: 'Growth' };
    const findings = [{ kind: 'difference' as const, kpi, difference }];
    expect(reportTextOf(anyReport({ findings }), 'en').findings.items).toEqual([
      'Growth is 8 points above Nordwind.',
    ]);
    const comparison = { kind: 'halfYear' as const, group: null, available: [] };
    expect(reportTextOf(anyReport({ findings, comparison }), 'en').findings.items).toEqual([
      'Growth is 8 points above its score half a year ago.',
    ]);
    expect(reportTextOf(anyReport({ findings: [] }), 'en').findings.items).toEqual(['No clear change.']);
    // Without any figure, nothing is known about changes.
    const kpis = anyReport().kpis.map((one) => ({ ...one, rolling: { ...one.rolling, value: null } }));
    expect(reportTextOf(anyReport({ findings: [], kpis, questions: [] }), 'en').findings.items).toEqual([]);
  });

  test('marks only clear changes and differences, and says what is withheld', () => {
    const [clear, unclear, withheld] = reportTextOf(
      anyReport({
        kpis: [
          anyKpi(1, { rolling: { ...anyKpi(1).rolling, value: 0.512, margin: 0.043, change } }),
          anyKpi(2, {
            rolling: { ...anyKpi(2).rolling, handedOut: true, change: { ...change, verdict: 'unclear' } },
            difference: null,
          }),
          anyKpi(3, { rolling: { ...anyKpi(3).rolling, value: null, margin: null, change: null } }),
        ],
      }),
      'en',
    ).kpis.items;
    expect(clear).toMatchObject({ value: '51 ± 4', change: { text: '−11', verdict: 'down' } });
    expect(clear!.note).toBe('5 questions, W34–38');
    expect(unclear).toMatchObject({ change: { text: 'not clear', verdict: 'unclear' }, difference: null });
    expect(unclear!.value).toMatch(/ \*$/);
    expect(withheld).toMatchObject({ value: 'withheld', score: null, margin: null, change: null });
  });

  test('rounds like the console: what is below one point has tenths, in the format of the language', () => {
    const small = { ...change, by: 0.003, verdict: 'up' as const };
    const rolling = { ...anyKpi(1).rolling, value: 0.5, margin: 0.004, change: small };
    const difference = { value: 0.6, by: -0.0042, verdict: 'down' as const, handedOut: false };
    const kpi = { id: 'a', name: 'Growth' };
    const finding = { kind: 'kpi' as const, kpi, clearIn: [], mostIn: null, change: small };
    const data = anyReport({ kpis: [anyKpi(1, { rolling, difference })], findings: [finding] });
    const shown = ['en', 'sv'].map((language) => {
      const { kpis, findings } = reportTextOf(data, language);
      const [row] = kpis.items;
      return [row!.value, row!.change!.text, row!.difference!.text, findings.items[0]];
    });
    expect(shown).toEqual([
      ['50 ± 0.4', '+0.3', '−0.4', 'Growth rose 0.3 points since week 33.'],
      ['50 ± 0,4', '+0,3', '−0,4', 'Growth har gått upp 0,3 poäng sedan vecka 33.'],
    ]);
  });

  test('marks a change, a difference and a finding whose comparison is partly based on handed-out links', () => {
    const marked = { ...change, handedOut: true };
    const difference = { value: 0.6, by: 0.084, verdict: 'up' as const, handedOut: true };
    const [plain] = anyReport().findings;
    const report = reportTextOf(
      anyReport({
        findings: [
          {
            ...plain,
            kind: 'kpi',
            kpi: { id: 'a', name: 'Growth' },
            clearIn: [],
            mostIn: null,
            change: marked,
          },
        ],
        kpis: [anyKpi(1, { rolling: { ...anyKpi(1).rolling, change: marked }, difference })],
      }),
      'en',
    );
    expect(report.findings.items).toEqual(['Growth fell 11 points since week 33. *']);
    expect(report.kpis.items[0]).toMatchObject({ change: { text: '−11 *' }, difference: { text: '+8 *' } });
    expect(report.kpis.items[0]!.value).not.toContain('*');
    expect(report.legend).toContain('* Partly based on links or cards that the employer handed out.');
  });

  test('explains the asterisk only if there is one', () => {
    expect(reportTextOf(anyReport(), 'en').legend).not.toContain('handed out');
    const rates = anyReport().rates.map((one) => ({ ...one, handedOut: true }));
    const report = reportTextOf(anyReport({ rates }), 'en');
    expect(report.legend).toContain('* Partly based on links or cards that the employer handed out.');
    expect(report.response!.text).toBe('389 of 474 people answered *');
  });

  test('has the number of people for a week, the average number for a quarter, and only the rate where numbers are not known', () => {
    const [rate] = anyReport().rates as [ReturnType<typeof anyReport>['rates'][number]];
    const of = (rates: (typeof rate)[], period: string) =>
      reportTextOf(anyReport({ rates, period: periodNamed(period)! }), 'en').response;
    expect(of([rate], '2026-W38')).toMatchObject({ rate: '82%', text: '389 of 474 people answered' });
    const other = { ...rate, week: '2026-09-07', asked: 426, answered: 311 };
    expect(of([other, rate], '2026-Q3')!.text).toBe('On average 350 of 450 people answered, in 2 weeks');
    const old = { ...rate, value: 0.5, asked: null, answered: null };
    expect(of([old], '2026-W38')).toMatchObject({ rate: '50%', text: 'answered' });
    expect(of([{ ...old, value: null }], '2026-W38')).toBeNull();
  });

  test('has no other number of people: that of today is not the one of a past week or quarter', () => {
    expect(reportTextOf(anyReport(), 'en').about).toBe('Nordwind › Butiker');
    expect(reportTextOf(anyReport({ path: [] }), 'sv').about).toBe('');
  });

  test('never lists a question as both strong and weak', () => {
    for (const count of [0, 1, 2, 3, 5, 6, 7]) {
      const questions = Array.from({ length: count }, (_, i) => ({ ...anyQuestion(i), text: `Q${i}` }));
      const { strongest, weakest } = reportTextOf(anyReport({ questions }), 'en');
      const names = [...strongest.items, ...weakest.items].map(({ name }) => name);
      expect([count, names.length, new Set(names).size]).toEqual([
        count,
        Math.min(count, 6),
        Math.min(count, 6),
      ]);
      const scores = [...strongest.items, ...weakest.items.toReversed()].map(({ score }) => score!);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });

  test('says how many found a question not applicable, and nothing if no one did or it is withheld', () => {
    const noteOf = (more: Partial<ReportQuestion>, language = 'en') =>
      reportTextOf(anyReport({ questions: [{ ...anyQuestion(0), ...more }] }), language).strongest.items[0]!
        .note;
    const some = { notApplicable: { count: 8, of: 64 } };
    expect(noteOf(some)).toBe('34 answers, week 38, 13% not applicable');
    expect(noteOf(some, 'sv')).toBe('34 svar, vecka 38, 13 % gäller inte mig');
    expect(noteOf({ notApplicable: { count: 1, of: 900 } })).toContain(', 1% not applicable');
    for (const notApplicable of [null, { count: 0, of: 64 }])
      expect(noteOf({ notApplicable })).toBe('34 answers, week 38');
    expect(noteOf({ ...some, answers: null })).toBe('week 38');
  });

  test('states the thresholds, or that the survey is not anonymous', () => {
    const text = (figures: number) =>
      reportTextOf(anyReport({ thresholds: { figures, comments: figures * 2 } }), 'en').anonymity.text;
    expect(text(7)).toContain('at least 7 people');
    expect(text(7)).toContain('at least 14 people');
    expect(text(1)).toContain('not anonymous');
  });
});
