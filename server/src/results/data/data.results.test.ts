// The results and asked questions of the data interface in every detail, by status.
import { describe, expect, test } from 'vitest';
import { unit } from '../../testing/organizations.ts';
import { question, round } from '../../testing/surveys.ts';
import {
  allWeeks,
  answersOf,
  asked,
  askedEndpoint,
  company,
  getBody,
  openAccount,
  openCompany,
  options,
  peopleOf,
  range,
  refusals,
  results,
  resultsEndpoint,
  six,
  w45,
  w46,
  withSurvey,
  useService,
  world,
} from './data.fixture.ts';

useService();

describe('GET /v1/results', () => {
  const only = (key: string) => `&questionIds=${company.question[key]}`;
  /** Returns the answer data of a question in a group in 2026-W45. */
  async function dataOf(key: string, group: string, more = '') {
    const { values } = await results(
      company.account,
      `groupId=${company.group[group]}${w45}${only(key)}${more}`,
    );
    return values[String(company.question[key])]?.[String(company.group[group])]?.['2645'];
  }

  describe('200', () => {
    test('type 1: the mean of (x−1)/4, the number of answers, and the count of each value', async () => {
      expect(await dataOf('mood', 'north')).toEqual({
        value: 12 / 24,
        answers: 6,
        distribution: { 1: 1, 2: 1, 3: 2, 4: 1, 5: 1 },
      });
      expect(await dataOf('mood', 'company')).toEqual({
        value: 36 / 72,
        answers: 18,
        distribution: { 1: 7, 2: 1, 3: 2, 4: 1, 5: 7 },
      });
    });

    test('type 2: the mean of (x−1)/9', async () => {
      expect(await dataOf('tens', 'north')).toEqual({
        value: 27 / 54,
        answers: 6,
        distribution: { 1: 3, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 3 },
      });
    });

    test('type 3: the mean of x/10, and enps from −100 to 100: the percentage of 9 and 10 minus that of 0 to 6', async () => {
      const none = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0, 10: 0 };
      expect(await dataOf('advise', 'north')).toEqual({
        value: 40 / 60,
        answers: 6,
        distribution: { ...none, 0: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1 },
        enps: 0,
      });
      expect(await dataOf('advise', 'south')).toMatchObject({ value: 0.9, enps: 100 });
      expect(await dataOf('advise', 'tech')).toMatchObject({ value: 0, enps: -100 });
      expect(await dataOf('advise', 'sales')).toMatchObject({ value: 94 / 120, enps: 50 });
    });

    test('type 4: yes is 1 and no is 0', async () => {
      expect(await dataOf('bus', 'north')).toEqual({
        value: 0.5,
        answers: 6,
        distribution: { yes: 3, no: 3 },
      });
      expect(await dataOf('bus', 'tech')).toEqual({ value: 0, answers: 6, distribution: { yes: 0, no: 6 } });
    });

    test('types 5 and 6: no value, a distribution by option, and the texts of the options', async () => {
      expect(await dataOf('lunch', 'north')).toEqual({
        value: null,
        answers: 6,
        distribution: { in: 4, out: 2 },
        options: { in: 'Canteen', out: 'Out' },
      });
      expect(await dataOf('tools', 'north')).toEqual({
        value: null,
        answers: 6,
        distribution: { in: 4, out: 3, none: 0 },
        options: { in: 'Canteen', out: 'Out', none: 'None' },
      });
    });

    test('type 7: no value, and its texts are comments', async () => {
      expect(await dataOf('words', 'north')).toEqual({ value: null, answers: 6 });
      const { north } = company.group;
      const { comments } = await results(
        company.account,
        `groupId=${north}${w45}${only('words')}&includeComments=true`,
      );
      expect(comments).toEqual({
        [company.question['words']!]: { [north!]: { 2645: six('Words of north') } },
      });
    });

    test('granularData adds the distribution written out to types 1 to 4, and nothing to other types', async () => {
      const individual = async (key: string, group: string) =>
        (await dataOf(key, group, '&granularData=true'))?.individual;
      expect(await individual('mood', 'north')).toEqual([1, 2, 3, 3, 4, 5]);
      expect(await individual('tens', 'north')).toEqual([1, 1, 1, 10, 10, 10]);
      expect(await individual('advise', 'north')).toEqual([0, 6, 7, 8, 9, 10]);
      expect(await individual('bus', 'north')).toEqual([0, 0, 0, 1, 1, 1]);
      for (const key of ['lunch', 'tools', 'words']) {
        expect(await dataOf(key, 'north', '&granularData=true')).toEqual(await dataOf(key, 'north'));
      }
      for (const key of ['mood', 'tens', 'advise', 'bus']) {
        for (const group of ['company', 'sales', 'south', 'tech']) {
          const { individual: written, ...rest } = (await dataOf(key, group, '&granularData=true'))!;
          expect(rest).toEqual(await dataOf(key, group, '&granularData=false'));
          const counts = Object.entries(rest.distribution!).flatMap(([name, times]) =>
            Array.from({ length: times }, () => ({ yes: 1, no: 0 })[name] ?? Number(name)),
          );
          expect(written).toEqual(counts.toSorted((a, b) => a - b));
        }
      }
    });

    test('3 to 5 answers show a mean and no distribution, not even with granularData', async () => {
      const {
        account,
        group,
        question: ids,
      } = await withSurvey(
        await openAccount(),
        [unit('five')],
        [
          question('mood', 1),
          question('advise', 3),
          question('bus', 4),
          question('lunch', 5, { options }),
          round('2026-W46', 'five', ['mood', 'advise', 'bus', 'lunch'], peopleOf(['five'], 5)),
          ...answersOf('2026-W46', 'five', 'five', 'mood', [1, 2, 3, 4, 5]),
          ...answersOf('2026-W46', 'five', 'five', 'advise', [10, 10, 10, 10, 10]),
          ...answersOf('2026-W46', 'five', 'five', 'bus', [true, true, true, true, false]),
          ...answersOf('2026-W46', 'five', 'five', 'lunch', ['in', 'in', 'in', 'in', 'out']),
        ],
      );
      const five = String(group['five']);
      for (const granular of ['', '&granularData=true']) {
        const { values } = await results(account, `groupId=${five}${granular}&includeComments=true`);
        expect(values).toEqual({
          [ids['mood']!]: { [five]: { 2646: { value: 0.5, answers: 5 } } },
          [ids['advise']!]: { [five]: { 2646: { value: 1, answers: 5 } } },
          [ids['bus']!]: { [five]: { 2646: { value: null, answers: null } } },
          [ids['lunch']!]: { [five]: { 2646: { value: null, answers: null } } },
        });
      }
    });

    test('“not applicable” is in no value, and its number is a field of its own, from the distribution threshold on', async () => {
      const none = (name: string) => ({
        answer: { week: '2026-W46', group: 'all', person: name, question: 'mood', notApplicable: true },
      });
      const {
        account,
        group,
        question: ids,
      } = await withSurvey(
        await openAccount(),
        [unit('all'), unit('one', { parent: 'all' }), unit('two', { parent: 'all' })],
        [
          question('mood', 1, { allowsNotApplicable: true }),
          round('2026-W46', 'all', ['mood'], peopleOf(['one', 'two'], 6)),
          ...answersOf('2026-W46', 'all', 'one', 'mood', [3, 3, 3, 3, 3]),
          ...answersOf('2026-W46', 'all', 'two', 'mood', [5, 5, 5, 5, 5, 5]),
          none('one6'),
        ],
      );
      const { values } = await results(account, `groupId=${group['all']}&includeSubgroups=true`);
      // The five of the first team are too few for a distribution, but with the sixth enough for this.
      const distribution = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 6 };
      const counts = { notApplicable: 1, notApplicableOf: 12 };
      expect(values[ids['mood']!]).toEqual({
        [group['all']!]: { 2646: { value: 17 / 22, answers: 11, distribution, ...counts } },
        [group['one']!]: { 2646: { value: 0.5, answers: 5, notApplicable: 1, notApplicableOf: 6 } },
        [group['two']!]: {
          2646: { value: 1, answers: 6, distribution, notApplicable: 0, notApplicableOf: 6 },
        },
      });
      const path = '/v1/feed?metric=question&format=ndjson';
      const { body } = await world.request<string>('GET', path, {
        headers: { authorization: account.token },
      });
      const rows = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      expect(rows).toMatchObject([
        { groupId: group['all'], answers: 11, ...counts },
        { groupId: group['one'], answers: 5, notApplicable: 1, notApplicableOf: 6 },
        { groupId: group['two'], answers: 6, notApplicable: 0, notApplicableOf: 6 },
      ]);
    });

    test('a withheld question has a key with nulls, and a question never asked has no key', async () => {
      const { account, group, question: ids } = company;
      const { company: top, sales, south, north, tech, apart } = group;
      const { values } = await results(account, `groupId=${top}&includeSubgroups=true${w46}`);
      expect(Object.keys(values)).toEqual([String(ids['mood'])]);
      expect(values[ids['mood']!]?.[south!]).toEqual({ 2646: { value: null, answers: null } });
      expect(Object.keys(values[ids['mood']!]!)).toEqual(
        [top, sales, north, south, tech].map(String).toSorted((a, b) => Number(a) - Number(b)),
      );
      const all = await results(account, `groupId=${top}&includeSubgroups=true${w45}`);
      expect(all.values[ids['local']!]).not.toHaveProperty(String(tech));
      expect(await getBody(account, `/v1/results?groupId=${apart}&includeComments=true`)).toEqual([
        { questions: [], values: [{}], comments: [{}] },
      ]);
    });

    test('a skip does not count as an answer', async () => {
      const { account, group, question: ids } = company;
      const { tech, sales } = group;
      const { values } = await results(account, `groupId=${group['company']}&includeSubgroups=true${w46}`);
      expect(values[ids['mood']!]?.[tech!]?.['2646']?.answers).toBe(6);
      // The six of north. The two of south are too few to be shown separately.
      expect(values[ids['mood']!]?.[sales!]?.['2646']).toMatchObject({ value: 14 / 24, answers: 6 });
    });

    test('without questionIds: all questions asked in the period; with questionIds: only those of them that were asked', async () => {
      const { account, group, question: ids } = company;
      const query = `groupId=${group['company']}&includeSubgroups=true${w45}`;
      const idsOf = async (more: string) => {
        const { questions, values } = await results(account, query + more);
        expect(questions.map(({ id }) => String(id))).toEqual(Object.keys(values));
        return questions.map(({ id }) => id);
      };
      const { mood, tens, advise, bus, lunch, tools, words, local, never } = ids;
      expect(await idsOf('')).toEqual([mood, tens, advise, bus, lunch, tools, words, local]);
      expect(await idsOf(`&questionIds=${lunch}`)).toEqual([lunch]);
      expect(await idsOf(`&questionIds=${lunch},${mood}`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=%20${lunch}%20,%09${mood}%20`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=+${lunch}+,+${mood}`)).toEqual([mood, lunch]);
      expect(await idsOf(`&questionIds=${mood},${mood}`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=00${mood}`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=${mood},${never},999999999`)).toEqual([mood]);
      expect(await idsOf(`&questionIds=${never}`)).toEqual([]);
      expect(await idsOf('&questionIds=0')).toEqual([]);
    });

    test('an ID beyond any number or of another account adds nothing', async () => {
      const { account, group, question: ids } = company;
      const other = await openCompany();
      for (const id of [
        other.question['mood'],
        '2147483648',
        '9007199254740993',
        '9'.repeat(18),
        '9'.repeat(40),
      ]) {
        const { values } = await results(
          account,
          `groupId=${group['north']}${w45}&questionIds=${id},${ids['mood']}`,
        );
        expect([id, ...Object.keys(values)]).toEqual([id, String(ids['mood'])]);
      }
    });

    test('each question has ID, text and type, and nothing else', async () => {
      const { account, group, question: ids } = company;
      const { questions } = await results(account, `groupId=${group['north']}${w45}${only('mood')}`);
      expect(questions).toEqual([{ id: ids['mood'], question: 'Happy?', type: 1 }]);
    });

    test('language, case-insensitive: texts and options that exist in it, the base text of others', async () => {
      const { account, group, question: ids } = company;
      for (const language of ['sv', 'SV', 'sV']) {
        const { questions, values } = await results(
          account,
          `groupId=${group['north']}${w45}&language=${language}&questionIds=${ids['mood']},${ids['tens']},${ids['lunch']}`,
        );
        expect(questions.map((one) => one.question)).toEqual(['Glad?', 'tens?', 'lunch?']);
        const lunch = values[ids['lunch']!]?.[group['north']!]?.['2645'];
        expect(lunch?.options).toEqual({ in: 'Matsalen', out: 'Out' });
      }
      for (const language of ['en', 'fi', 'xx', 'QQ']) {
        const { questions } = await results(
          account,
          `groupId=${group['north']}${w45}&language=${language}${only('mood')}`,
        );
        expect(questions.map((one) => one.question)).toEqual(['Happy?']);
      }
    });

    test('comments only with includeComments=true', async () => {
      const query = `/v1/results?groupId=${company.group['north']}${w45}`;
      for (const more of ['', '&includeComments=false', '&granularData=true']) {
        const [one] = await getBody<object[]>(company.account, query + more);
        expect(Object.keys(one!).toSorted()).toEqual(['questions', 'values']);
      }
      const [one] = await getBody<object[]>(company.account, `${query}&includeComments=true`);
      expect(Object.keys(one!).toSorted()).toEqual(['comments', 'questions', 'values']);
    });

    test("a group's comments include those of its descendants", async () => {
      const { account, group, question: ids } = company;
      const { comments } = await results(
        account,
        `groupId=${group['company']}&includeSubgroups=true${w45}&includeComments=true`,
      );
      const of = (name: string) => (comments?.[ids['words']!]?.[group[name]!]?.['2645'] ?? []).toSorted();
      expect(of('north')).toEqual(six('Words of north'));
      expect(of('sales')).toEqual([...six('Words of north'), ...six('Words of south')]);
      expect(of('company')).toEqual([...of('sales'), ...six('Words of tech')]);
    });

    test('an open week is not shown', async () => {
      const { account, group } = company;
      const query = `groupId=${group['company']}&includeSubgroups=true`;
      const { questions, values } = await results(account, query + range('2026-11-16', '2026-11-22'));
      expect([questions, values]).toEqual([[], {}]);
    });

    test('a question asked of one group counts in all groups above it', async () => {
      const { account, group, question: ids } = company;
      const { values } = await results(account, `groupId=${group['company']}${w45}${only('local')}`);
      expect(values).toEqual({
        [ids['local']!]: {
          [group['company']!]: {
            2645: { value: 0.5, answers: 12, distribution: { 1: 0, 2: 0, 3: 12, 4: 0, 5: 0 } },
          },
        },
      });
    });
  });

  refusals(resultsEndpoint);
});

describe('GET /v1/askedquestions', () => {
  describe('200', () => {
    test('what was asked of the group or of a group above it, by group and week, with open weeks', async () => {
      const { account, group, question: ids } = company;
      const { company: top, sales, north, south, tech } = group;
      const { mood, tens, advise, bus, lunch, tools, words, local } = ids;
      const everywhere = [mood, tens, advise, bus, lunch, tools, words];
      const { questions, askedquestions } = await asked(account, `groupId=${top}&includeSubgroups=true`);
      expect(askedquestions).toEqual({
        [top!]: { 2645: everywhere, 2646: [mood], 2647: [tens] },
        [sales!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [tens] },
        [north!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [mood, tens] },
        [south!]: { 2645: [...everywhere, local], 2646: [mood], 2647: [tens] },
        [tech!]: { 2645: everywhere, 2646: [mood], 2647: [tens] },
      });
      expect(questions.map(({ id }) => id)).toEqual([...everywhere, local]);
      expect(questions[0]).toEqual({ id: mood, question: 'Happy?', type: 1 });
    });

    test('only the given group without includeSubgroups, with only its questions', async () => {
      const { account, group, question: ids } = company;
      const query = `groupId=${group['north']}${range('2026-11-16', '2026-11-16')}`;
      const { questions, askedquestions } = await asked(account, query);
      expect(askedquestions).toEqual({ [group['north']!]: { 2647: [ids['mood'], ids['tens']] } });
      expect(questions.map(({ id }) => id)).toEqual([ids['mood'], ids['tens']]);
    });

    test('a question asked of a group is not asked of the group above it', async () => {
      const { account, group, question: ids } = company;
      const { askedquestions } = await asked(account, `groupId=${group['company']}${allWeeks}`);
      expect(Object.values(askedquestions[group['company']!]!).flat()).not.toContain(ids['local']);
    });

    test('one object with one empty map if nothing was asked', async () => {
      const { account, group } = company;
      expect(await getBody(account, `/v1/askedquestions?groupId=${group['apart']}`)).toEqual([
        { questions: [], askedquestions: [{}] },
      ]);
    });

    test('language, case-insensitive, with the base text for questions without it', async () => {
      const { account, group } = company;
      const texts = async (language: string) => {
        const { questions } = await asked(account, `groupId=${group['north']}&language=${language}`);
        return questions.slice(0, 2).map((one) => one.question);
      };
      expect(await texts('sv')).toEqual(['Glad?', 'tens?']);
      expect(await texts('SV')).toEqual(['Glad?', 'tens?']);
      expect(await texts('fi')).toEqual(['Happy?', 'tens?']);
    });
  });

  refusals(askedEndpoint);
});
