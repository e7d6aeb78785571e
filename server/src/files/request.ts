// The organization request of a file: its users and groups, completed with the current values of the account.
import type { Settings } from '@soundings/contract/organization.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import type { JsonObject, JsonValue } from '../base/json/json.ts';
import type { Transaction } from '../db/db.ts';
import { finderOf, withGroupIds } from '../layout/group-names.ts';
import type { LaidOutFile } from '../layout/layout.ts';
import type { Findings } from '../sync/findings.ts';
import type { SentByFile } from '../sync/sync.ts';
import { selectGroupsForFile, selectKnownPeople, selectOwnedGroups } from './process.sql.ts';

/** Returns the settings of a file's request. */
export const settingsOf = (account: Account): Settings => ({
  validateOnly: !account.applyFiles,
  maxUsersCreated: account.maxUsersCreated,
  maxUsersUpdated: account.maxUsersUpdated,
  maxUsersDeleted: account.maxUsersDeleted,
  maxGroupsCreated: account.maxGroupsCreated,
  maxGroupsUpdated: account.maxGroupsUpdated,
  maxGroupsDeleted: account.maxGroupsDeleted,
});

/** Returns the organization request for a file. Empty cells are filled with the current values of existing people and groups. */
export async function requestOf(
  tx: Transaction,
  account: Account,
  laidOut: LaidOutFile,
  findings: Findings,
): Promise<SentByFile> {
  const partial = new Set<'users' | 'groups'>(account.filesPartial ? ['users', 'groups'] : []);
  const existing = await selectGroupsForFile(tx, account.id);
  const naming = {
    groups: existing,
    isWhole: !account.filesPartial,
    hasNamesOnly: laidOut.hasGroupNamesOnly,
  };
  const { users: listed, groups } = withGroupIds(laidOut.data, naming, findings);
  const sent: LaidOutFile['data'] = {};
  const stays = (id: string) =>
    !groups || account.filesPartial || groups.some(({ externalId }) => externalId === id);
  const users = listed && (await withKeptGroups(tx, account, listed, laidOut, stays));
  if (users) sent.users = await completed(tx, account, users, laidOut, findings);
  if (groups) {
    const names = new Map(existing.map(({ externalId, name }) => [externalId, name]));
    sent.groups = groups.map((group) => {
      const name = names.get(String(group['externalId']));
      return name === undefined ? group : { name, ...group };
    });
  } else if (account.createGroupsFromUsers) {
    const find = finderOf(existing);
    const missing = [...laidOut.named].filter(([externalId]) => find(externalId).length === 0);
    if (missing.length > 0) {
      sent.groups = missing.map(([externalId, { name }]) => ({ externalId, name }));
      partial.add('groups'); // The file does not list the existing groups, so they stay.
    }
  }
  return { settings: settingsOf(account), data: sent as SentByFile['data'], partial: [...partial] };
}

/** Returns the users, with the current groups of those who keep them (`usersKeepingGroups`), except groups that are removed. */
async function withKeptGroups(
  tx: Transaction,
  { id }: Account,
  users: NonNullable<LaidOutFile['data']['users']>,
  laidOut: LaidOutFile,
  stays: (externalId: string) => boolean,
): Promise<NonNullable<LaidOutFile['data']['users']>> {
  if (laidOut.usersKeepingGroups.size === 0) return users;
  const owned = new Map((await selectOwnedGroups(tx, id)).map((one) => [one.externalId, one.groups]));
  return users.map((user, i) => {
    const access = user['accessInfo'] as { adminOf?: string[] } | undefined;
    if (!laidOut.usersKeepingGroups.has(i) || !access?.adminOf) return user;
    const kept = (owned.get(String(user['externalId'])) ?? []).filter(stays);
    return { ...user, accessInfo: { ...access, adminOf: [...new Set([...access.adminOf, ...kept])] } };
  });
}

/** Returns the users, with the current values of existing people in place of empty cells. */
async function completed(
  tx: Transaction,
  account: Account,
  users: NonNullable<LaidOutFile['data']['users']>,
  { inferredRoles, unknownStatus }: LaidOutFile,
  findings: Findings,
): Promise<NonNullable<LaidOutFile['data']['users']>> {
  const people = await selectKnownPeople(tx, account.id);
  const existing = new Map(people.map((person) => [person.externalId, person]));
  warnOfNoGroup(users, (id) => existing.has(id), findings);
  return users.map((user, i) => {
    const before = existing.get(String(user['externalId']));
    // The unknown status may mean that the person has left, so new people start inactive and get no surveys by mistake.
    if (!before) return unknownStatus.has(i) ? { ...user, active: false } : user;
    const { firstName, lastName, active, timezone, role } = before;
    const whole = { firstName, lastName, active, ...(timezone !== null && { timezone }), ...user };
    if (!inferredRoles.has(i)) return whole;
    const { role: inferred, adminOf, ...access } = (user['accessInfo'] ?? {}) as JsonObject;
    // A partial file may list only some of the people with managers, so it removes no roles.
    if (account.filesPartial) return { ...whole, accessInfo: access };
    // Managers get the Manager role, but Administrators keep theirs. Auditors who manage no one keep theirs too, because files
    // can't express that role. Without a role in the request, the current one stays.
    const stays = role === 'Administrator' ? role : (inferred as JsonValue);
    const isKept = role === 'Auditor' && inferred === 'User';
    const wanted = { ...(!isKept && { role: stays }), ...(adminOf !== undefined && { adminOf }) };
    return { ...whole, accessInfo: { ...access, ...wanted } };
  });
}

/** Warns once about new people without a group: perhaps the column of groups was not recognized. */
function warnOfNoGroup(
  users: NonNullable<LaidOutFile['data']['users']>,
  isKnown: (externalId: string) => boolean,
  findings: Findings,
): void {
  const alone = [...users.entries()].filter(([, user]) => {
    const { memberOf } = (user['accessInfo'] ?? {}) as { memberOf?: string[] };
    return !isKnown(String(user['externalId'])) && (memberOf ?? []).length === 0;
  });
  const [first] = alone;
  if (!first) return;
  const message =
    `${alone.length === 1 ? '1 new person does' : `${alone.length.toLocaleString('en')} new people do`} not belong to a group. ` +
    'Enter their groups in a column with the Department header.';
  findings.warn({ type: 'no group', message, path: `/data/users/${first[0]}/accessInfo/memberOf` });
}
