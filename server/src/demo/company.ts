// A company to show Soundings with: a maker of things for the outdoors, its people, and half a year of their answers,
// all made up from a seed. Pure: the same seed and day give the same bytes.
import type { Organization, OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { addWeeks, weekOf } from '@soundings/contract/weeks.ts';
import { historyOf } from './history.ts';
import { makeStaff, type Person, weekCount } from './staff.ts';
import { units, workplaces } from './units.ts';

/** The attribute that every user of the demo company has: to be defined on the account before the push. */
export const demoAttribute: { name: string; values: string[] } = {
  name: 'workplace',
  values: [...workplaces],
};

export type DemoCompany = {
  /** The body of an organization request that is applied, and may make all the changes it needs. */
  organization: Organization;
  /** Lines of the history format without line breaks; each iteration gives them anew, from the first. */
  history: Iterable<string>;
};

/**
 * The demo company as it is on a day: about 500 people in 60 groups on 4 levels, and the answers of the 26 weeks before
 * the week of `today` (YYYY-MM-DD), all of them ended. `history` speaks of groups of `organization` only, so it is to be
 * imported after the push; of people it also knows some who have left. Throws a RangeError when `today` is no day.
 */
export function makeDemoCompany({ seed, today }: { seed: number; today: string }): DemoCompany {
  const thisWeek = weekOf(today);
  const weeks = Array.from({ length: weekCount }, (_, i) => addWeeks(thisWeek, i - weekCount));
  const staff = makeStaff(seed);
  return {
    organization: {
      settings: {
        validateOnly: false,
        maxUsersCreated: 1000,
        maxUsersUpdated: 1000,
        maxUsersDeleted: 1000,
        maxGroupsCreated: 1000,
        maxGroupsUpdated: 1000,
        maxGroupsDeleted: 1000,
      },
      data: { groups: makeGroups(), users: makeUsers(staff) },
    },
    history: { [Symbol.iterator]: () => historyOf(seed, staff, weeks) },
  };
}

function makeGroups(): OrganizationGroup[] {
  return units.map(({ id, name, parent, description }) => ({
    externalId: id,
    name,
    parent,
    ...(description !== undefined && { description }),
  }));
}

const divisions = units.filter(({ parent }) => parent === units[0]?.id);

function makeUsers(staff: Person[]): User[] {
  const present = staff.filter(({ state }) => state !== 'gone');
  const inUnit = (id: string) => present.filter(({ unit }) => unit.id === id);
  const administrator = inUnit('people').at(1);
  const assistant = inUnit('lavmark').at(1);
  const partners = inUnit('people-partners');
  let phones = 0;
  return present.map((person): User => {
    const { externalId, firstName, lastName, email, language, unit, leads, alsoIn, state } = person;
    const division = divisions[partners.indexOf(person)];
    return {
      externalId,
      firstName,
      lastName,
      email,
      // Numbers that PTS keeps for films and books: +46 70 174 06 05 to 06 99.
      ...(leads && unit.country === 'se' && { phone: `+46701740${605 + phones++}` }),
      ...(state === 'on leave' && { active: false }),
      ...(unit.country === 'uk' && { timezone: 'Europe/London' }),
      ...(unit.country === 'de' && { timezone: 'Europe/Berlin' }),
      language,
      accessInfo: {
        role: person === administrator ? 'Administrator' : leads ? 'Manager' : 'User',
        memberOf: [unit.id, ...alsoIn],
        ...(leads && { adminOf: [unit.id] }),
        ...(person === assistant && { inheritedAdminOf: [unit.id] }),
        ...(division && { interestOf: [division.id] }),
      },
      externalProperties: { [demoAttribute.name]: unit.workplace },
    };
  });
}
