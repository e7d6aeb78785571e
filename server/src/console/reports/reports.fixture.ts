// A report with everything that a report can have, for tests and benchmarks.
import { periodNamed } from '@soundings/contract/periods.ts';
import { addWeeks } from '@soundings/contract/weeks.ts';
import type { ReportData, ReportKpi, ReportQuestion } from './report-data.ts';

const week = '2026-09-14';
const names = [
  'Leadership',
  'Workload',
  'Growth',
  'Recognition',
  'Relations',
  'Meaning and participation',
  'Health',
  'Satisfaction',
];
const texts = [
  'I know what is expected of me at work',
  'My manager gives me feedback that helps me in my work',
  'I can finish my tasks within my working hours without giving up my breaks, even in weeks when colleagues are away',
  'I would recommend this company as a place to work',
  'In my team we help each other when something goes wrong',
  'I have the tools that I need to do my work well',
  'Decisions that concern us are explained',
];
const comments = [
  'Planeringen har blivit mycket bättre sedan i våras – äntligen vet vi vad som gäller två veckor i förväg.',
  'Två helger i rad utan avlösning är för mycket. Vi behöver en till på lördagar, annars hinner vi inte med kassan och mottagningen samtidigt, och då blir det kunderna som väntar.',
  'Ευχαριστώ την ομάδα! Спасибо за помощь. Dziękuję, že jste mi pomohli.',
  'More feedback please 🙏🏽👍',
  '谢谢大家',
];

export const anyKpi = (index: number, more: Partial<ReportKpi> = {}): ReportKpi => ({
  id: `kpi-${index}`,
  name: names[index % names.length] as string,
  rolling: {
    week,
    value: 0.4 + ((index * 37) % 50) / 100,
    handedOut: false,
    questions: 5,
    firstWeek: addWeeks(week, -4),
    lastWeek: week,
    margin: 0.04 + (index % 4) / 100,
    change:
      index % 3 === 0
        ? { by: 0.01, since: addWeeks(week, -5), questions: 5, verdict: 'unclear', handedOut: false }
        : {
            by: index % 2 ? -0.11 : 0.06,
            since: addWeeks(week, -5),
            questions: 5,
            verdict: index % 2 ? 'down' : 'up',
            handedOut: false,
          },
  },
  difference: { value: 0.62, by: 0.07, verdict: index % 3 === 1 ? 'up' : 'unclear', handedOut: false },
  ...more,
});

export const anyQuestion = (index: number): ReportQuestion => ({
  text: texts[index % texts.length] as string,
  week: addWeeks(week, -(index % 4)),
  value: 0.3 + ((index * 29) % 60) / 100,
  answers: 34 + index,
  margin: 0.05,
  difference: { value: 0.6, by: -0.08, verdict: index % 2 ? 'down' : 'unclear', handedOut: false },
  handedOut: false,
  notApplicable: null,
});

export const anyReport = (more: Partial<ReportData> = {}): ReportData => ({
  company: 'Nordwind AB',
  group: { id: 17, name: 'Kläder och skor, Malmö' },
  path: [
    { id: 1, name: 'Nordwind' },
    { id: 4, name: 'Butiker' },
  ],
  period: periodNamed('2026-W38')!,
  week,
  isLive: false,
  comparison: {
    kind: 'company',
    group: { id: 1, name: 'Nordwind' },
    available: ['company', 'parent', 'halfYear', 'none'],
  },
  findings: [
    {
      kind: 'kpi',
      kpi: { id: 'kpi-1', name: 'Workload' },
      change: { by: -0.11, since: addWeeks(week, -5), questions: 5, verdict: 'down', handedOut: false },
      clearIn: [{ id: 23, name: 'Barnkläder' }],
      mostIn: { id: 23, name: 'Barnkläder' },
    },
    {
      kind: 'question',
      question: { id: 3, text: texts[1] as string },
      week,
      change: { by: 0.07, since: addWeeks(week, -5), questions: 1, verdict: 'up', handedOut: false },
    },
    { kind: 'response', week, answered: 389, asked: 474 },
  ],
  kpis: names.map((_, index) => anyKpi(index)),
  rates: [{ week, value: 389 / 474, handedOut: false, asked: 474, answered: 389 }],
  focus: [
    {
      name: 'Workload',
      action: 'Vi går igenom arbetsuppgifterna varje måndag och bestämmer vad som kan vänta.',
      responsible: 'Anna Andersson',
      until: '2026-11-30',
      outlook: 'onTrack',
    },
  ],
  questions: texts.map((_, index) => anyQuestion(index)),
  comments: {
    total: 12,
    newest: comments.map((text, index) => ({
      week,
      year: 2026,
      number: 38,
      questionId: index,
      question: texts[index] as string,
      text,
      handedOut: false,
    })),
  },
  thresholds: { figures: 5, comments: 10 },
  day: '2026-09-22',
  ...more,
});
