// Generates a company from a seed: the same people, groups and memberships in every run.
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import type { OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';

export type Company = { groups: OrganizationGroup[]; users: User[] };

/** The attribute that every user has. Define it in the account before you push the company. */
export const attribute = { name: 'workplace', values: ['Office', 'Workshop', 'Shop', 'Road', 'Home'] };

const firstNames =
  'Anna Åsa Björn Carlos Dörte Eeva Fatima Gunnar Hélène Igor Jürgen Kaisa Li Mehmet Øystein Zoë';
const lastNames =
  'Andersson Bäcklund Çelik Dubois Eriksen Fernández Große Håkansson Jansen Kowalska Lehtinen Nguyễn';
const languages = ['sv', 'en', 'de', 'fi', 'fr'];

/**
 * Returns users, groups on up to five levels, and three memberships per user on average: each user is a member of one group,
 * and the other memberships are of random kinds. The first user is the administrator. With `oneTop`, one group is above all others.
 */
export function makeCompany(count: { users: number; groups: number; oneTop?: boolean }, seed = 1): Company {
  const random = mulberry32(seed);
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const groups = count.oneTop
    ? underOneTop(makeGroups(count.groups - 1, random))
    : makeGroups(count.groups, random);
  const [first, last] = [firstNames.split(' '), lastNames.split(' ')];
  const users = Array.from({ length: count.users }, (_, i): User => {
    const [firstName, lastName] = [oneOf(first), oneOf(last)];
    const ascii = `${firstName}.${lastName}`.normalize('NFKD').replace(/[^A-Za-z.]/g, '');
    return {
      externalId: `user-${String(i).padStart(6, '0')}`,
      firstName,
      lastName,
      email: `${ascii}.${i}@example.com`,
      phone: `+4670${String(1_000_000 + i)}`,
      language: oneOf(languages),
      externalProperties: { [attribute.name]: oneOf(attribute.values) },
      accessInfo: {
        role: i === 0 ? 'Administrator' : random() < 0.08 ? 'Manager' : 'User',
        memberOf: [oneOf(groups).externalId],
      },
    };
  });
  for (let left = 2 * count.users; left > 0;) {
    const access = oneOf(users).accessInfo as Partial<Record<MembershipKind, string[]>>;
    const names = (access[oneOf(membershipKinds)] ??= []);
    const name = oneOf(groups).externalId;
    if (names.includes(name)) continue;
    names.push(name);
    left--;
  }
  return { groups, users };
}

function makeGroups(count: number, random: () => number): OrganizationGroup[] {
  const groups: OrganizationGroup[] = [];
  // Where each level begins, as a share of all groups: few at the top, half at the bottom.
  const levels = [0, 0.003, 0.03, 0.15, 0.5, 1].map((share) => Math.ceil(share * count));
  for (let level = 1; level < levels.length; level++) {
    const [above, start, end] = [
      levels[level - 2] ?? 0,
      levels[level - 1] as number,
      levels[level] as number,
    ];
    for (let i = start; i < end; i++) {
      const parent =
        level === 1 ? null : (groups[above + Math.floor(random() * (start - above))] as OrganizationGroup);
      groups.push({
        externalId: `group-${String(i).padStart(5, '0')}`,
        name: `Unit ${i} of level ${level}`,
        parent: parent?.externalId ?? null,
      });
    }
  }
  return groups;
}

function underOneTop(groups: OrganizationGroup[]): OrganizationGroup[] {
  const top = { externalId: 'group-top', name: 'The whole company', parent: null };
  return [top, ...groups.map((group) => ({ ...group, parent: group.parent ?? top.externalId }))];
}

/** Returns the company after `count` users, evenly distributed, have changed their last name. */
export function renamed(company: Company, count: number, suffix: string): Company {
  const step = company.users.length / count;
  const users = [...company.users];
  for (let i = 0; i < count; i++) {
    const at = Math.floor(i * step);
    const user = users[at] as User;
    users[at] = { ...user, lastName: `${user.lastName}-${suffix}` };
  }
  return { ...company, users };
}
