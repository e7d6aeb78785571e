// The console: people, as administrators find, read and change them. Nothing here reveals whether a person has answered.
import type {
  Chosen,
  Handover,
  NewPerson,
  Person,
  PersonChanges,
} from '@soundings/contract/console/people.ts';
import { createHash } from 'node:crypto';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { notifyAdministrators, notifyPerson } from '../../accounts/account-notices.ts';
import { audit } from '../../accounts/audit.ts';
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import { revokeAccess } from '../../auth/sessions.ts';
import { deleteSessionsOf } from '../../auth/sessions.sql.ts';
import { inviteByMail, recordHandedOut } from '../../auth/sign-in-invitations.ts';
import { linkHours, createSignInLink, signInAddress } from '../../auth/sign-in-links.ts';
import { addGivenMail } from '../../auth/sign-in-links.sql.ts';
import { turnOffTwoFactor } from '../../auth/two-factor.ts';
import { changedSince, Fault, missingField } from '../../base/errors.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { noMailServer } from '../../mail/mail-faults.ts';
import { confirmAdministrator } from '../../people/administrators.ts';
import { attributesOf } from '../../people/attributes.changes.ts';
import { userNotFound } from '../../people/faults.ts';
import { adoptUser, handOver, releaseUser } from '../../people/handover.ts';
import { createSeveral } from '../../people/several.ts';
import { changeUser, createUser, removeUser } from '../../people/users.ts';
import { setSurveyEmails } from '../../rounds/messages/opt-outs.sql.ts';
import { refuseLastBreakGlass } from '../../sso/rules.ts';
import { eraseUserChanges } from '../../sync/runs.sql.ts';
import { actorOf, type Console, requireProof, type Who } from '../core/console.ts';
import { keepReleased } from '../../scim/applying/waiting-users.ts';
import { idIn, rangesOf } from '../core/ids.ts';
import {
  selectFoundIds,
  selectGroupsOfPerson,
  selectPeopleWindow,
  selectPerson,
  selectRunsOfPerson,
  sortingOf,
} from './people.sql.ts';

/** How many of the runs that changed a person are shown. */
const mostRuns = 20;

/** What the routes need: the pool, the URL of the console, whether email can be sent, and the clock, in ms. */
type PeopleDependencies = { pool: Promise<Pool>; publicUrl: string; canMail: boolean; now: () => number };

export function servePeople(console: Console, dependencies: PeopleDependencies): void {
  serveReading(console, dependencies);
  serveChanges(console, dependencies);
  serveHandover(console, dependencies);
  serveSignIn(console, dependencies);
}

function serveReading(console: Console, { pool, canMail }: PeopleDependencies): void {
  console.serve('GET /users', async ({ accountId }, { query }) => {
    const { offset, limit, ...rest } = query;
    const [filters, sorting] = sortingOf(rest);
    return selectPeopleWindow(await pool, accountId, {
      filters,
      sorting,
      offset: Number(offset),
      limit: Number(limit),
    });
  });

  console.serve('GET /users/fields', async ({ accountId }) => {
    const [account, attributes] = await Promise.all([
      accountById(await pool, accountId),
      attributesOf(await pool, accountId),
    ]);
    const { language, timezone } = account;
    const defined = [...attributes.values()].map(({ name, allowedValues }) => ({ name, allowedValues }));
    return { attributes: defined, language, timezone, canMail };
  });

  console.serve('GET /users/{userId}', async ({ accountId }, { params }) =>
    personById(await pool, accountId, idIn(params.userId)),
  );
}

/** Returns which field of an administrator would be lost; null: none, or the person stays an administrator who can sign in. */
function lostBy({ role, active, email }: PersonChanges): string | null {
  if (role !== undefined && role !== 'Administrator') return '/role';
  if (active === false) return '/active';
  return email === null ? '/email' : null;
}

function serveChanges(console: Console, { pool, canMail }: PeopleDependencies): void {
  console.serve('POST /users', async (who, { body }) => {
    const { invite = false, ...fields } = body;
    if (body.role !== 'User' || invite) requireProof(who);
    return inTransaction(await pool, async (tx) => {
      const id = await createUser(tx, who.accountId, fields as NewPerson);
      const person = await personById(tx, who.accountId, id);
      if (canMail && person.role === 'Administrator') await notifyOfAdministrator(tx, who, person);
      await audit(tx, who.accountId, actorOf(who), 'person created', { subject: id });
      if (invite) await inviteChosen(tx, who, person, canMail);
      return { id };
    });
  });

  console.serve('POST /users/several', async (who, { body }) =>
    inTransaction(await pool, async (tx) => {
      const ids = await createSeveral(tx, who.accountId, body.people);
      for (const id of ids) await audit(tx, who.accountId, actorOf(who), 'person created', { subject: id });
      return { ids };
    }),
  );

  console.serve('PATCH /users/{userId}', async (who, { params, body }) =>
    inTransaction(await pool, async (tx) => {
      const { accountId } = who;
      const userId = idIn(params.userId);
      const { invite = false, ...changes } = body as PersonChanges & { invite?: boolean };
      const before = await personById(tx, accountId, userId);
      if (invite || isDangerous(before, changes)) requireProof(who);
      const lost = lostBy(changes);
      if (lost !== null) await refuseLastBreakGlass(tx, accountId, userId, lost);
      const { fields, externalId } = await changeUser(tx, accountId, userId, changes, who.userId);
      await afterRenaming(tx, who, externalId);
      const isShutOut = fields.includes('active') && body.active === false;
      if (isShutOut) await revokeAccess(tx, accountId, [userId]);
      if (fields.length > 0) {
        await audit(tx, accountId, actorOf(who), 'person changed', { subject: userId, details: { fields } });
      }
      const person = await personById(tx, accountId, userId);
      const isPromoted = fields.includes('role') && person.role === 'Administrator';
      // New administrators are emailed a link in any case.
      if (invite && !(isPromoted && canMail)) await inviteChosen(tx, who, person, canMail);
      if (!canMail) return person;
      if (fields.includes('email')) await notifyPerson(tx, accountId, userId, 'address changed');
      if (fields.includes('role')) await notifyPerson(tx, accountId, userId, 'role changed');
      if (isShutOut) await notifyPerson(tx, accountId, userId, 'shut out');
      if (isPromoted) {
        await notifyOfAdministrator(tx, who, person);
        await mailNewPassword(tx, who, person);
      }
      return personById(tx, accountId, userId);
    }),
  );

  console.serve('DELETE /users/{userId}', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const userId = idIn(params.userId);
      if ((await personById(tx, who.accountId, userId)).role !== 'User') requireProof(who);
      await refuseLastBreakGlass(tx, who.accountId, userId);
      if (canMail) await notifyPerson(tx, who.accountId, userId, 'shut out');
      const externalId = await removeUser(tx, who.accountId, userId, who.userId);
      if (externalId !== null) await eraseUserChanges(tx, who.accountId, [externalId]);
      await audit(tx, who.accountId, actorOf(who), 'person removed', { subject: userId });
    }),
  );
}

function serveHandover(console: Console, { pool, canMail }: PeopleDependencies): void {
  console.serve('POST /users/adopt', async (who, { body }) => handOverMany(await pool, who, body, true));
  console.serve('POST /users/release', async (who, { body }) => handOverMany(await pool, who, body, false));

  console.serve('POST /users/{userId}/adopt', async (who, { params, body }) =>
    inTransaction(await pool, async (tx) => {
      const userId = idIn(params.userId);
      const renamed = await adoptUser(tx, who.accountId, userId, body.externalId, who.userId);
      await afterRenaming(tx, who, renamed);
      await audit(tx, who.accountId, actorOf(who), 'person adopted', { subject: userId });
      return personById(tx, who.accountId, userId);
    }),
  );

  console.serve('POST /users/{userId}/confirm', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const userId = idIn(params.userId);
      await confirmAdministrator(tx, who.accountId, userId);
      await audit(tx, who.accountId, actorOf(who), 'administrator confirmed', { subject: userId });
      const person = await personById(tx, who.accountId, userId);
      if (canMail) {
        await notifyOfAdministrator(tx, who, person);
        if (!person.signIn.hasPassword) await mailNewPassword(tx, who, person);
      }
      return person;
    }),
  );

  console.serve('POST /users/{userId}/release', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const userId = idIn(params.userId);
      await releaseUser(tx, who.accountId, userId);
      await keepReleased(tx, who.accountId, [userId]);
      await audit(tx, who.accountId, actorOf(who), 'person released', { subject: userId });
      return personById(tx, who.accountId, userId);
    }),
  );
}

function serveSignIn(console: Console, { pool, publicUrl, canMail, now }: PeopleDependencies): void {
  console.serve('POST /users/{userId}/sign-in-link', async (who, { params, body }) =>
    inTransaction(await pool, async (tx) => {
      const { accountId } = who;
      const userId = idIn(params.userId);
      await lockAccount(tx, accountId); // so that the role does not change in between
      const person = await personById(tx, accountId, userId);
      refuseLink(person, body.by === 'mail' && !canMail);
      const isInvited = !person.signIn.hasPassword;
      if (body.by === 'screen' && canMail) {
        refuseShownLink(person);
        await notifyPerson(tx, accountId, userId, 'link shown');
      }
      const details = { kind: 'given', by: body.by };
      await audit(tx, accountId, actorOf(who), 'sign-in link created', { subject: userId, details });
      const hours = linkHours.given;
      const until = new Date(now() + hours * 3_600_000).toISOString();
      if (body.by === 'screen') {
        const secret = await createSignInLink(tx, accountId, userId, { hours });
        if (isInvited) await recordHandedOut(tx, accountId, [userId]);
        return { link: signInAddress(secret, publicUrl), until };
      }
      if (isInvited) await inviteByMail(tx, accountId, [userId]);
      else await addGivenMail(tx, accountId, userId);
      return { link: null, until };
    }),
  );

  console.serve('DELETE /users/{userId}/survey-opt-out', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const before = await personById(tx, who.accountId, idIn(params.userId));
      if (before.surveyEmails === 'all') return before;
      await setSurveyEmails(tx, who.accountId, before.id, 'all');
      await audit(tx, who.accountId, actorOf(who), 'survey emails turned on', { subject: before.id });
      return personById(tx, who.accountId, before.id);
    }),
  );

  console.serve('DELETE /users/{userId}/sessions', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const { id: userId } = await personById(tx, who.accountId, idIn(params.userId));
      const count = await deleteSessionsOf(tx, { accountId: who.accountId, userId });
      await audit(tx, who.accountId, actorOf(who), 'sessions ended', { subject: userId, details: { count } });
    }),
  );

  console.serve('DELETE /users/{userId}/two-factor', async (who, { params }) =>
    inTransaction(await pool, async (tx) => {
      const { id: userId } = await personById(tx, who.accountId, idIn(params.userId));
      await refuseLastBreakGlass(tx, who.accountId, userId);
      if (!(await turnOffTwoFactor(tx, { accountId: who.accountId, userId }))) return;
      if (canMail) await notifyPerson(tx, who.accountId, userId, 'two-factor turned off');
      await audit(tx, who.accountId, actorOf(who), 'two-factor turned off', { subject: userId });
    }),
  );
}

/**
 * Whether a change affects a role or what comes with it: which results a person sees, whether they are active, or the address that
 * links to set a password go to. This includes the caller's own account: a person at an unlocked browser could otherwise move it to
 * their own address.
 */
function isDangerous({ role, email, active, memberships }: Person, changes: PersonChanges): boolean {
  if (changes.role !== undefined && changes.role !== role) return true;
  const isSeeing = (['adminOf', 'inheritedAdminOf', 'interestOf'] as const).some((kind) => {
    const wanted = changes.memberships?.[kind];
    const present = new Set(memberships[kind].map((group) => group.id));
    return wanted !== undefined && present.symmetricDifference(new Set(wanted)).size > 0;
  });
  if (isSeeing) return true;
  const isMoved = changes.email !== undefined && changes.email !== email;
  const isShutOut = changes.active === false && active;
  return role !== 'User' && (isMoved || isShutOut);
}

/** Throws a Fault if the person can't sign in, or can't get a link by email. `path`: the field with the address. */
function refuseLink({ active, email }: Person, isMailMissing: boolean, path?: string): void {
  if (!active) {
    throw new Fault(
      'conflict',
      'inactive person',
      'Inactive people can’t sign in. Activate the person first.',
    );
  }
  if (email === null) {
    const message = 'People sign in with their email address, and this person has none. Add one first.';
    throw missingField('conflict', path, message);
  }
  if (isMailMissing) throw noMailServer('conflict');
}

/** Administrators must not sign in as one another unnoticed, so such a link goes only to the person's own address. */
function refuseShownLink({ role }: Person): void {
  if (role !== 'Administrator') return;
  const message =
    'A link for an administrator is sent by email and not shown. If email doesn’t reach the person, your server administrator can run "soundings password set".';
  throw new Fault('conflict', 'by email only', message);
}

/** Notifies the other administrators, so that no administrator can add another one unnoticed. */
const notifyOfAdministrator = (tx: Transaction, { accountId }: Who, person: Person): Promise<void> => {
  const { id, firstName, lastName, email } = person;
  const about = `${firstName} ${lastName}${email === null ? '' : ` (${email})`}`.trim();
  return notifyAdministrators(tx, accountId, { change: 'administrator added', about }, id);
};

/** Invites a new administrator to set a password, because the old one, which others may know, has stopped working. */
async function mailNewPassword(tx: Transaction, who: Who, { id, email, active }: Person): Promise<void> {
  if (email === null || !active) return;
  const details = { kind: 'given', by: 'mail' };
  await audit(tx, who.accountId, actorOf(who), 'sign-in link created', { subject: id, details });
  await inviteByMail(tx, who.accountId, [id]);
}

/** Emails an invitation to a person that an administrator adds or gives a role. Throws a Fault if that is not possible. */
async function inviteChosen(tx: Transaction, who: Who, person: Person, canMail: boolean): Promise<void> {
  refuseLink(person, !canMail, '/email');
  if (!person.signIn.hasPassword) await mailNewPassword(tx, who, person);
}

/** After an externalId has changed, erases what old runs recorded about the person. */
async function afterRenaming(
  tx: Transaction,
  { accountId }: Who,
  { from, to }: { from: string | null; to: string | null },
): Promise<void> {
  if (from === to) return;
  if (from !== null) await eraseUserChanges(tx, accountId, [from]);
}

async function handOverMany(
  pool: Pool,
  who: Who,
  { chosen, isPreview, seen }: { chosen: Chosen; isPreview: boolean; seen?: string },
  toManaged: boolean,
): Promise<Handover> {
  const { accountId, userId } = who;
  return inTransaction(pool, async (tx) => {
    // From here on the filters keep matching the same people.
    if (!isPreview) await lockAccount(tx, accountId);
    const userIds = 'ids' in chosen ? chosen.ids : await selectFoundIds(tx, accountId, chosen.filters);
    const { changing, ...others } = await handOver(
      tx,
      accountId,
      { userIds, toManaged, by: userId },
      isPreview,
    );
    const handover = { changing: changing.length, ...others, seen: digestOf(changing) };
    if (isPreview) return handover;
    if (seen === undefined ? 'filters' in chosen : seen !== handover.seen)
      throw changedSince('The people that the selection matches have changed');
    if (!toManaged) await keepReleased(tx, accountId, changing);
    if (changing.length > 0) {
      const action: AuditAction = toManaged ? 'people adopted' : 'people released';
      // The filters are not logged: a name that was searched for must be erased together with the person.
      const details = { count: changing.length, ids: rangesOf(changing) };
      await audit(tx, accountId, actorOf(who), action, { details });
    }
    return handover;
  });
}

const digestOf = (ids: number[]): string => createHash('sha256').update(ids.join()).digest('base64url');

async function personById(db: Db, accountId: number, userId: number): Promise<Person> {
  const person = await selectPerson(db, accountId, userId);
  if (!person) throw userNotFound();
  const memberships = await selectGroupsOfPerson(db, accountId, userId);
  const runs =
    person.externalId === null ? [] : await selectRunsOfPerson(db, accountId, person.externalId, mostRuns);
  return { ...person, memberships, runs };
}
