// Groups that a file names by their names and not by their externalIds: each is the only one with that name, or a fault. Pure.
import { membershipKinds } from '@soundings/contract/words.ts';
import type { JsonValue } from '../base/json.ts';
import { quote } from '../base/text.ts';
import type { Findings } from '../sync/findings.ts';
import { wordOf } from './values.ts';

type JsonObject = { [key: string]: JsonValue };
type Data = { users?: JsonObject[]; groups?: JsonObject[] };

/** A group that is there. */
export type KnownGroup = { externalId: string; name: string; managed: boolean };

/** What is known of the groups of an account, and what a file says of its own. */
export type Naming = {
  groups: readonly KnownGroup[];
  /** Whether the file is the whole list of groups, so that others are removed. */
  isWhole: boolean;
  /** Whether the groups of the file have no ids but their names. */
  hasNamesOnly: boolean;
};

/** As many groups as the report names. */
const mostNamed = 10;

type Renamed = { places: string[]; names: Map<string, string> };

/**
 * Returns the data with the externalIds of groups in place of their names. What is an externalId stays, and so does what is
 * neither. One warning says which groups were found by their names; a name that several groups have is a fault.
 */
export function withGroupIds(data: Data, naming: Naming, findings: Findings): Data {
  const renamed: Renamed = { places: [], names: new Map() };
  const held = finderOf(naming.groups);
  const managed = finderOf(naming.groups.filter((group) => group.managed));
  const replace = (find: Find, value: JsonValue | undefined, path: string): string => {
    const text = String(value);
    const found = find(text);
    if (found.length === 1 && found[0] !== text) {
      renamed.places.push(path);
      renamed.names.set(text, found[0] as string);
    } else if (found.length > 1) findings.fault(() => ambiguous(text, found, path));
    return found[0] ?? text; // of an ambiguous name the first, so that it is one fault and not two
  };
  const groups = data.groups?.map((group, i) =>
    naming.hasNamesOnly && held(String(group['externalId']))[0] !== group['externalId']
      ? { ...group, externalId: replace(managed, group['externalId'], `/data/groups/${i}/externalId`) }
      : group,
  );
  const names = new Map(naming.groups.map(({ externalId, name }) => [externalId, name]));
  const own = (groups ?? []).map(({ externalId, name }) => ({
    externalId: String(externalId),
    name: String(name ?? names.get(String(externalId)) ?? ''),
  }));
  const listed = new Set(own.map(({ externalId }) => externalId));
  const others = naming.groups.filter(
    (group) => !listed.has(group.externalId) && !(groups && naming.isWhole && group.managed),
  );
  const find = finderOf([...own, ...others]);
  const children = groups?.map((group, i) =>
    typeof group['parent'] === 'string'
      ? { ...group, parent: replace(find, group['parent'], `/data/groups/${i}/parent`) }
      : group,
  );
  const users = data.users?.map((user, i) => withIdsIn(user, `/data/users/${i}`, find, replace));
  const [first] = renamed.places;
  if (first !== undefined) findings.warn({ type: 'group by name', message: told(renamed), path: first });
  return { ...data, ...(children && { groups: children }), ...(users && { users }) };
}

function withIdsIn(
  user: JsonObject,
  path: string,
  find: Find,
  replace: (find: Find, value: JsonValue | undefined, path: string) => string,
): JsonObject {
  const access = user['accessInfo'] as JsonObject | undefined;
  if (!access) return user;
  const lists = membershipKinds.flatMap((kind) => {
    const list = access[kind];
    if (!Array.isArray(list)) return [];
    return [[kind, list.map((one, j) => replace(find, one, `${path}/accessInfo/${kind}/${j}`))] as const];
  });
  return { ...user, accessInfo: { ...access, ...Object.fromEntries(lists) } };
}

/** The externalIds that a text can mean: itself, where it is one; else those of the groups with that name. */
type Find = (text: string) => string[];

export function finderOf(groups: readonly { externalId: string; name: string }[]): Find {
  const ids = new Set(groups.map(({ externalId }) => externalId));
  const byName = Map.groupBy(groups, ({ name }) => wordOf(name));
  return (text) =>
    ids.has(text) ? [text] : (byName.get(wordOf(text)) ?? []).map(({ externalId }) => externalId);
}

function ambiguous(name: string, ids: string[], path: string) {
  const listed = ids.slice(0, mostNamed).map((id) => quote(id));
  const more = ids.length > listed.length ? ', …' : '';
  const message =
    `${quote(name)} is the name of ${ids.length} groups, with the externalIds ${listed.join(', ')}${more}. Write the ` +
    'externalId of the group that is meant.';
  return { type: 'ambiguous name' as const, message, path };
}

function told({ places, names }: Renamed): string {
  const listed = [...names].slice(0, mostNamed).map(([name, id]) => `${quote(name)} is ${quote(id)}`);
  const rest = names.size - listed.length;
  const more = rest > 0 ? `, and ${rest.toLocaleString('en')} more` : '';
  const cells = `${places.length.toLocaleString('en')} ${places.length === 1 ? 'cell names a group' : 'cells name groups'}`;
  return `${cells} by name and not by externalId, and each name is that of one group only: ${listed.join(', ')}${more}.`;
}
