// The templates are complete in every language of the library, and can be asked in the same week as the library and each other.
import { isScaled } from '@soundings/contract/question-types.ts';
import { expect, test } from 'vitest';
import { answeringLanguages } from '../languages/languages.ts';
import { questionFaults } from './question-faults.ts';
import { libraryKpis, libraryQuestions } from './library.ts';
import { comparable } from './similar-wording.ts';
import { templateQuestions, templates } from './templates.ts';

const languages = answeringLanguages.codes;

test('keys and wordings differ from those of the library and of other templates, in every language', () => {
  const all = templates.flatMap((template) => template.questions);
  const keys = [...libraryQuestions, ...all].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  for (const language of languages) {
    const texts = [...libraryQuestions, ...all].map(({ text }) => comparable(text[language] ?? text.en));
    expect(new Set(texts).size).toBe(texts.length);
  }
});

test.each(languages)('every text is there in %s, and the account accepts it', (language) => {
  for (const template of templates) {
    expect(template.name[language]).toMatch(/\p{L}/u);
    const questions = templateQuestions(template, language);
    for (const question of questions) {
      expect(Object.keys(question.translations).toSorted()).toEqual(
        languages.filter((one) => one !== language).toSorted(),
      );
      expect(questionFaults(question)).toEqual([]);
    }
  }
});

test('a template has its own questions or chooses from KPIs of the library, and its own KPI has at least three questions', () => {
  for (const { questions, kpiIds, perWeek, everyWeeks } of templates) {
    expect(questions.length > 0).toBe(kpiIds.length === 0);
    expect(kpiIds.length > 0).toBe(perWeek !== null && everyWeeks !== null);
    for (const id of kpiIds) expect(libraryKpis.map((one) => one.id)).toContain(id);
  }
  const scaled = templates
    .filter(({ kpi }) => kpi)
    .map(({ questions }) => questions.filter(({ type }) => isScaled(type)).length);
  expect(Math.min(...scaled)).toBeGreaterThan(2);
  const shared = new Map(templates.flatMap(({ kpi }) => (kpi ? [[kpi.id, kpi]] : [])));
  expect(
    templates.flatMap(({ kpi }) => kpi ?? []).every((kpi) => kpi.name.en === shared.get(kpi.id)?.name.en),
  ).toBe(true);
  const ids = [...libraryKpis, ...shared.values()].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
