// What whoever shows the demo company, or imports it, can rely on.
import { isExternalId } from '@soundings/contract/formats.ts';
import type { OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../base/json.ts';
import { attributeFault } from '../people/attributes.ts';
import { readOrganization } from '../sync/check.ts';
import { newFindings } from '../sync/findings.ts';
import { answersInWords, comments, type Sentences, storyComments } from './comments.ts';
import { demoAttribute, makeDemoCompany } from './company.ts';
import { names } from './units.ts';

type Question = {
  key: string;
  type: number;
  text: string;
  language: string;
  translations: Record<string, string>;
  options?: { id: string; text: string; translations: Record<string, string> }[];
};
type Kpi = { id: string; name: string; questions: string[] };
type Asked = { person: string; memberOf: string[] };
type Round = { week: string; group: string; questions: string[]; asked: Asked[] };
type Answer = {
  week: string;
  group: string;
  person: string;
  question: string;
  value?: unknown;
  comment?: string;
  skipped?: true;
};
type Line = { question?: Question; kpi?: Kpi; round?: Round; answer?: Answer };

const today = '2026-03-04';
const { organization, history } = makeDemoCompany({ seed: 1, today });
const groups = organization.data.groups as OrganizationGroup[];
const users = organization.data.users as User[];
const written = [...history];
const lines = written.map((line) => JSON.parse(line) as Line);
const all = <K extends keyof Line>(kind: K) =>
  lines.flatMap((line) => (line[kind] ? [line[kind] as NonNullable<Line[K]>] : []));
const [questions, kpis, rounds, answers] = [all('question'), all('kpi'), all('round'), all('answer')];
const questionOf = new Map(questions.map((question) => [question.key, question]));
const parentOf = new Map(groups.map(({ externalId, parent }) => [externalId, parent ?? null]));
const pathOf = (group: string): string[] => {
  const parent = parentOf.get(group);
  return [group, ...(parent ? pathOf(parent) : [])];
};
const given = Map.groupBy(answers, ({ week }) => week);
const answersOf = (week: string) => given.get(week) ?? [];

/** The mean of the answers, from 0 to 1, to questions of types 1 to 3 in a round by people of a group. */
function moodIn(group: string, { week, asked }: Round, keys?: string[]): number {
  const people = new Set(
    asked
      .filter(({ memberOf }) => memberOf.some((one) => pathOf(one).includes(group)))
      .map(({ person }) => person),
  );
  const values = answersOf(week).flatMap(({ person, question, value }) => {
    const [low, high] = { 1: [1, 5], 2: [1, 10], 3: [0, 10] }[questionOf.get(question)?.type ?? 0] ?? [];
    const counts =
      typeof value === 'number' && people.has(person) && (keys === undefined || keys.includes(question));
    return counts && low !== undefined && high !== undefined ? [(value - low) / (high - low)] : [];
  });
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('the organization', () => {
  test('it is a request without faults or warnings, which is applied and may make all its changes', () => {
    const findings = newFindings();
    const read = readOrganization(JSON.parse(JSON.stringify(organization)) as JsonValue, findings);
    expect(findings.faults()).toEqual([]);
    expect(findings.warnings()).toEqual([]);
    expect(read?.settings).toMatchObject({
      validateOnly: false,
      maxUsersCreated: 1000,
      maxGroupsCreated: 1000,
    });
  });

  test('about 500 people in 60 groups in 4 levels under one group', () => {
    expect(users.length).toBeGreaterThanOrEqual(480);
    expect(users.length).toBeLessThanOrEqual(520);
    expect(groups.length).toBe(60);
    expect(Math.max(...groups.map(({ externalId }) => pathOf(externalId).length))).toBe(4);
    expect(groups.filter(({ parent }) => parent === null)).toHaveLength(1);
  });

  test('every externalId and every e-mail address is there once, and the addresses can reach nobody', () => {
    for (const list of [users, groups]) {
      const ids = list.map(({ externalId }) => externalId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every(isExternalId)).toBe(true);
    }
    expect(new Set(users.map(({ email }) => email)).size).toBe(users.length);
    expect(users.every(({ email }) => email?.endsWith('.example'))).toBe(true);
  });

  test('memberships, managers and interests are in groups that exist, and every group has a manager', () => {
    const access = users.map(({ accessInfo }) => accessInfo ?? {});
    const named = access.flatMap(
      ({ memberOf = [], adminOf = [], inheritedAdminOf = [], interestOf = [] }) => [
        ...memberOf,
        ...adminOf,
        ...inheritedAdminOf,
        ...interestOf,
      ],
    );
    expect(named.filter((name) => !parentOf.has(name))).toEqual([]);
    expect(new Set(access.flatMap(({ adminOf = [] }) => adminOf)).size).toBe(60);
    expect(access.every(({ memberOf = [] }) => memberOf.length > 0)).toBe(true);
  });

  test('one Administrator, a few people in two groups, a few who are not active', () => {
    const byRole = Object.groupBy(users, ({ accessInfo }) => accessInfo?.role ?? 'none');
    expect(byRole['Administrator']).toHaveLength(1);
    expect(byRole['Manager']).toHaveLength(60);
    expect(users.filter(({ accessInfo }) => accessInfo?.memberOf?.length === 2).length).toBeGreaterThan(4);
    const inactive = users.filter(({ active }) => active === false);
    expect(inactive.length).toBeGreaterThan(0);
    expect(inactive.length).toBeLessThan(20);
    expect(inactive.every(({ accessInfo }) => accessInfo?.role === 'User')).toBe(true);
  });

  test('people read Swedish, English and German, most of them Swedish', () => {
    const byLanguage = Object.groupBy(users, ({ language }) => language ?? 'none');
    expect(Object.keys(byLanguage).toSorted()).toEqual(['de', 'en', 'sv']);
    expect(byLanguage['sv']?.length).toBeGreaterThan(users.length / 2);
  });

  test('at least 3 teams are too small to be shown', () => {
    const inner = new Set(groups.map(({ parent }) => parent));
    const teams = groups.filter(({ externalId }) => !inner.has(externalId));
    const small = teams.filter(({ externalId }) => {
      const people = users.filter(({ accessInfo }) => accessInfo?.memberOf?.includes(externalId));
      return people.length >= 2 && people.length < 5;
    });
    expect(small.length).toBeGreaterThanOrEqual(3);
  });

  test('the attribute to be defined is the only one, and allows every value that is given', () => {
    const defined = new Map([
      [demoAttribute.name, { name: demoAttribute.name, allowedValues: demoAttribute.values }],
    ]);
    const set = users.flatMap(({ externalProperties }) => Object.entries(externalProperties ?? {}));
    expect(set).toHaveLength(users.length);
    expect(set.map(([name, value]) => attributeFault(defined, name, value)).filter(Boolean)).toEqual([]);
  });
});

describe('the same again', () => {
  test('the same seed and day give the same bytes', () => {
    const again = makeDemoCompany({ seed: 1, today });
    expect(JSON.stringify(again.organization)).toBe(JSON.stringify(organization));
    expect([...again.history].join('\n') === written.join('\n')).toBe(true);
  });

  test('the history can be read twice', () => {
    expect([...history].join('\n') === written.join('\n')).toBe(true);
  });

  test('another day of the same week changes nothing', () => {
    const sunday = makeDemoCompany({ seed: 1, today: '2026-03-08' });
    expect([...sunday.history].join('\n') === written.join('\n')).toBe(true);
  });

  test('another seed gives other people and answers, and the same company', () => {
    const other = makeDemoCompany({ seed: 2, today });
    expect(other.organization.data.groups).toEqual(groups);
    expect(other.organization.data.users).not.toEqual(users);
    expect([...other.history].join('\n') === written.join('\n')).toBe(false);
  });

  test('what is no day is refused', () => {
    expect(() => makeDemoCompany({ seed: 1, today: '2026-02-30' })).toThrow(RangeError);
  });
});

describe('questions and KPIs', () => {
  test('about 25 questions of all seven types, each asked, in English with a Swedish translation', () => {
    expect(questions.length).toBeGreaterThanOrEqual(24);
    expect(questions.length).toBeLessThanOrEqual(28);
    expect(questionOf.size).toBe(questions.length);
    expect(new Set(questions.map(({ type }) => type))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
    const asked = new Set(rounds.flatMap((round) => round.questions));
    expect(questions.filter(({ key }) => !asked.has(key))).toEqual([]);
    for (const { language, text, translations } of questions) {
      expect(language).toBe('en');
      expect(text).not.toBe('');
      expect(translations).toEqual({ sv: expect.stringMatching(/\S/) as string });
    }
  });

  test('choices have options in both languages, other questions have none', () => {
    for (const { type, options } of questions) {
      expect(options !== undefined).toBe(type === 5 || type === 6);
      if (!options) continue;
      expect(options.length).toBeGreaterThan(1);
      expect(new Set(options.map(({ id }) => id)).size).toBe(options.length);
      expect(options.every(({ text, translations }) => text !== '' && translations['sv'])).toBe(true);
    }
  });

  test('6 to 8 KPIs of questions that exist and are of types 1 to 4', () => {
    expect(kpis.length).toBeGreaterThanOrEqual(6);
    expect(kpis.length).toBeLessThanOrEqual(8);
    expect(new Set(kpis.map(({ id }) => id)).size).toBe(kpis.length);
    const types = kpis.flatMap((kpi) => kpi.questions.map((key) => questionOf.get(key)?.type ?? 0));
    expect(types.filter((type) => type < 1 || type > 4)).toEqual([]);
  });

  test('every KPI comes round at least every four weeks, and the recommendation with it', () => {
    const recommendation = questions.filter(({ type }) => type === 3).map(({ key }) => key);
    for (const keys of [recommendation, ...kpis.map((kpi) => kpi.questions)]) {
      const weeks = rounds.flatMap((round, i) =>
        round.questions.some((key) => keys.includes(key)) ? [i] : [],
      );
      const gaps = [...weeks, rounds.length].map((week, i) => week - (weeks[i - 1] ?? -1));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(4);
    }
  });
});

describe('rounds', () => {
  test('one round of the top group in each of the 26 weeks before this one', () => {
    const weeks = rounds.map(({ week }) => week);
    const from = (year: number, first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, i) => `${year}-W${String(first + i).padStart(2, '0')}`);
    expect(weeks).toEqual([...from(2025, 36, 52), ...from(2026, 1, 9)]);
    expect(new Set(rounds.map(({ group }) => group))).toEqual(new Set(['lavmark']));
    expect(rounds.every((round) => new Set(round.questions).size === 5)).toBe(true);
  });

  test('everything is named before it is spoken of: questions, KPIs, and each round before its answers', () => {
    const kinds = lines.map((line) => Object.keys(line)[0] as string);
    expect(kinds.lastIndexOf('question')).toBeLessThan(kinds.indexOf('kpi'));
    expect(kinds.lastIndexOf('kpi')).toBeLessThan(kinds.indexOf('round'));
    let week = '';
    const late = lines.filter(({ round, answer }) => {
      week = round?.week ?? week;
      return answer !== undefined && answer.week !== week;
    });
    expect(late).toEqual([]);
  });

  test('everyone asked is asked once, as a member of groups that exist now', () => {
    for (const { asked } of rounds) {
      expect(new Set(asked.map(({ person }) => person)).size).toBe(asked.length);
      expect(asked.filter(({ memberOf }) => memberOf.length === 0)).toEqual([]);
      expect(asked.flatMap(({ memberOf }) => memberOf).filter((group) => !parentOf.has(group))).toEqual([]);
    }
  });

  test('in the last week, those who are here and were here then sit where the organization says', () => {
    const now = new Map(users.map(({ externalId, accessInfo }) => [externalId, accessInfo?.memberOf]));
    const elsewhere = (rounds.at(-1) as Round).asked.filter(
      ({ person, memberOf }) => now.has(person) && String(now.get(person)) !== String(memberOf),
    );
    expect(elsewhere).toEqual([]);
  });

  test('a department splits from one week to the next, and a few people move alone', () => {
    const moves = rounds.slice(1).map(({ asked }, i) => {
      const before = new Map(
        (rounds[i] as Round).asked.map(({ person, memberOf }) => [person, String(memberOf)]),
      );
      return asked.filter(
        ({ person, memberOf }) => (before.get(person) ?? String(memberOf)) !== String(memberOf),
      );
    });
    const split = moves.findIndex((moved) => moved.length > 30);
    expect(split).toBe(12);
    const alone = moves.filter((_, i) => i !== split).flat();
    expect(alone.length).toBeGreaterThan(3);
    expect(alone.length).toBeLessThan(15);
    const membersIn = (round: number) =>
      Object.groupBy(
        (rounds[round] as Round).asked.flatMap(({ memberOf }) => memberOf),
        (group) => group,
      );
    expect(membersIn(12)['care']?.length).toBeGreaterThan(40);
    expect(membersIn(12)['online-range']).toBeUndefined();
    expect(membersIn(13)['care']?.length).toBeLessThan(5);
    expect(membersIn(13)['online-range']?.length).toBeGreaterThan(5);
  });

  test('people come and go', () => {
    const [first, last] = [rounds[0] as Round, rounds.at(-1) as Round].map(
      ({ asked }) => new Set(asked.map(({ person }) => person)),
    ) as [Set<string>, Set<string>];
    expect(last.difference(first).size).toBeGreaterThan(15);
    expect(first.difference(last).size).toBeGreaterThan(15);
    const present = new Set(users.map(({ externalId }) => externalId));
    expect(first.difference(present).size).toBeGreaterThan(15);
  });
});

describe('answers', () => {
  test('every answer is by someone asked, to a question asked, once', () => {
    const foreign: Answer[] = [];
    for (const { week, group, questions: keys, asked } of rounds) {
      const people = new Set(asked.map(({ person }) => person));
      const seen = new Set<string>();
      for (const answer of answersOf(week)) {
        const place = `${answer.person} ${answer.question}`;
        const fits =
          answer.group === group &&
          people.has(answer.person) &&
          keys.includes(answer.question) &&
          !seen.has(place);
        if (!fits) foreign.push(answer);
        seen.add(place);
      }
    }
    expect(foreign).toEqual([]);
    expect(new Set(given.keys())).toEqual(new Set(rounds.map(({ week }) => week)));
  });

  test('every value is one that the type of its question allows, and one who skips says nothing else', () => {
    const isWhole = (value: unknown, low: number, high: number) =>
      Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
    const wrong = answers.filter(({ question, value, comment, skipped }) => {
      const { type, options = [] } = questionOf.get(question) as Question;
      const ids = options.map(({ id }) => id);
      if (skipped !== undefined) return skipped !== true || value !== undefined || comment !== undefined;
      if (type === 4) return typeof value !== 'boolean';
      if (type === 5) return !ids.includes(value as string);
      if (type === 6) {
        const chosen = value as string[];
        return (
          chosen.length === 0 ||
          new Set(chosen).size < chosen.length ||
          !chosen.every((id) => ids.includes(id))
        );
      }
      if (type === 7) return value !== undefined || !comment;
      return type === 1
        ? !isWhole(value, 1, 5)
        : type === 2
          ? !isWhole(value, 1, 10)
          : !isWhole(value, 0, 10);
    });
    expect(wrong).toEqual([]);
  });

  test('three quarters to four fifths answer, never fewer than two thirds, and teams differ', () => {
    const rates = rounds.map(({ week, asked }) => answersOf(week).length / (5 * asked.length));
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(mean).toBeGreaterThan(0.73);
    expect(mean).toBeLessThan(0.82);
    expect(Math.min(...rates)).toBeGreaterThan(0.66);
    expect(Math.max(...rates)).toBeLessThan(0.88);
    const teamOf = new Map(
      rounds.flatMap(({ asked }) => asked.map(({ person, memberOf }) => [person, memberOf[0]])),
    );
    const rateOf = (team: string) => {
      const places = rounds.flatMap(({ asked }) => asked).filter(({ person }) => teamOf.get(person) === team);
      return answers.filter(({ person }) => teamOf.get(person) === team).length / (5 * places.length);
    };
    const teams = [
      'boras-day',
      'shop-stockholm',
      'shop-goteborg',
      'shop-berlin',
      'warehouse-inbound',
      'accounting',
    ];
    const ofTeams = teams.map(rateOf);
    expect(Math.max(...ofTeams) - Math.min(...ofTeams)).toBeGreaterThan(0.1);
  });

  test('some skip', () => {
    const skips = answers.filter(({ question, skipped }) => skipped && questionOf.get(question)?.type !== 7);
    expect(skips.length / answers.length).toBeGreaterThan(0.01);
    expect(skips.length / answers.length).toBeLessThan(0.04);
  });

  test('one team falls and recovers, which the company does not', () => {
    const energy = (kpis.find(({ id }) => id === 'energy') as Kpi).questions;
    const between = (group: string, from: number, to: number) => {
      const asked = rounds
        .slice(from, to)
        .filter((round) => round.questions.some((key) => energy.includes(key)));
      return asked.reduce((sum, round) => sum + moodIn(group, round, energy), 0) / asked.length;
    };
    const [before, low, after] = [
      [0, 6],
      [10, 15],
      [20, 26],
    ].map(([from, to]) => between('warehouse-picking', from as number, to as number)) as [
      number,
      number,
      number,
    ];
    expect(before - low).toBeGreaterThan(0.2);
    expect(after - low).toBeGreaterThan(0.2);
    expect(between('lavmark', 0, 6) - between('lavmark', 10, 15)).toBeLessThan(0.16);
  });

  test('late autumn is worse than summer', () => {
    const summer = makeDemoCompany({ seed: 1, today: '2025-12-20' });
    const energies = new Map<string, number[]>();
    for (const line of summer.history) {
      const { answer } = JSON.parse(line) as Line;
      if (answer?.question !== 'energy-left' || typeof answer.value !== 'number') continue;
      energies.set(answer.week, [...(energies.get(answer.week) ?? []), answer.value]);
    }
    const meanFrom = (first: string, last: string) => {
      const values = [...energies].flatMap(([week, some]) => (week >= first && week <= last ? some : []));
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    expect(meanFrom('2025-W25', '2025-W33') - meanFrom('2025-W45', '2025-W49')).toBeGreaterThan(0.3);
  });
});

describe('comments', () => {
  const kinds: Sentences[] = [
    ...Object.values(comments).flatMap(({ good, bad }) => [good, bad]),
    ...Object.values(answersInWords),
    ...Object.values(storyComments),
  ];
  const inLanguage = {
    en: new Set(kinds.flatMap(({ en }) => en)),
    sv: new Set(kinds.flatMap(({ sv }) => sv)),
  };
  const made = answers.flatMap(({ comment }) => comment ?? []);

  test('at least 40 different ones in each of both languages, Swedish from those who read Swedish', () => {
    const distinct = new Set(made);
    expect(distinct.intersection(inLanguage.en).size).toBeGreaterThanOrEqual(40);
    expect(distinct.intersection(inLanguage.sv).size).toBeGreaterThanOrEqual(40);
    expect(made.filter((comment) => !inLanguage.en.has(comment) && !inLanguage.sv.has(comment))).toEqual([]);
    const languageOf = new Map(users.map(({ externalId, language }) => [externalId, language]));
    const foreign = answers.filter(({ person, comment }) => {
      const language = languageOf.get(person);
      return comment && language && inLanguage.sv.has(comment) !== (language === 'sv');
    });
    expect(foreign).toEqual([]);
  });

  test('some have quotes, umlauts and emoji, and none a line break', () => {
    const everything = made.join(' ');
    for (const pattern of [/[“”]/, /[åäö]/, /\p{Extended_Pictographic}/u])
      expect(everything).toMatch(pattern);
    expect(written.filter((line) => /[\r\n\u2028\u2029]/.test(line))).toEqual([]);
  });

  test('nobody says in a week what another has said', () => {
    for (const { week } of rounds) {
      const said = answersOf(week).flatMap(({ comment }) => comment ?? []);
      expect(new Set(said).size).toBe(said.length);
    }
  });

  test('none names a person', () => {
    const known = new Set(Object.values(names).flatMap(({ first, last }) => [...first, ...last]));
    const naming = [...inLanguage.en, ...inLanguage.sv].filter((comment) =>
      comment.split(/[^\p{L}'’]+/u).some((word) => known.has(word)),
    );
    expect(naming).toEqual([]);
  });
});
