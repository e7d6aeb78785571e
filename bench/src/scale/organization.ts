// A company of any size, generated part by part: the same people, groups and memberships in every run.
import { maxPartEntries } from '@soundings/contract/limits.ts';
import type { OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import { attribute } from '../company.ts';

/** The number of people, and how many of them have changed their last name. */
export type Size = { people: number; renamed?: number };

/** Groups as a share of people: 60,000 for a million. */
export const unitCount = (people: number): number => Math.max(6, Math.round(people * 0.06));

/** The number of trees. */
export const trees = 3;
const first =
  'Anna Åsa Björn Carlos Dörte Eeva Fatima Gunnar Hélène Igor Jürgen Kaisa Li Mehmet Øystein Zoë'.split(' ');
const last =
  'Andersson Bäcklund Çelik Dubois Eriksen Fernández Große Håkansson Jansen Kowalska Lehtinen Nguyễn'.split(
    ' ',
  );
const languages = ['sv', 'en', 'de', 'fi', 'fr'];

/** Returns three trees of groups, each on about five levels with eight subgroups of a group. */
export function unitsIn(people: number): OrganizationGroup[] {
  return Array.from({ length: unitCount(people) }, (_, i) => ({
    externalId: `group-${i}`,
    name: `Unit ${i}`,
    parent: i < trees ? null : `group-${parentOf(i)}`,
  }));
}

/** The parent of a group: groups are numbered level by level, those of a tree at every third place. */
const parentOf = (i: number) => {
  const [tree, place] = [i % trees, Math.floor(i / trees)];
  return Math.floor((place - 1) / 8) * trees + tree;
};

/** Returns people by position: each is a member of one group, and has two further memberships. */
export function peopleIn({ people, renamed = 0 }: Size, from: number, to: number): User[] {
  const groups = unitCount(people);
  const step = renamed === 0 ? Infinity : Math.floor(people / renamed);
  return Array.from({ length: to - from }, (_, k): User => {
    const i = from + k;
    const random = mulberry32(i + 1);
    const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    const group = () => `group-${Math.floor(random() * groups)}`;
    const isRenamed = i % step === 0 && i / step < renamed;
    return {
      externalId: `user-${String(i).padStart(7, '0')}`,
      firstName: oneOf(first),
      lastName: oneOf(last) + (isRenamed ? '-changed' : ''),
      email: `person.${i}@example.com`,
      phone: `+4670${String(1_000_000 + i)}`,
      language: oneOf(languages),
      externalProperties: { [attribute.name]: oneOf(attribute.values) },
      accessInfo: {
        role: i === 0 ? 'Administrator' : 'User',
        memberOf: [group()],
        interestOf: [group()],
        ...(random() < 0.5 ? { adminOf: [group()] } : { inheritedAdminOf: [group()] }),
      },
    };
  });
}

/** Yields the bodies of the parts of a push. */
export function* pushPartsOf(size: Size): Generator<Buffer> {
  const groups = unitsIn(size.people);
  for (let i = 0; i < groups.length; i += maxPartEntries)
    yield Buffer.from(JSON.stringify({ data: { groups: groups.slice(i, i + maxPartEntries) } }));
  for (let i = 0; i < size.people; i += maxPartEntries) {
    const users = peopleIn(size, i, Math.min(i + maxPartEntries, size.people));
    yield Buffer.from(JSON.stringify({ data: { users } }));
  }
}
