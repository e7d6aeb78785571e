// A company to show Soundings with: a maker of things for the outdoors, and half a year of its people coming, going and
// moving, all made up from a seed. Pure: the same seed and day give the same.
import type { Organization, OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { addWeeks, type Week, weekOf } from '@soundings/contract/weeks.ts';
import type { Character } from '../simulation/sentiment.ts';
import { characterOf } from './character.ts';
import { groupsIn, makeStaff, type Person, splitWeek, weekCount } from './staff.ts';
import { type Unit, units, workplaces } from './units.ts';

/** The attribute that every user of the demo company has: to be defined on the account before the push. */
export const demoAttribute: { name: string; values: string[] } = {
  name: 'workplace',
  values: [...workplaces],
};

/** The group above all others. */
export const topUnit = (units[0] as Unit).id;

export type DemoCompany = {
  /** The 26 weeks before the present one. */
  weeks: Week[];
  /** The body of an organization request that makes the company what it is in one of the weeks, or else now. */
  organizationIn(week: Week | undefined): Organization;
  character: Character;
};

/** The demo company: about 500 people in 60 groups on 4 levels. Throws a RangeError when `today` (YYYY-MM-DD) is no day. */
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

/** What is asked beside the pulse, by the keys of the library: each every four weeks. */
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

function organizationOf(staff: Person[], week: number): Organization {
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
    data: { groups: makeGroups(present), users: makeUsers(staff, present, week) },
  };
}

function makeGroups(present: Unit[]): OrganizationGroup[] {
  return present.map(({ id, name, parent, description }) => ({
    externalId: id,
    name,
    parent,
    ...(description !== undefined && { description }),
  }));
}

const divisions = units.filter(({ parent }) => parent === topUnit);

/** The numbers that PTS keeps for films and books: +46 70 174 06 05 to 06 99. */
const firstPhone = 46_701_740_605;

function makeUsers(staff: Person[], present: Unit[], week: number): User[] {
  const inUnit = (id: string) => staff.filter(({ unit, state }) => unit.id === id && state !== 'gone');
  const administrator = inUnit('people').at(1);
  const assistant = inUnit('lavmark').at(1);
  const partners = inUnit('people-partners');
  const withPhone = staff.filter(({ leads, unit }) => leads && unit.country === 'se');
  const isThere = ({ begins, ends, state }: Person) =>
    week >= begins && (week < ends || state === 'on leave');
  return staff.filter(isThere).map((person): User => {
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
        // Whoever is on leave moves with the others.
        memberOf: groupsIn({ ...person, ends: Infinity }, week),
        ...(leads && { adminOf: [unit.id] }),
        ...(person === assistant && { inheritedAdminOf: [unit.id] }),
        ...(division && { interestOf: [division.id] }),
      },
      externalProperties: { [demoAttribute.name]: unit.workplace },
    };
  });
}
