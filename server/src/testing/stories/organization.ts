// Changes of the organization in a story: pushes of all its groups and people after random changes.
import { apply, noLimits, person, unit } from '../organizations.ts';
import { int, type Story } from './story.ts';

type Unit = { name: string; description: string | null; parent: string | null };
/** By externalId. */
type Organization = { units: Map<string, Unit>; people: Map<string, string[]> };

const tree = {
  company: null,
  sales: 'company',
  north: 'sales',
  south: 'sales',
  tech: 'company',
  apart: null,
};

/** Pushes the first groups and people. */
export const pushFirst = (story: Story): Promise<void> =>
  push(story, {
    units: new Map(Object.entries(tree).map(([name, parent]) => [name, { name, description: null, parent }])),
    people: new Map(
      Array.from({ length: 30 }, (_, i) => [
        `p${i}`,
        someOf(story, ['north', 'south', 'tech', 'apart'], 0.4),
      ]),
    ),
  });

/** Returns one of the names, and with this probability another one. */
const someOf = ({ random }: Story, names: string[], share: number) =>
  random.shuffled(names).slice(0, random.chance(share) ? 2 : 1);

/** Renames, moves, creates and removes some groups, and moves and removes some people, in one push. */
export function pushChanged(story: Story): () => Promise<void> {
  const { random, count } = story;
  const { units, people } = organizationOf(story);
  const isWithin = (one: string | null, top: string): boolean =>
    one === top || (one !== null && isWithin(units.get(one)!.parent, top));
  const anyUnit = () => random.oneOf([...units.keys()]);
  const anyPerson = () => random.oneOf([...people.keys()]);
  const changes = {
    rename: () =>
      Object.assign(units.get(anyUnit())!, {
        name: `Group ${count}`,
        description: random.chance(0.5) ? `Text ${count}` : null,
      }),
    move: () => {
      const [moved, parent] = [anyUnit(), random.chance(0.1) ? null : anyUnit()];
      if (!isWithin(parent, moved)) units.get(moved)!.parent = parent;
    },
    create: () => units.set(`g${count}`, { name: `New ${count}`, description: null, parent: anyUnit() }),
    remove: () => {
      const [removed, { parent }] = [...units].at(int(random, 0, units.size - 1))!;
      if (units.size < 5) return;
      units.delete(removed);
      for (const one of units.values()) if (one.parent === removed) one.parent = parent;
      for (const [id, own] of people)
        people.set(
          id,
          own.filter((name) => name !== removed),
        );
    },
    moveSomeone: () => people.set(anyPerson(), someOf(story, [...units.keys()], 0.4)),
    removeSomeone: () => people.size > 12 && people.delete(anyPerson()),
  };
  for (const change of random.shuffled(Object.values(changes)).slice(0, int(random, 1, 3))) change();
  return () => push(story, { units, people });
}

function organizationOf({ groups, memberOf }: Story): Organization {
  const names = new Map(groups.map(({ id, externalId }) => [id, externalId!]));
  const units = groups.map(({ externalId, name, description, parentId }): [string, Unit] => [
    externalId!,
    { name, description, parent: parentId === null ? null : names.get(parentId)! },
  ]);
  const people = [...memberOf].map(([id, own]): [string, string[]] => [id, own.map((g) => names.get(g)!)]);
  return { units: new Map(units), people: new Map(people) };
}

async function push(story: Story, { units, people }: Organization): Promise<void> {
  const { world, account } = story;
  const lists = {
    groups: [...units].map(([id, one]) => unit(id, one)),
    users: [...people].map(([id, memberOf]) => person(id, { accessInfo: { memberOf } })),
  };
  await apply(account, lists, noLimits);
  const rows = await world.pool<{ id: number; externalId: string }[]>`
    select group_id as id, external_id as "externalId" from groups where account_id = ${account.id}`;
  const ids = new Map(rows.map(({ id, externalId }) => [externalId, id]));
  story.groups = [...units].map(([externalId, { name, description, parent }]) => {
    const parentId = parent === null ? null : ids.get(parent)!;
    return { id: ids.get(externalId)!, externalId, name, description, parentId };
  });
  story.memberOf = new Map([...people].map(([id, own]) => [id, own.map((name) => ids.get(name)!)]));
}
