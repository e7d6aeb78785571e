// What a commit compares its parts with, and how it reads each part.
import type { Settings } from '@soundings/contract/organization.ts';
import { createHash } from 'node:crypto';
import { accountById } from '../../accounts/accounts.ts';
import type { JsonValue } from '../../base/json.ts';
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
import { type PartRow, selectPartContent, selectParts } from './parts.sql.ts';
import { refuseMissingParts } from './parts.ts';
import { newSeenUsers } from './seen-users.ts';
import { readStoredPart } from './store-part.ts';

export type CommitOfPush = { run: RunStart; parts: number; settings: Settings };

/** Returns a digest of the settings and parts of a commit, as they are stored. */
export async function sentDigest(
  tx: Transaction,
  accountId: AccountId,
  { parts, settings }: CommitOfPush,
): Promise<Buffer> {
  const digest = createHash('sha256').update(`parts ${rules} ${JSON.stringify(settings)}`);
  for (let part = 1; part <= parts; part++)
    digest.update((await selectPartContent(tx, accountId, part)) ?? 'none');
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
    hasUsers: withUsers.length > 0,
    seen: newSeenUsers(withUsers.reduce((sum, { users }) => sum + (users ?? 0), 0)),
  };
}

/** A part that lists users, and how many users the parts before it list. `isChanged`: whether it has to be read again to be applied. */
export type PlacedPart = PartRow & { usersBefore: number; isChanged: boolean; digest: string };

function placed(parts: PartRow[]): PlacedPart[] {
  let usersBefore = 0;
  return parts.map((part) => {
    const one = { ...part, usersBefore, isChanged: false, digest: '' };
    usersBefore += part.users ?? 0;
    return one;
  });
}

/** Reads a part and the users that it lists. */
export async function comparePart(scene: Scene, { part, usersBefore }: PlacedPart, findings: Findings) {
  const { tx, accountId, settings, account, current, tree } = scene;
  const { users = [] } = await readStoredPart(tx, accountId, part);
  const sent: SentOrganization = {
    settings,
    data: { users },
    places: { users: new Map(users.map(({ externalId }, i) => [externalId, i])), groups: new Map() },
    partial: ['users'],
    usersBefore,
  };
  const organization = account.rolesBySync ? sent : withoutRoles(sent, findings);
  const rows = await selectUsersByExternalIds(
    tx,
    accountId,
    users.map(({ externalId }) => externalId),
  );
  const state: CurrentState = { ...current, users: rows, before: pairUsers(organization, rows) };
  const inQuestion = usersInQuestion(organization, state, tree);
  const ids = inQuestion.map((i) => state.before[i]?.id).filter((id) => id !== undefined);
  const details = await selectUserDetails(tx, accountId, ids);
  return { organization, state, inQuestion, details };
}

export type ComparedPart = Awaited<ReturnType<typeof comparePart>>;
