// Checks a part of a push and stores it. A part with an error is not stored, so a commit has only to check what depends on the account or on
// several parts.
import {
  maxBytesOfPush,
  maxGroupsOfPush,
  maxOrganizationBodyBytes,
  maxPartBytes,
  maxPartEntries,
  maxUsersOfPush,
} from '@soundings/contract/limits.ts';
import type { Organization } from '@soundings/contract/organization.ts';
import type { PartReceipt } from '@soundings/contract/people/push-parts.ts';
import { readJson } from '../../base/json/escaped-keys.ts';
import { accountById } from '../../accounts/accounts.ts';
import { randomSeed } from '../../base/crypto/digest.ts';
import { isJsonObject, type JsonValue } from '../../base/json/json.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { readOrganization, type SentOrganization } from '../check.ts';
import { type Findings, newFindings } from '../findings.ts';
import { jsonOf, type SentBody, tooLargeFault } from '../texts/parse.ts';
import { requestFaultOf } from '../run-end.ts';
import { lockOpenPush, partsMissing } from './parts.ts';
import { limitLockWait, type PartRow, selectPartContent, selectParts, upsertPart } from './parts.sql.ts';
import { userCountOf, indexOfLists, readByTexts, type ReadLists, readParsed } from '../texts/read-lists.ts';
import { selectTexts } from '../texts/sent-texts.sql.ts';
import { knownTextsOf } from './people-index.ts';
import { compressFast, decompressFast } from './zstd.ts';

/** Stores a part of a push in place of an earlier one with this number. Throws a Fault if it has errors or is too large. */
export async function storePart(
  pool: Pool,
  accountId: AccountId,
  { pushId, part }: { pushId: string; part: number },
  body: SentBody,
): Promise<PartReceipt> {
  const findings = newFindings();
  const json = await jsonOf(body, maxPartBytes, findings);
  const index = json && (await selectTexts(pool, accountId, part));
  const lists =
    json &&
    (readByTexts(json, index && knownTextsOf(index), readPart) ?? readParsed(json, readPart, findings));
  if (!lists || findings.faultCount() > 0) throw requestFaultOf(findings);
  const { users, groups } = lists.organization.data;
  const counts = { users: users ? userCountOf(lists) : null, groups: groups?.length ?? null };
  if ((counts.users ?? 0) + (counts.groups ?? 0) > maxPartEntries)
    throw tooLargeFault(
      `A part can list at most ${maxPartEntries} users and groups. Split it into several parts.`,
    );
  const { json: text, bytes, people } = storedJson(lists);
  const content = await compressFast(text);
  await inTransaction(pool, async (tx) => {
    await limitLockWait(tx); // a thread's connections wait longer, and a part must not occupy one for as long as a commit takes
    await lockOpenPush(tx, accountId, pushId);
    const row = { part, ...counts, bytes };
    await refuseTooMuch(tx, accountId, row);
    await upsertPart(tx, accountId, { ...row, content, people });
  });
  return { part, ...counts, warnings: findings.warnings() };
}

/**
 * Returns the JSON of the lists as it is stored, with the texts of users as they were sent, and the index of the users; null if there are none.
 * `bytes`: how long the JSON would be if the service had written all of it.
 */
function storedJson(lists: ReadLists): { json: Buffer; bytes: number; people: Buffer | null } {
  const { users, groups } = lists.organization.data;
  if (!users) {
    const json = Buffer.from(JSON.stringify({ groups }));
    return { json, bytes: json.length, people: null };
  }
  const start = Buffer.from(groups ? `{"groups":${JSON.stringify(groups)},"users":[` : '{"users":[');
  const { index, stored } = indexOfLists(lists, { isStored: true, seed: randomSeed(), start: start.length });
  const end = Buffer.from(']}');
  const json = Buffer.concat([start, ...stored.chunks, end]);
  const bytes = start.length + stored.canonical + end.length;
  return { json, bytes, people: index };
}

/** Reads a part like a request without settings. */
function readPart(value: JsonValue, findings: Findings): SentOrganization | undefined {
  if (isJsonObject(value) && Object.hasOwn(value, 'settings')) {
    findings.fault({
      type: 'unknown field',
      message: 'A part has no settings. Send them with the commit.',
      path: '/settings',
    });
    return undefined;
  }
  return readOrganization(value, findings);
}

/** Throws a Fault if the parts together would be larger than allowed. */
async function refuseTooMuch(tx: Transaction, accountId: AccountId, added: PartRow): Promise<void> {
  const { largestPush } = await accountById(tx, accountId);
  const parts = [...(await selectParts(tx, accountId)).filter(({ part }) => part !== added.part), added];
  const sum = (of: (part: PartRow) => number | null) =>
    parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const most = maxBytesOfPush(largestPush);
  const inMb = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  if (sum(({ users }) => users) > maxUsersOfPush)
    throw tooLargeFault(`The parts of a push can list at most ${maxUsersOfPush} users.`);
  if (sum(({ groups }) => groups) > maxGroupsOfPush)
    throw tooLargeFault(`The parts of a push can list at most ${maxGroupsOfPush} groups.`);
  // Groups are compared together.
  if (sum(({ groups, bytes }) => (groups === null ? 0 : bytes)) > maxOrganizationBodyBytes)
    throw tooLargeFault(
      `The parts that list groups can have at most ${inMb(maxOrganizationBodyBytes)} MB together. Send users in other parts.`,
    );
  if (sum(({ bytes }) => bytes) > most)
    throw tooLargeFault(
      `The parts of a push can have at most ${inMb(most)} MB together in this account. The operator can allow more, with soundings account set --largest-push.`,
    );
}

/** Returns the lists of a part. Throws a Fault if the part is gone. */
export const readStoredPart = async (
  tx: Transaction,
  accountId: AccountId,
  part: number,
): Promise<Organization['data']> =>
  readJson((await readStoredJson(tx, accountId, part)).toString()) as Organization['data'];

/** Returns the lists of a part as JSON. Throws a Fault if the part is gone. */
export async function readStoredJson(tx: Transaction, accountId: AccountId, part: number): Promise<Buffer> {
  const content = await selectPartContent(tx, accountId, part);
  if (!content) throw partsMissing(`part ${part} is no longer stored. Send all parts again.`);
  return decompressFast(content);
}
