// Drafts of questions and schedules: the forms send what the service expects.
import type { LibraryQuestion, ScheduleView } from '@soundings/contract/console/asking.ts';
import { describe, expect, test } from 'vitest';
import {
  questionBodyOf,
  questionDraftOf,
  previewOf,
  type DraftShape,
  withBase,
  withoutOption,
} from './questions/question-draft.ts';
import { scheduleBodyOf, scheduleDraftOf, emptyDraft } from './schedules/schedule-draft.ts';

const question = {
  text: 'How do you get here?',
  allowsNotApplicable: true,
  translations: { sv: 'Hur tar du dig hit?' },
  options: [
    { id: 'bus', text: 'Bus', translations: { sv: 'Buss' } },
    { id: 'car', text: 'Car', translations: {} },
    { id: 'foot', text: 'On foot', translations: { sv: 'Till fots' } },
  ],
} as unknown as LibraryQuestion;
const shape: DraftShape = { base: 'en', languages: ['en', 'sv'], options: 3 };

describe('a question', () => {
  test('without changes is sent as it is', () => {
    expect(questionBodyOf(questionDraftOf(question), shape, 5)).toEqual({
      text: question.text,
      translations: question.translations,
      allowsNotApplicable: true,
      options: [question.options[0], { id: 'car', text: 'Car' }, question.options[2]],
    });
  });

  test('from which an option is removed: the following options move up with all their texts', () => {
    const draft = withoutOption(questionDraftOf(question), 0);
    expect(questionBodyOf(draft, { ...shape, options: 2 }, 5).options).toEqual([
      { id: 'car', text: 'Car' },
      { id: 'foot', text: 'On foot', translations: { sv: 'Till fots' } },
    ]);
  });

  test('whose main language changes: every text stays in its language', () => {
    const draft = withBase(questionDraftOf(question), shape, 'sv');
    expect(questionBodyOf(draft, { ...shape, base: 'sv' }, 5)).toEqual({
      text: 'Hur tar du dig hit?',
      translations: { en: 'How do you get here?' },
      allowsNotApplicable: true,
      options: [
        { id: 'bus', text: 'Buss', translations: { en: 'Bus' } },
        { id: 'car', text: '', translations: { en: 'Car' } },
        { id: 'foot', text: 'Till fots', translations: { en: 'On foot' } },
      ],
    });
    expect(withBase(questionDraftOf(question), shape, 'en')).toEqual(questionDraftOf(question));
  });

  test('is previewed in a language, and in its main language if there is no translation', () => {
    expect(previewOf(questionDraftOf(question), shape, 5, 'sv')).toMatchObject({
      text: 'Hur tar du dig hit?',
      options: [{ text: 'Buss' }, { text: 'Car' }, { text: 'Till fots' }],
    });
  });

  test('a translation that is only white space is ignored', () => {
    expect(
      questionBodyOf({ ...questionDraftOf(question), 'translations/sv': ' ' }, shape, 5).translations,
    ).toEqual({});
  });
});

describe('a schedule', () => {
  const empty = { ...emptyDraft('2026-03-02'), name: 'Pulse', kpiIds: ['enps'], groupIds: [1] };

  test('is sent as it was loaded', () => {
    const drafts = [
      empty,
      { ...empty, kind: 'fixed' as const, kpiIds: [], questionIds: [3, 4], untilDay: '2026-12-31' },
      { ...empty, repeat: 'once' as const, hasReminder: false },
    ];
    for (const draft of drafts) {
      const body = scheduleBodyOf(draft);
      expect(scheduleBodyOf(scheduleDraftOf(body as unknown as ScheduleView))).toEqual(body);
    }
  });

  test('with fixed questions has no KPIs, and the reverse', () => {
    const both = { ...empty, questionIds: [3], kpiIds: ['enps'] };
    expect(scheduleBodyOf({ ...both, kind: 'fixed' })).toMatchObject({
      questionIds: [3],
      kpiIds: [],
      perWeek: null,
      everyWeeks: null,
    });
    expect(scheduleBodyOf({ ...both, kind: 'kpis' })).toMatchObject({
      questionIds: [],
      kpiIds: ['enps'],
      perWeek: 5,
    });
  });

  test('empty numbers are sent as 0, so that the service reports what is required', () => {
    const missing = { perWeek: undefined, everyWeeks: undefined, repeatWeeks: undefined };
    expect(scheduleBodyOf({ ...empty, ...missing })).toMatchObject({
      perWeek: 0,
      everyWeeks: 0,
      repeatWeeks: 0,
    });
  });

  test('without a reminder and an end date sends neither', () => {
    expect(scheduleBodyOf({ ...empty, hasReminder: false })).toMatchObject({
      reminderDays: null,
      reminderHour: null,
      untilDay: null,
    });
  });
});
