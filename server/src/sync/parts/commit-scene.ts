// What a commit compares its parts with, and how it reads each part.
import type { Settings, User } from '@soundings/contract/organization.ts';
import { createHash } from 'node:crypto';
import { readJson } from '../../base/json/escaped-keys.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { JsonValue } from '../../base/json/json.ts';
import type { AccountId, Transaction } from '../../db/db.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import { readOrganization, type SentOrganization } from '../check.ts';
import type { CurrentState } from '../current-state.ts';
import type { Findings } from '../findings.ts';
import { pairUsers, usersInQuestion } from '../plan.ts';
import type { RunStart } from '../runs.sql.ts';
import {
  selectAdministrators,
  selectCurrentGroups,
  selectUserDetails,
  selectUsersByExternalIds,
} from '../sync.sql.ts';
import { rules } from '../repeated/repeated.ts';
import { namesOfGroups, withoutRoles } from '../sync.ts';
import { targetTreeOf } from '../target-tree.ts';
import type { KnownUsers } from './known-users.ts';
import { type PartRow, selectPartDigests, selectPartPeople, selectParts } from './parts.sql.ts';
import { refuseMissingParts } from './parts.ts';
import { peopleOfIndex } from './people-index.ts';
import { newSeenUsers } from './seen-users.ts';
import { selectUsersBefore } from './sent-people.sql.ts';
import { readUsersBefore } from './users-before.ts';
import { readStoredJson, readStoredPart } from './store-part.ts';

export type CommitOfPush = { run: RunStart; parts: number; settings: Settings };

/** Returns a digest of the settings and parts of a commit, as they are stored. */
export async function sentDigest(
  tx: Transaction,
  accountId: AccountId,
  { parts, settings }: CommitOfPush,
): Promise<Buffer> {
  const digest = createHash('sha256').update(`parts 3 ${rules} ${JSON.stringify(settings)}`);
  for (const part of await selectPartDigests(tx, accountId, parts)) digest.update(part ?? 'none');
  return digest.digest();
}

/** What a commit compares its parts with. */
export type Scene = Awaited<ReturnType<typeof openScene>>;

export async function openScene(
  tx: Transaction,
  accountId: AccountId,
  { run, parts: count, settings }: CommitOfPush,
  findings: Findings,
) {
  const parts = await selectParts(tx, accountId);
  refuseMissingParts(
    parts.map(({ part }) => part),
    count,
  );
  const account = await accountById(tx, accountId);
  const groups: JsonValue[] = [];
  for (const { part, groups: listed } of parts)
    if (listed !== null)
      groups.push(...(((await readStoredPart(tx, accountId, part)).groups ?? []) as JsonValue[]));
  const hasGroups = parts.some((part) => part.groups !== null);
  // Checks them once more, because two parts can list the same group.
  const lists = readOrganization({ data: hasGroups ? { groups } : {} }, findings) as SentOrganization;
  const current = {
    groups: await selectCurrentGroups(tx, accountId, false),
    administrators: await selectAdministrators(tx, accountId, false),
    attributes: await attributesOf(tx, accountId),
  };
  const withUsers = parts.filter((part) => part.users !== null);
  const listed = withUsers.reduce((sum, { users }) => sum + (users ?? 0), 0);
  // The indexes of the parts have fingerprints with the role and without the language.
  const canUseIndexes = account.rolesBySync && settings.forceSetLanguage !== true && listed > 0;
  const before =
    withUsers.length > 0
      ? await readUsersBefore(selectUsersBefore(tx, accountId), canUseIndexes ? listed : undefined)
      : undefined;
  return {
    tx,
    accountId,
    runId: run.id,
    settings,
    account,
    lists: { ...lists, settings },
    current,
    tree: targetTreeOf(lists, current.groups),
    groupNames: namesOfGroups(current, lists),
    parts: placed(withUsers),
    /** Undefined: no part lists users. */
    before,
    seen: newSeenUsers(listed),
  };
}

/** A part that lists users, and how many users the parts before it list. `digest`: of its plan; empty if no one in it may have changed. */
export type PlacedPart = PartRow & { usersBefore: number; digest: string };

function placed(parts: PartRow[]): PlacedPart[] {
  let usersBefore = 0;
  return parts.map((part) => {
    const one = { ...part, usersBefore, digest: '' };
    usersBefore += part.users ?? 0;
    return one;
  });
}

/** Notes a listed user whose data is as last sent, and who is not returned with the part. */
type NoteUnchanged = (id: number, place: number, isEmailSent: boolean) => void;

/**
 * Reads a part and the users that it lists. If it has an index, only those who are new or may have changed, and administrators: all others
 * are given to `note`.
 */
export async function comparePart(
  scene: Scene,
  placedPart: PlacedPart,
  findings: Findings,
  note: NoteUnchanged,
): Promise<ComparedPart> {
  const { tx, accountId, account, before, tree } = scene;
  const { part, usersBefore } = placedPart;
  const people = before?.known && (await selectPartPeople(tx, accountId, part));
  const index = people && peopleOfIndex(people, (name) => tree.targets.get(name)?.id ?? null);
  if (index) return compareIndexed(scene, placedPart, index, note);
  const { users = [] } = await readStoredPart(tx, accountId, part);
  const sent = listOf(scene, users, (i) => usersBefore + i);
  return compare(scene, account.rolesBySync ? sent : withoutRoles(sent, findings), users.length);
}

async function compareIndexed(
  scene: Scene,
  { part, usersBefore }: PlacedPart,
  { count, next }: NonNullable<ReturnType<typeof peopleOfIndex>>,
  note: NoteUnchanged,
): Promise<ComparedPart> {
  const { tx, accountId, current } = scene;
  const known = scene.before?.known as KnownUsers;
  const administrators = new Set(current.administrators.map(({ id }) => id));
  const chosen: { place: number; from: number; to: number }[] = [];
  for (let i = 0; i < count; i++) {
    const person = next();
    const id = known.unchanged(person);
    if (id === undefined || administrators.has(id))
      chosen.push({ place: usersBefore + i, from: person.from, to: person.to });
    else note(id, usersBefore + i, person.isEmailSent);
  }
  const json = chosen.length > 0 ? await readStoredJson(tx, accountId, part) : Buffer.alloc(0);
  const users = chosen.map(({ from, to }) => readJson(json.toString('utf8', from, to)) as User);
  return compare(
    scene,
    listOf(scene, users, (i) => (chosen[i] as { place: number }).place),
    count,
  );
}

const listOf = ({ settings }: Scene, users: User[], positions: (i: number) => number): SentOrganization => ({
  settings,
  data: { users },
  places: { users: new Map(users.map(({ externalId }, i) => [externalId, i])), groups: new Map() },
  partial: ['users'],
  positions,
});

/** Reads the current users of a list. `count`: how many users the part lists. */
async function compare(scene: Scene, organization: SentOrganization, count: number) {
  const { tx, accountId, current, tree } = scene;
  const users = organization.data.users as User[];
  const rows = await selectUsersByExternalIds(
    tx,
    accountId,
    users.map(({ externalId }) => externalId),
  );
  const state: CurrentState = { ...current, users: rows, before: pairUsers(organization, rows) };
  const inQuestion = usersInQuestion(organization, state, tree);
  const ids = inQuestion.map((i) => state.before[i]?.id).filter((id) => id !== undefined);
  const details = await selectUserDetails(tx, accountId, ids);
  return { organization, state, inQuestion, details, others: count - users.length };
}

/** `others`: how many further users the part lists, whose data is as last sent. */
export type ComparedPart = Awaited<ReturnType<typeof compare>>;
