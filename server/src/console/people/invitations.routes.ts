// The console: inviting many people to sign in with one request, by email or, where the installation sends none, with a sheet of links.
import type { Chosen, InvitedPerson, Invitations } from '@soundings/contract/console/people.ts';
import { createHash } from 'node:crypto';
import { lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import {
  inviteByMail,
  inviteBySheet,
  type InvitationPlan,
  type InvitationWay,
  planInvitations,
} from '../../auth/sign-in-invitations.ts';
import type { Invitee } from '../../auth/sign-in-invitations.sql.ts';
import { linkHours } from '../../auth/sign-in-links.ts';
import { csvRow } from '../../base/csv.ts';
import { changedSince } from '../../base/errors.ts';
import { inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { actorOf, type Console, requireProof, type Who } from '../core/console.ts';
import { rangesOf } from '../core/ids.ts';
import { selectFoundIds } from './people.sql.ts';

/** How many people are listed by name. */
const mostListed = 200;

/** How long a link works, in ms. */
const linkMs = linkHours.given * 3_600_000;

/** `now`: the clock, in ms. */
type InvitationDependencies = { pool: Promise<Pool>; publicUrl: string; canMail: boolean; now: () => number };

export function serveInvitations(
  console: Console,
  { pool, publicUrl, canMail, now }: InvitationDependencies,
): void {
  const way: InvitationWay = canMail ? 'mail' : 'sheet';
  console.serve('POST /users/invitations', async (who, { body }) => {
    const { chosen, isPreview, seen } = body;
    if (!isPreview) requireProof(who);
    return inTransaction(await pool, async (tx) => {
      // From here on no one else invites anyone, and the filters keep matching the same people.
      if (!isPreview) await lockAccount(tx, who.accountId);
      const plan = await planInvitations(tx, who.accountId, await idsOf(tx, who, chosen), way);
      const invitations = { by: way, ...shown(plan, way, now()), sheet: null };
      if (isPreview) return invitations;
      if (seen !== invitations.seen)
        throw changedSince('The people who would be invited, or their invitations, have changed');
      const sheet = await invite(tx, who, plan.inviting, { way, publicUrl, now: now() });
      return { ...invitations, sheet };
    });
  });
}

const idsOf = (tx: Transaction, { accountId }: Who, chosen: Chosen): Promise<number[]> | number[] =>
  'ids' in chosen ? chosen.ids : selectFoundIds(tx, accountId, chosen.filters);

async function invite(
  tx: Transaction,
  who: Who,
  people: Invitee[],
  { way, publicUrl, now }: { way: InvitationWay; publicUrl: string; now: number },
): Promise<Invitations['sheet']> {
  if (people.length === 0) return null;
  const ids = people.map(({ id }) => id);
  const ranges = rangesOf(ids.toSorted((a, b) => a - b));
  const details = { count: ids.length, by: way, ids: ranges };
  await audit(tx, who.accountId, actorOf(who), 'people invited', { details });
  if (way === 'mail') {
    await inviteByMail(tx, who.accountId, ids);
    return null;
  }
  const links = await inviteBySheet(tx, who.accountId, ids, publicUrl);
  const until = new Date(now + linkMs).toISOString();
  const rows = people.map(({ firstName, lastName, email, role }, i) =>
    csvRow([firstName, lastName, email, role, links[i] as string, until]),
  );
  const head = csvRow(['firstName', 'lastName', 'email', 'role', 'link', 'expires']);
  return { name: 'invitations.csv', csv: head + rows.join('') };
}

const shown = (plan: InvitationPlan, way: InvitationWay, now: number): Omit<Invitations, 'by' | 'sheet'> => ({
  inviting: plan.inviting.length,
  people: listed(plan.inviting, now),
  reminding: plan.inviting.filter(({ invitedAt }) => invitedAt !== null).length,
  withoutEmail: plan.withoutEmail.length,
  withoutEmailPeople: listed(plan.withoutEmail, now),
  recent: plan.recent.length,
  signedIn: plan.signedIn.length,
  users: plan.users.length,
  inactive: plan.inactive.length,
  unconfirmed: plan.unconfirmed.length,
  seen: digestOf(plan.inviting, way),
});

const listed = (people: Invitee[], now: number): InvitedPerson[] =>
  people.slice(0, mostListed).map(({ id, firstName, lastName, email, role, invitedAt: at, state }) => ({
    id,
    name: `${firstName} ${lastName}`.trim(),
    email,
    role,
    invitation: at && state && { at: at.toISOString(), state, isExpired: at.getTime() + linkMs <= now },
  }));

/** Identifies people with what the administrator saw of them: their addresses, and when they were invited. */
function digestOf(people: Invitee[], way: InvitationWay): string {
  const seen = people.map(({ id, email, role, invitedAt }) => [id, email, role, invitedAt?.getTime()]);
  return createHash('sha256')
    .update(JSON.stringify([way, seen]))
    .digest('base64url');
}
