// The properties of the demo company that people who present it or try things out with it can rely on.
import { isExternalId } from '@soundings/contract/formats.ts';
import type { Organization, OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../base/json/json.ts';
import { attributeFault } from '../people/attributes.ts';
import { libraryFor } from '../questions/library.ts';
import { readAnswer } from '../questions/types.ts';
import { chooseQuestions } from '../rounds/choose-questions.ts';
import { dayDue } from '../rounds/send-times.ts';
import { type AskedQuestion, type AskedRespondent, type Said, scriptsOf } from '../simulation/script.ts';
import { pulseOf } from '../simulation/simulation.ts';
import { readOrganization } from '../sync/check.ts';
import { newFindings } from '../sync/findings.ts';
import { comments, openAnswers, type Sentences, storyComments } from './comments.ts';
import {
  demoAttribute,
  type DemoCompany,
  makeDemoCompany,
  notForEveryone,
  otherSchedules,
} from './company.ts';
import { demoPlot } from './fill.ts';
import { names } from './units.ts';

const today = '2026-03-04';
const company = makeDemoCompany({ seed: 1, today });
const organization = company.organizationIn(undefined);
const groups = organization.data.groups as OrganizationGroup[];
const users = organization.data.users as User[];

const library = libraryFor('en');
const questions = library.questions.map(({ key, type, options }, id): AskedQuestion => ({
  id,
  key,
  type,
  options: options.map((option) => option.id),
  topic: library.kpis.find((kpi) => kpi.questions.includes(key))?.id,
  ...(notForEveryone.includes(key) && { notApplicable: 'not-applicable' }),
}));
const questionOf = new Map(questions.map((question) => [question.key, question]));

type Round = { week: Week; questions: string[]; asked: AskedRespondent[] };
type Answer = { week: Week; person: string; question: string } & Said;

const parentOf = new Map(groups.map(({ externalId, parent }) => [externalId, parent ?? null]));
const pathOf = (group: string): string[] => {
  const parent = parentOf.get(group);
  return [group, ...(parent ? pathOf(parent) : [])];
};

/** Returns the questions and people of the demo's schedules in each week, and the simulated answers. */
function simulate({ weeks, organizationIn, character }: DemoCompany): { rounds: Round[]; answers: Answer[] } {
  const last = new Map<number, number>();
  const pools = library.kpis.map((kpi) => kpi.questions.map((key) => questionOf.get(key)!.id));
  const others = otherSchedules(weeks[0] as Week);
  const pulse = pulseOf({ groupIds: [1], kpiIds: [], perWeek: 5 }, weeks[0] as Week);
  const rounds = weeks.map((week, number) => {
    const since = new Map([...last].map(([id, then]) => [id, number - then]));
    const chosen = chooseQuestions({ pools, perWeek: 5, everyWeeks: 8 }, since);
    for (const id of chosen) last.set(id, number);
    const more = others
      .filter((one) => dayDue({ ...pulse, ...one }, week) !== undefined)
      .flatMap((one) => one.questions.map((key) => questionOf.get(key)!));
    const due = [...chosen.map((id) => questions[id] as AskedQuestion), ...more];
    const asked = (organizationIn(week).data.users as User[])
      .filter(({ active }) => active !== false)
      .map(({ externalId, language, accessInfo }) => ({
        person: externalId,
        language: language as string,
        groups: (accessInfo?.memberOf ?? []).map(pathOf),
        questions: due,
      }));
    return { week, questions: due.map(({ key }) => key), asked };
  });
  const answers = rounds.flatMap(({ week, asked }) =>
    scriptsOf({ ...demoPlot, character }, week, asked).flatMap((visits, i) => {
      const visible = visits.flatMap((visit) => visit.answers);
      const inTheEnd = new Map(visible.map((one) => [one.questionId, one]));
      const { person } = asked[i] as AskedRespondent;
      return [...inTheEnd.values()].map((one) => ({
        week,
        person,
        question: (questions[one.questionId] as AskedQuestion).key,
        ...one,
      }));
    }),
  );
  return { rounds, answers };
}

const { rounds, answers } = simulate(company);
const given = Map.groupBy(answers, ({ week }) => week);
const answersOf = (week: Week) => given.get(week) ?? [];
const homesIn = (round: Round) =>
  new Map(round.asked.map(({ person, groups: own }) => [person, own.map(([group]) => group as string)]));

/** Returns the mean of the answers, from 0 to 1, to questions of types 1 to 3 in a round by people of a group. */
function sentimentIn(group: string, { week, asked }: Round, topic: string): number {
  const people = new Set(
    asked.filter((one) => one.groups.flat().includes(group)).map(({ person }) => person),
  );
  const values = answersOf(week).flatMap(({ person, question, value }) => {
    const { type, topic: own } = questionOf.get(question) as AskedQuestion;
    const [low, high] = { 1: [1, 5], 2: [1, 10], 3: [0, 10] }[type as 1] ?? [];
    const counts = typeof value === 'number' && people.has(person) && own === topic;
    return counts && low !== undefined && high !== undefined ? [(value - low) / (high - low)] : [];
  });
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('the organization', () => {
  test('is in each week a request without errors or warnings, which is applied and stays within the limit of changes', () => {
    for (const one of [...company.weeks.map(company.organizationIn), organization]) {
      const findings = newFindings();
      const read = readOrganization(JSON.parse(JSON.stringify(one)) as JsonValue, findings);
      expect(findings.faults()).toEqual([]);
      expect(findings.warnings()).toEqual([]);
      expect(read?.settings).toMatchObject({
        validateOnly: false,
        maxUsersCreated: 1000,
        maxGroupsCreated: 1000,
      });
    }
  });

  test('has about 500 people in 60 groups on 4 levels under one group', () => {
    expect(users.length).toBeGreaterThanOrEqual(480);
    expect(users.length).toBeLessThanOrEqual(520);
    expect(groups.length).toBe(60);
    expect(Math.max(...groups.map(({ externalId }) => pathOf(externalId).length))).toBe(4);
    expect(groups.filter(({ parent }) => parent === null)).toHaveLength(1);
  });

  test('has unique externalIds and email addresses, and mail to these addresses reaches no one', () => {
    for (const list of [users, groups]) {
      const ids = list.map(({ externalId }) => externalId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every(isExternalId)).toBe(true);
    }
    expect(new Set(users.map(({ email }) => email)).size).toBe(users.length);
    expect(users.every(({ email }) => email?.endsWith('.example'))).toBe(true);
  });

  test('has memberships, managers and interests only in existing groups in each week, and every group has a manager', () => {
    for (const { data } of [...company.weeks.map(company.organizationIn), organization]) {
      const present = new Set((data.groups as OrganizationGroup[]).map(({ externalId }) => externalId));
      const access = (data.users as User[]).map(({ accessInfo }) => accessInfo ?? {});
      const named = access.flatMap(
        ({ memberOf = [], adminOf = [], inheritedAdminOf = [], interestOf = [] }) => [
          ...memberOf,
          ...adminOf,
          ...inheritedAdminOf,
          ...interestOf,
        ],
      );
      expect(named.filter((name) => !present.has(name))).toEqual([]);
      expect(new Set(access.flatMap(({ adminOf = [] }) => adminOf)).size).toBe(present.size);
      expect(access.every(({ memberOf = [] }) => memberOf.length > 0)).toBe(true);
    }
  });

  test('has one Administrator, a few people in two groups, and a few inactive people', () => {
    const byRole = Object.groupBy(users, ({ accessInfo }) => accessInfo?.role ?? 'none');
    expect(byRole['Administrator']).toHaveLength(1);
    expect(byRole['Manager']).toHaveLength(60);
    expect(users.filter(({ accessInfo }) => accessInfo?.memberOf?.length === 2).length).toBeGreaterThan(4);
    const inactive = users.filter(({ active }) => active === false);
    expect(inactive.length).toBeGreaterThan(0);
    expect(inactive.length).toBeLessThan(20);
    expect(inactive.every(({ accessInfo }) => accessInfo?.role === 'User')).toBe(true);
  });

  test('has people who read Swedish, English and German, most of them Swedish', () => {
    const byLanguage = Object.groupBy(users, ({ language }) => language ?? 'none');
    expect(Object.keys(byLanguage).toSorted()).toEqual(['de', 'en', 'sv']);
    expect(byLanguage['sv']?.length).toBeGreaterThan(users.length / 2);
  });

  test('has at least 3 teams that are too small to be shown', () => {
    const inner = new Set(groups.map(({ parent }) => parent));
    const teams = groups.filter(({ externalId }) => !inner.has(externalId));
    const small = teams.filter(({ externalId }) => {
      const people = users.filter(({ accessInfo }) => accessInfo?.memberOf?.includes(externalId));
      return people.length >= 2 && people.length < 5;
    });
    expect(small.length).toBeGreaterThanOrEqual(3);
  });

  test('needs one attribute definition, which allows every value that is used', () => {
    const defined = new Map([
      [demoAttribute.name, { name: demoAttribute.name, allowedValues: demoAttribute.values }],
    ]);
    const set = users.flatMap(({ externalProperties }) => Object.entries(externalProperties ?? {}));
    expect(set).toHaveLength(users.length);
    expect(set.map(([name, value]) => attributeFault(defined, name, value)).filter(Boolean)).toEqual([]);
  });
});

describe('repeatability', () => {
  const organizations = ({ weeks, organizationIn }: DemoCompany): Organization[] => weeks.map(organizationIn);

  test('the same seed and day give the same company, and so does another day of the week', () => {
    const again = makeDemoCompany({ seed: 1, today: '2026-03-08' });
    expect(JSON.stringify(organizations(again))).toBe(JSON.stringify(organizations(company)));
    expect(JSON.stringify(simulate(again))).toBe(JSON.stringify({ rounds, answers }));
  });

  test('another seed gives other people in the same groups', () => {
    const other = makeDemoCompany({ seed: 2, today }).organizationIn(undefined);
    expect(other.data.groups).toEqual(groups);
    expect(other.data.users).not.toEqual(users);
  });

  test('an invalid day is refused', () => {
    expect(() => makeDemoCompany({ seed: 1, today: '2026-02-30' })).toThrow(RangeError);
  });
});

describe('rounds', () => {
  test('are in the 26 weeks before this one, with at least five questions each', () => {
    const from = (year: number, first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, i) => `${year}-W${String(first + i).padStart(2, '0')}`);
    expect(company.weeks.map(weekName)).toEqual([...from(2025, 36, 52), ...from(2026, 1, 9)]);
    expect(Math.min(...rounds.map((round) => new Set(round.questions).size))).toBe(5);
    expect(Math.max(...rounds.map((round) => round.questions.length))).toBeLessThan(10);
  });

  test('ask each question of the library, and every KPI at least every two weeks', () => {
    const asked = new Set(rounds.flatMap((round) => round.questions));
    expect(questions.filter(({ key }) => !asked.has(key))).toEqual([]);
    for (const { questions: keys } of library.kpis) {
      const weeks = rounds.flatMap((round, i) =>
        round.questions.some((key) => keys.includes(key)) ? [i] : [],
      );
      const gaps = [...weeks, rounds.length].map((week, i) => week - (weeks[i - 1] ?? -1));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(2);
    }
  });

  test('show a department that is split from one week to the next, and a few people who move individually', () => {
    const moves = rounds.slice(1).map((round, i) => {
      const [before, after] = [homesIn(rounds[i] as Round), homesIn(round)];
      return [...after].filter(([person, own]) => String(before.get(person) ?? own) !== String(own));
    });
    const split = moves.findIndex((moved) => moved.length > 30);
    expect(split).toBe(12);
    const alone = moves.filter((_, i) => i !== split).flat();
    expect(alone.length).toBeGreaterThan(3);
    expect(alone.length).toBeLessThan(15);
    const membersIn = (number: number, group: string) =>
      [...homesIn(rounds[number] as Round).values()].filter((own) => own.includes(group)).length;
    expect(membersIn(12, 'care')).toBeGreaterThan(40);
    expect(membersIn(12, 'online-range')).toBe(0);
    expect(membersIn(13, 'care')).toBeLessThan(5);
    expect(membersIn(13, 'online-range')).toBeGreaterThan(5);
    const groupsIn = (number: number) => company.organizationIn(company.weeks[number]).data.groups;
    expect(groupsIn(12)).toHaveLength(55);
    expect(groupsIn(13)).toHaveLength(60);
  });

  test('show people who join and leave', () => {
    const [first, last] = [rounds[0], rounds.at(-1)].map(
      (round) => new Set(homesIn(round as Round).keys()),
    ) as [Set<string>, Set<string>];
    expect(last.difference(first).size).toBeGreaterThan(15);
    expect(first.difference(last).size).toBeGreaterThan(15);
    const present = new Set(users.map(({ externalId }) => externalId));
    expect(first.difference(present).size).toBeGreaterThan(15);
  });
});

describe('answers', () => {
  test('are valid for their question, and a skip has no value or comment', () => {
    const wrong = answers.filter(({ question, value, comment, skipped, notApplicable }) => {
      const { type, options } = questionOf.get(question) as AskedQuestion;
      if (notApplicable) return !notForEveryone.includes(question) || value !== undefined || skipped;
      if (skipped) return value !== undefined || comment !== undefined;
      if (type === 7 && !comment) return true;
      if (type === 6 && (value as string[]).length === 0) return true;
      return typeof readAnswer(type, new Set(options), value) === 'string';
    });
    expect(wrong).toEqual([]);
  });

  test('come from three quarters to five sixths of the people on average, never from fewer than two thirds, and teams differ', () => {
    const rates = rounds.map(
      ({ week, asked, questions: keys }) => answersOf(week).length / (keys.length * asked.length),
    );
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(mean).toBeGreaterThan(0.75);
    expect(mean).toBeLessThan(0.83);
    expect(Math.min(...rates)).toBeGreaterThan(0.66);
    expect(Math.max(...rates)).toBeLessThan(0.9);
    const rateOf = (team: string) => {
      let [places, there] = [0, 0];
      for (const round of rounds) {
        const members = new Set(
          [...homesIn(round)].filter(([, own]) => own[0] === team).map(([person]) => person),
        );
        places += members.size * round.questions.length;
        there += answersOf(round.week).filter(({ person }) => members.has(person)).length;
      }
      return there / places;
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

  test('include some skips', () => {
    const skips = answers.filter(({ question, skipped }) => skipped && questionOf.get(question)?.type !== 7);
    expect(skips.length / answers.length).toBeGreaterThan(0.01);
    expect(skips.length / answers.length).toBeLessThan(0.04);
  });

  test('include some “not applicable” to the few questions that allow it, from the same people each time', () => {
    for (const key of notForEveryone) {
      const own = answers.filter(({ question, skipped }) => question === key && !skipped);
      const choosing = own.filter(({ notApplicable }) => notApplicable !== undefined);
      expect([key, choosing.length / own.length > 0.03, choosing.length / own.length < 0.1]).toEqual([
        key,
        true,
        true,
      ]);
      const people = new Set(choosing.map(({ person }) => person));
      expect(own.filter(({ person, notApplicable }) => people.has(person) && !notApplicable)).toEqual([]);
    }
  });

  test('show one team whose answers get worse and recover, unlike those of the company', () => {
    const between = (group: string, from: number, to: number) => {
      const asked = rounds
        .slice(from, to)
        .filter((round) => round.questions.some((key) => questionOf.get(key)?.topic === 'workload'));
      return asked.reduce((sum, round) => sum + sentimentIn(group, round, 'workload'), 0) / asked.length;
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

  test('are worse in late autumn than in summer', () => {
    const summer = simulate(makeDemoCompany({ seed: 1, today: '2025-12-20' }));
    const meanFrom = (first: Week, last: Week) => {
      const values = summer.answers.flatMap(({ week, question, value }) =>
        week >= first && week <= last && question.startsWith('workload') && typeof value === 'number'
          ? [questionOf.get(question)?.type === 2 ? 1 + ((value - 1) * 4) / 9 : value]
          : [],
      );
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    };
    expect(meanFrom('2025-06-23', '2025-08-11') - meanFrom('2025-11-03', '2025-12-01')).toBeGreaterThan(0.3);
  });
});

describe('comments', () => {
  const kinds: Sentences[] = [
    ...Object.values(comments).flatMap(({ good, bad }) => [good, bad]),
    ...Object.values(openAnswers),
    ...Object.values(storyComments),
  ];
  const inLanguage = {
    en: new Set(kinds.flatMap(({ en }) => en)),
    sv: new Set(kinds.flatMap(({ sv }) => sv)),
  };
  const written = answers.flatMap(({ comment }) => comment ?? []);

  test('there are at least 40 different comments in each of the two languages, and those in Swedish come from people who read Swedish', () => {
    const distinct = new Set(written);
    expect(distinct.intersection(inLanguage.en).size).toBeGreaterThanOrEqual(40);
    expect(distinct.intersection(inLanguage.sv).size).toBeGreaterThanOrEqual(40);
    expect(written.filter((comment) => !inLanguage.en.has(comment) && !inLanguage.sv.has(comment))).toEqual(
      [],
    );
    const languageOf = new Map(users.map(({ externalId, language }) => [externalId, language]));
    const foreign = answers.filter(({ person, comment }) => {
      const language = languageOf.get(person);
      return comment && language && inLanguage.sv.has(comment) !== (language === 'sv');
    });
    expect(foreign).toEqual([]);
  });

  test('some have quotes, umlauts and emoji, and none has a line break', () => {
    const everything = written.join(' ');
    for (const pattern of [/[“”]/, /[åäö]/, /\p{Extended_Pictographic}/u])
      expect(everything).toMatch(pattern);
    expect(written.filter((comment) => /[\r\n\u2028\u2029]/.test(comment))).toEqual([]);
  });

  test('no two people write the same comment in a week', () => {
    for (const { week } of rounds) {
      const visible = answersOf(week).flatMap(({ comment }) => comment ?? []);
      expect(new Set(visible).size).toBe(visible.length);
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
