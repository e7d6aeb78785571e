// The pulls of an account: lists that the service fetches itself. Only administrators change them, and each change is in the audit log.
import { maxPulls } from '@soundings/contract/pulls/pull-values.ts';
import type { PullSummary, PullView } from '@soundings/contract/pulls/pulls.ts';
import { isDeepStrictEqual } from 'node:util';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { Fault, faultAtField, missingField } from '../base/errors.ts';
import { enteredUrl } from '../base/outgoing/entered-url.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { checkedAccess, checkSecret, originsOf } from './access.ts';
import {
  addPullJob,
  countPulls,
  deletePull,
  type Entered,
  insertPull,
  nextPullId,
  selectFetches,
  selectLastFetches,
  selectNextTime,
  selectOverlapping,
  selectPulls,
  type StoredPull,
  type Times,
  updatePull,
  updateWanted,
} from './pulls.sql.ts';
import { sealPullSecret } from './secrets.ts';

/** What changes of pulls need: who makes them and when, what seals secrets, and the private networks that requests can reach. */
export type PullChanging = {
  actor: Extract<Actor, { origin: 'console' }>;
  secrets: Sealer;
  networks: readonly string[];
  now: number;
};

/** How many attempts the page of a pull shows. */
const shownFetches = 50;

/** Returns the pulls of an account with their last attempts. */
export async function pullsOf(db: Db, accountId: AccountId): Promise<PullSummary[]> {
  const [pulls, fetches] = [await selectPulls(db, accountId), await selectLastFetches(db, accountId)];
  const last = new Map(fetches.map(({ pullId, ...one }) => [pullId, one]));
  return pulls.map((pull) => {
    const { id, name, source, url, isOn, repeat, hour, weekday, nextAt, failingSince, isUnderWay } = pull;
    const times = { isOn, repeat, hour, weekday, nextAt, failingSince, isUnderWay };
    return { id, name, source, url, ...times, last: last.get(id) ?? null };
  });
}

async function storedPull(db: Db, accountId: AccountId, pullId: number): Promise<StoredPull> {
  const [pull] = await selectPulls(db, accountId, pullId);
  if (!pull) throw pullNotFound();
  return pull;
}

/** Returns a pull with its last attempts. Throws a Fault if the account has none with this id. */
export async function pullById(db: Db, accountId: AccountId, pullId: number): Promise<PullView> {
  const { secret: _, ...pull } = await storedPull(db, accountId, pullId);
  const fetches = await selectFetches(db, accountId, pullId, shownFetches);
  return { ...pull, last: fetches[0] ?? null, fetches };
}

/** Creates a pull, which is off, and asks for a dry run. Returns its id. */
export async function createPull(
  tx: Transaction,
  accountId: AccountId,
  { secret, ...values }: Entered & { secret?: string },
  { actor, secrets, networks, now }: PullChanging,
): Promise<number> {
  const entered = checked(values, networks);
  await lockAccount(tx, accountId);
  if ((await countPulls(tx, accountId)) >= maxPulls) throw tooManyPulls();
  const id = await nextPullId(tx);
  const sealed = await sealedSecret(secrets, { accountId, pullId: id, ...entered }, secret);
  await insertPull(tx, accountId, { ...entered, id, secret: sealed, createdBy: actor.userId });
  await audit(tx, accountId, actor, 'pull created', { subject: id, details: about(entered) });
  await updateWanted(tx, accountId, id, { wanted: 'dryRun', userId: actor.userId, now });
  await addPullJob(tx);
  return id;
}

/**
 * Changes a pull, or turns it on or off. Throws a Fault if its secret would go to another origin, because the administrator who chooses the
 * address must know the secret, and if it is turned on before its list has been read.
 */
export async function changePull(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
  { secret, isOn, ...changes }: Partial<Entered & { secret: string; isOn: boolean }>,
  { actor, secrets, networks, now }: PullChanging,
): Promise<void> {
  await lockAccount(tx, accountId);
  const before = await storedPull(tx, accountId, pullId);
  const { name, source, url, list, access, repeat, hour, weekday } = before;
  const previous = { name, source, url, list, access, repeat, hour, weekday };
  const after = checked({ ...previous, ...changes }, networks);
  const place = { accountId, pullId, ...after };
  const isKept = secret === undefined && after.access.kind === access.kind && access.kind !== 'none';
  if (isKept && originsOf(after) !== originsOf(previous))
    throw secretRequired(
      'The stored secret is not sent to another host. Enter it again, or enter the secret of the new host.',
    );
  const stored = isKept ? before.secret : await sealedSecret(secrets, place, secret);
  const isOtherList = after.url !== url || after.list !== list;
  // With another secret, the list may be another one.
  const isOtherSecret = secret !== undefined && stored !== null;
  const isOther = isOtherList || isOtherSecret || !isDeepStrictEqual(after.access, { ...access });
  const willBeOn = isOther ? false : (isOn ?? before.isOn);
  if (isOn === true && (isOther || !before.isTried)) throw notTried();
  if (isOn === true && !before.isOn) await refuseOverlap(tx, accountId, pullId);
  const next = willBeOn ? await nextTimeOf(tx, accountId, { before, after }, now) : {};
  const state = { secret: stored, isOn: willBeOn, isOther, isOtherList, ...next };
  await updatePull(tx, accountId, pullId, { ...after, ...state });
  const turned = willBeOn === before.isOn ? {} : { isOn: willBeOn };
  const replaced = secret === undefined ? {} : { isSecretReplaced: true };
  const details = { ...about(after), ...turned, ...replaced };
  await audit(tx, accountId, actor, 'pull changed', { subject: pullId, details });
}

/**
 * Returns when a pull that is on is fetched next: as before, unless it was off or its times are others. `isSoonest`: it is overdue, or will be
 * tried again after a failure, and that stays as it is.
 */
async function nextTimeOf(
  tx: Transaction,
  accountId: AccountId,
  { before, after }: { before: StoredPull; after: Times },
  now: number,
): Promise<{ nextAt?: number; isSoonest?: boolean }> {
  const names = ['repeat', 'hour', 'weekday'] as const;
  if (before.nextAt !== null && names.every((name) => before[name] === after[name])) return {};
  const nextAt = await selectNextTime(tx, accountId, after, now);
  if (before.nextAt === null) return { nextAt };
  const regular = await selectNextTime(tx, accountId, before, now);
  return { nextAt, isSoonest: Date.parse(before.nextAt) < regular };
}

/** Removes a pull with its attempts. The files that it has fetched stay. */
export async function removePull(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
  actor: Actor,
): Promise<void> {
  const url = await deletePull(tx, accountId, pullId);
  if (url === undefined) throw pullNotFound();
  const { host } = new URL(url);
  await audit(tx, accountId, actor, 'pull removed', { subject: pullId, details: { host } });
}

/** Asks for the list of a pull, which is then fetched as soon as possible. Throws a Fault if it is to be applied before a dry run. */
export async function requestFetch(
  tx: Transaction,
  accountId: AccountId,
  pullId: number,
  { isDryRun }: { isDryRun: boolean },
  { actor, now }: Pick<PullChanging, 'actor' | 'now'>,
): Promise<void> {
  await lockAccount(tx, accountId); // the address must not change in between
  const { isTried } = await storedPull(tx, accountId, pullId);
  if (!isDryRun && !isTried) throw notTried();
  if (!isDryRun) await refuseOverlap(tx, accountId, pullId);
  const wanted = isDryRun ? ('dryRun' as const) : ('fetch' as const);
  await updateWanted(tx, accountId, pullId, { wanted, userId: actor.userId, now });
  await audit(tx, accountId, actor, 'pull requested', { subject: pullId, details: { isDryRun } });
  await addPullJob(tx);
}

/** Throws a Fault if another pull of people is on, so that the two would remove each other's people. */
async function refuseOverlap(tx: Transaction, accountId: AccountId, pullId: number): Promise<void> {
  const name = await selectOverlapping(tx, accountId, pullId);
  if (name === undefined) return;
  const message =
    `The pull ${quote(name)} is on and lists people too. Each list is complete, so each of the two would remove the people of the other. ` +
    'Turn that one off first, fetch one list with everyone, or turn on "Files only add and update" in the settings.';
  throw new Fault('conflict', 'pulls overlap', message);
}

/** Returns what was entered in its stored form. Throws a Fault for the first invalid field. */
function checked(entered: Entered, networks: readonly string[]): Entered {
  const name = entered.name.trim();
  if (name === '') throw missingField('invalid', '/name');
  const { href: url } = enteredUrl(entered.url, networks, {
    path: '/url',
    example: 'https://hr.example.com/report.json',
  });
  const access = checkedAccess(entered.access, networks);
  return { ...entered, name, url, list: entered.list.trim(), access };
}

/** Returns a secret sealed; null if none is needed. Throws a Fault if it is missing or can't be sent. */
async function sealedSecret(
  secrets: Sealer,
  place: Parameters<typeof sealPullSecret>[1],
  secret: string | undefined,
): Promise<Buffer | null> {
  if (place.access.kind === 'none') return null;
  if (secret === undefined) throw secretRequired('This field is required.');
  checkSecret(place.access, secret);
  return sealPullSecret(secrets, place, secret);
}

/** What the audit log says about a pull: neither its whole address, which can have a key in it, nor a secret. */
const about = ({ name, url, access, repeat }: Entered) => ({
  name,
  host: new URL(url).host,
  access: access.kind,
  repeat,
});

const secretRequired = (message: string) => faultAtField('invalid', 'secret required', '/secret', message);

const pullNotFound = () =>
  new Fault('not_found', 'pull not found', 'This pull does not exist. It may have been removed.');

const notTried = () =>
  new Fault(
    'conflict',
    'pull not tried',
    'The list has not been read without errors since the address, the access or the secret was changed. Do a dry run first.',
  );

const tooManyPulls = () =>
  new Fault('conflict', 'too many pulls', `An account can have at most ${maxPulls} pulls. Remove one first.`);
