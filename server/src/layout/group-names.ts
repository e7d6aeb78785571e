// Resolves groups that a file gives by name instead of externalId. A name that several groups have is an error. Pure.
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { JsonObject, JsonValue } from '../base/json/json.ts';
import { quote } from '../base/text.ts';
import type { Findings } from '../sync/findings.ts';
import { valueKey } from './values.ts';

type Data = { users?: JsonObject[]; groups?: JsonObject[] };

/** An existing group. */
export type KnownGroup = { externalId: string; name: string; managed: boolean };

/** The groups of an account, and facts about the groups in a file. */
export type Naming = {
  groups: readonly KnownGroup[];
  /** Whether the file contains all groups, so that any others are removed. */
  isWhole: boolean;
  /** Whether the groups in the file have names but no ids. */
  hasNamesOnly: boolean;
};

/** The maximum number of groups that a message lists. */
const maxListed = 10;

type Renamed = { places: string[]; names: Map<string, string> };

/**
 * Returns the data with names of groups replaced by externalIds. ExternalIds and unknown names stay. Adds one warning that lists
 * the groups found by name, and an error for each name that several groups have.
 */
export function withGroupIds(data: Data, naming: Naming, findings: Findings): Data {
  const renamed: Renamed = { places: [], names: new Map() };
  const existing = finderOf(naming.groups);
  const managed = finderOf(naming.groups.filter((group) => group.managed));
  const replace = (find: Find, value: JsonValue | undefined, path: string): string => {
    const text = String(value);
    const found = find(text);
    if (found.length === 1 && found[0] !== text) {
      renamed.places.push(path);
      renamed.names.set(text, found[0] as string);
    } else if (found.length > 1) findings.fault(() => ambiguous(text, found, path));
    return found[0] ?? text; // Uses the first match of an ambiguous name, so that there is no second error.
  };
  const groups = data.groups?.map((group, i) =>
    naming.hasNamesOnly && existing(String(group['externalId']))[0] !== group['externalId']
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
  if (first !== undefined) findings.warn({ type: 'group by name', message: byName(renamed), path: first });
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

/** Returns the externalIds that a text can mean: the text itself if it is one, or else those of the groups with that name. */
type Find = (text: string) => string[];

export function finderOf(groups: readonly { externalId: string; name: string }[]): Find {
  const ids = new Set(groups.map(({ externalId }) => externalId));
  const named = Map.groupBy(groups, ({ name }) => valueKey(name));
  return (text) =>
    ids.has(text) ? [text] : (named.get(valueKey(text)) ?? []).map(({ externalId }) => externalId);
}

function ambiguous(name: string, ids: string[], path: string) {
  const listed = ids.slice(0, maxListed).map((id) => quote(id));
  const more = ids.length > listed.length ? ', …' : '';
  const message =
    `${ids.length} groups are named ${quote(name)}. Enter the ID of the right one instead: ` +
    `${listed.join(', ')}${more}.`;
  return { type: 'ambiguous name' as const, message, path };
}

function byName({ places, names }: Renamed): string {
  const listed = [...names].slice(0, maxListed).map(([name, id]) => `${quote(name)} is ${quote(id)}`);
  const rest = names.size - listed.length;
  const more = rest > 0 ? `, and ${rest.toLocaleString('en')} more` : '';
  const cells = `${places.length.toLocaleString('en')} ${places.length === 1 ? 'cell contains a group name' : 'cells contain group names'}`;
  return `${cells} instead of IDs. Each name matches exactly one group: ${listed.join(', ')}${more}.`;
}
