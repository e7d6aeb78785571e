// The demo company, a maker of outdoor equipment, with half a year of people who join, leave and move. Everything is generated from
// a seed. Pure: the same seed and day give the same company.
import type { Organization, OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { addWeeks, type Week, weekOf } from '@soundings/contract/weeks.ts';
import type { Character } from '../simulation/sentiment.ts';
import { characterOf } from './character.ts';
import { groupsInWeek, makeStaff, type DemoPerson, splitWeek, weekCount } from './staff.ts';
import { type Unit, units, workplaces } from './units.ts';

/** The attribute that every user of the demo company has. Define it on the account before the push. */
export const demoAttribute: { name: string; values: string[] } = {
  name: 'workplace',
  values: [...workplaces],
};

/** The top-level group. */
export const topUnit = (units[0] as Unit).id;

export type DemoCompany = {
  /** The 26 weeks before the current one. */
  weeks: Week[];
  /** Returns the body of an organization request with the company as it is in one of the weeks, by default now. */
  organizationIn(week: Week | undefined): Organization;
  character: Character;
};

/** Returns the demo company: about 500 people in 60 groups on 4 levels. Throws a RangeError if `today` (YYYY-MM-DD) is not a valid day. */
export function makeDemoCompany({ seed, today }: { seed: number; today: string }): DemoCompany {
  const thisWeek = weekOf(today);
  const weeks = Array.from({ length: weekCount }, (_, i) => addWeeks(thisWeek, i - weekCount));
  const staff = makeStaff(seed);
  return {
    weeks,
    organizationIn(week) {
      const number = week === undefined ? -1 : weeks.indexOf(week);
      return organizationOf(staff, number < 0 ? weekCount : number);
    },
    character: characterOf(staff, weeks),
  };
}

/** The questions that people can answer with "not applicable", by their keys in the library. */
export const notForEveryone = [
  'autonomy-order',
  'community-cooperation',
  'fairness-suggestions',
  'work-compared',
];

/** Returns the schedules besides the pulse. Each of them asks every four weeks. `questions`: keys of the library. */
export const otherSchedules = (first: Week) => [
  {
    name: 'What helps',
    questions: ['help-most', 'energy-givers', 'works-well'],
    repeatWeeks: 4,
    fromDay: addWeeks(first, 1),
  },
  {
    name: 'What hinders',
    questions: ['obstacles', 'work-compared', 'change-one-thing', 'anything-else'],
    repeatWeeks: 4,
    fromDay: addWeeks(first, 3),
  },
];

function organizationOf(staff: DemoPerson[], week: number): Organization {
  const present = units.filter(({ before }) => before === undefined || week >= splitWeek);
  return {
    settings: {
      validateOnly: false,
      maxUsersCreated: 1000,
      maxUsersUpdated: 1000,
      maxUsersDeleted: 1000,
      maxGroupsCreated: 1000,
      maxGroupsUpdated: 1000,
      maxGroupsDeleted: 1000,
    },
    data: { groups: groupsOf(present), users: usersIn(staff, present, week) },
  };
}

function groupsOf(present: Unit[]): OrganizationGroup[] {
  return present.map(({ id, name, parent, description }) => ({
    externalId: id,
    name,
    parent,
    ...(description !== undefined && { description }),
  }));
}

const divisions = units.filter(({ parent }) => parent === topUnit);

/** The Swedish regulator reserves +46 70 174 06 05 to 06 99 for films and books. */
const firstPhone = 46_701_740_605;

function usersIn(staff: DemoPerson[], present: Unit[], week: number): User[] {
  const inUnit = (id: string) => staff.filter(({ unit, state }) => unit.id === id && state !== 'gone');
  const administrator = inUnit('people').at(1);
  const assistant = inUnit('lavmark').at(1);
  const partners = inUnit('people-partners');
  const withPhone = staff.filter(({ leads, unit }) => leads && unit.country === 'se');
  const isEmployed = ({ begins, ends, state }: DemoPerson) =>
    week >= begins && (week < ends || state === 'on leave');
  return staff.filter(isEmployed).map((person): User => {
    const { externalId, firstName, lastName, email, language, unit, ends } = person;
    const leads = person.leads && present.includes(unit);
    const division = divisions[partners.indexOf(person)];
    const phone = withPhone.indexOf(person);
    return {
      externalId,
      firstName,
      lastName,
      email,
      ...(phone >= 0 && { phone: `+${firstPhone + phone}` }),
      ...(week >= ends && { active: false }),
      ...(unit.country === 'uk' && { timezone: 'Europe/London' }),
      ...(unit.country === 'de' && { timezone: 'Europe/Berlin' }),
      language,
      accessInfo: {
        role: person === administrator ? 'Administrator' : leads ? 'Manager' : 'User',
        // People on leave move with their colleagues.
        memberOf: groupsInWeek({ ...person, ends: Infinity }, week),
        ...(leads && { adminOf: [unit.id] }),
        ...(person === assistant && { inheritedAdminOf: [unit.id] }),
        ...(division && { interestOf: [division.id] }),
      },
      externalProperties: { [demoAttribute.name]: unit.workplace },
    };
  });
}
