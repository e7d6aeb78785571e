// The console: signing in and out, the first start, links to set a password, and the user's own profile.
import { dayIn, weekOf } from '@soundings/contract/weeks.ts';
import type { FastifyRequest } from 'fastify';
import { notifyPerson } from '../../accounts/account-notices.ts';
import { audit } from '../../accounts/audit.ts';
import { rejectExpiredFirstStartLink } from '../../auth/first-start.ts';
import { endSessionOf, rejectEndedSession } from '../../auth/sessions.ts';
import {
  deleteSession,
  deleteSessionsOf,
  updateSessionProved,
  selectSessions,
} from '../../auth/sessions.sql.ts';
import { browserOf } from '../../auth/browser-names.ts';
import { requestSignInLink, linkOf, setPasswordByLink } from '../../auth/sign-in-links.ts';
import {
  begin,
  type Browser,
  digestPasswordOf,
  keepPassword,
  rejectWrongPassword,
  signIn,
} from '../../auth/sign-in.ts';
import { openSignInThrottle, recordAttempt, type SignInThrottle } from '../../auth/sign-in-throttle.ts';
import { selectAccountsThere } from '../../auth/sign-in.sql.ts';
import {
  beginTwoFactor,
  confirmTwoFactor,
  newRecoveryCodes,
  turnOffTwoFactor,
} from '../../auth/two-factor.ts';
import { Fault } from '../../base/errors.ts';
import { answeringLanguages } from '../../languages/languages.ts';
import type { Log } from '../../base/log.ts';
import type { Sealer } from '../../base/crypto/sealer.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { changeUser } from '../../people/users.ts';
import { setDigests } from '../../rounds/messages/opt-outs.sql.ts';
import { selectButtons } from '../../sso/providers.sql.ts';
import { refuseLastBreakGlass } from '../../sso/rules.ts';
import { selectCompanyName } from '../../sso/rules.sql.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { createFirstAccount } from './first-account.ts';
import { selectProfile, selectSessionFacts, selectWeeksAskedOfUser } from './session.sql.ts';

export type SessionDependencies = {
  pool: Promise<Pool>;
  /** Encrypts the secrets of two-factor authentication. */
  secrets: Promise<Sealer>;
  /** The clock, in ms. */
  now: () => number;
  log: Log;
  /** Whether the installation sends email. */
  canMail: boolean;
  /** Returns where a user signs out at the provider of the session as well; null: nowhere. */
  signOutAddress: (who: Who) => Promise<string | null>;
};

/** How many past weeks the profile shows. */
const weeksShown = 26;

export function serveSession(console: Console, dependencies: SessionDependencies): void {
  const throttle = openSignInThrottle(dependencies.pool, dependencies.now);
  serveSignIn(console, dependencies, throttle);
  serveLinks(console, dependencies, throttle);
  serveProfile(console, dependencies, throttle);
  serveOwnWeeks(console, dependencies);
  serveTwoFactor(console, dependencies, throttle);
}

function serveSignIn(
  console: Console,
  { pool, secrets, now, log, canMail, signOutAddress }: SessionDependencies,
  throttle: SignInThrottle,
): void {
  console.serve('GET /session', async (who) => selectSessionFacts(await pool, who));

  console.serveAnyone('GET /sign-in', async ({ query: { company } }) => {
    const [{ count, name }, providers, asked] = await Promise.all([
      selectAccountsThere(await pool),
      selectButtons(await pool, company ?? null),
      company === undefined ? null : selectCompanyName(await pool, company),
    ]);
    return { company: asked ?? (count === 1 ? name : null), isEmpty: count === 0, canMail, providers };
  });

  console.serveAnyone('GET /languages', async () => [...answeringLanguages.list]);

  console.serveAnyone('POST /session', async ({ body, request, reply }) => {
    const dependencies = { pool: await pool, secrets: await secrets, throttle, now, log };
    const outcome = await signIn(dependencies, body, browserIn(console, request));
    if (outcome.state !== 'signed in') return outcome;
    console.setCookie(reply, outcome.secret);
    return { state: 'signed in', session: await selectSessionFacts(await pool, outcome) };
  });

  console.serve('POST /session/proof', async (who, { body }) => {
    await rejectWrongPassword(await pool, throttle, who, body.password);
    await updateSessionProved(await pool, who.accountId, who.sessionId);
  });

  console.serve('DELETE /session', async (who, { reply }) => {
    const address = await signOutAddress(who);
    await inTransaction(await pool, async (tx) => {
      await deleteSession(tx, who, who.sessionId);
      await audit(tx, who.accountId, actorOf(who), 'signed out');
    });
    console.setCookie(reply, undefined);
    return { address };
  });
}

function serveLinks(
  console: Console,
  { pool, log, canMail }: SessionDependencies,
  throttle: SignInThrottle,
): void {
  console.serveAnyone('POST /password/forgotten', async ({ body, request }) => {
    await throttle.tryMail(request.address);
    // Not awaited: the time it takes would reveal whether the address exists.
    pool
      .then((open) => requestSignInLink(open, body.email))
      .catch((error: unknown) => log.error({ err: error }, 'Sending a sign-in link failed'));
  });

  console.serveAnyone('POST /password/link', async ({ body }) => {
    const { email, name, company, hasPassword } = await linkOf(await pool, body.secret);
    return { email: email ?? '', name, company, hasPassword };
  });

  console.serveAnyone('POST /password', async ({ body, request, reply }) => {
    const by = { address: request.address, canMail };
    const link = await setPasswordByLink(await pool, body.secret, body.password, by);
    if (link.hasTwoFactor) {
      // Another user may have been signed in with this browser.
      const secret = console.secretIn(request);
      if (secret !== undefined) await endSessionOf(await pool, secret);
      console.setCookie(reply, undefined);
      return { session: null };
    }
    console.setCookie(reply, await begin(await pool, link, browserIn(console, request), 'link'));
    return { session: await selectSessionFacts(await pool, link) };
  });

  console.serveAnyone('POST /setup/link', async ({ body }) =>
    rejectExpiredFirstStartLink(await pool, body.secret),
  );

  console.serveAnyone('POST /setup', async ({ body, request, reply }) => {
    const person = await createFirstAccount(await pool, body, request.address);
    console.setCookie(reply, await begin(await pool, person, browserIn(console, request), 'first start'));
    return { session: await selectSessionFacts(await pool, person) };
  });
}

function serveProfile(
  console: Console,
  { pool, canMail }: SessionDependencies,
  throttle: SignInThrottle,
): void {
  console.serve('GET /profile', async (who) => selectProfile(await pool, who));

  console.serve('PATCH /profile', async (who, { body }) => {
    await inTransaction(await pool, async (tx) => {
      const { fields } = await changeUser(tx, who.accountId, who.userId, body, who.userId);
      if (fields.length === 0) return;
      await audit(tx, who.accountId, actorOf(who), 'profile changed', { details: { fields } });
    });
    return selectProfile(await pool, who);
  });

  console.serve('PUT /profile/password', async (who, { body }) => {
    await rejectWrongPassword(await pool, throttle, who, body.password);
    const hash = await digestPasswordOf(await pool, who, body.newPassword, 'newPassword');
    await inTransaction(await pool, async (tx) => {
      await rejectEndedSession(tx, who);
      await keepPassword(tx, who, hash);
      await deleteSessionsOf(tx, who, who.sessionId);
      await audit(tx, who.accountId, actorOf(who), 'password changed', { subject: who.userId });
      if (canMail) await notifyPerson(tx, who.accountId, who.userId, 'password set');
    });
  });

  console.serve('GET /profile/sessions', async (who) => {
    const sessions = await selectSessions(await pool, who);
    return sessions.map(({ id, agent, address, signedInAt, seenAt, provider }) => ({
      id,
      ...browserOf(agent),
      address,
      signedInAt: signedInAt.toISOString(),
      seenAt: seenAt.toISOString(),
      provider,
      isThis: id === who.sessionId,
    }));
  });

  console.serve('DELETE /profile/sessions/{sessionId}', async (who, { params }) => {
    const id = idIn(params.sessionId);
    await inTransaction(await pool, async (tx) => {
      if (!(await deleteSession(tx, who, id))) {
        throw new Fault('not_found', 'session not found', 'This session has already ended.');
      }
      await audit(tx, who.accountId, actorOf(who), 'session ended', { details: { sessions: 1 } });
    });
  });

  console.serve('DELETE /profile/sessions', async (who) => {
    await inTransaction(await pool, async (tx) => {
      const sessions = await deleteSessionsOf(tx, who, who.sessionId);
      if (sessions > 0)
        await audit(tx, who.accountId, actorOf(who), 'session ended', { details: { sessions } });
    });
  });
}

/** Serves the weekly digest of the user, and what their groups were asked. */
function serveOwnWeeks(console: Console, { pool, now }: SessionDependencies): void {
  console.serve('PUT /profile/digest', async (who, { body }) => {
    await inTransaction(await pool, async (tx) => {
      if (!(await setDigests(tx, who.accountId, who.userId, body.wanted))) return;
      await audit(tx, who.accountId, actorOf(who), 'profile changed', { details: { fields: ['digest'] } });
    });
    return selectProfile(await pool, who);
  });

  console.serve('GET /profile/weeks', async (who) => {
    const before = weekOf(dayIn(who.timezone, now()));
    return selectWeeksAskedOfUser(await pool, who, { before, most: weeksShown });
  });
}

function serveTwoFactor(
  console: Console,
  { pool, secrets, now, canMail }: SessionDependencies,
  throttle: SignInThrottle,
): void {
  console.serve('POST /profile/two-factor', async (who, { body }) => {
    await rejectWrongPassword(await pool, throttle, who, body.password);
    const { email, account } = await selectProfile(await pool, who);
    return beginTwoFactor(await pool, await secrets, who, email ?? account.name);
  });

  console.serve('POST /profile/two-factor/on', async (who, { body }) => {
    const attempt = await throttle.tryCode(`${who.accountId}/${who.userId}`);
    const recoveryCodes = await recordAttempt(attempt, async () =>
      inTransaction(await pool, async (tx) => {
        const codes = await confirmTwoFactor(tx, await secrets, who, body.code, now());
        await audit(tx, who.accountId, actorOf(who), 'two-factor turned on', { subject: who.userId });
        if (canMail) await notifyPerson(tx, who.accountId, who.userId, 'two-factor turned on');
        return codes;
      }),
    );
    await attempt.succeeded();
    return { recoveryCodes };
  });

  console.serve('POST /profile/two-factor/off', async (who, { body }) => {
    await rejectWrongPassword(await pool, throttle, who, body.password);
    await inTransaction(await pool, async (tx) => {
      await refuseLastBreakGlass(tx, who.accountId, who.userId);
      if (!(await turnOffTwoFactor(tx, who))) return;
      await audit(tx, who.accountId, actorOf(who), 'two-factor turned off', { subject: who.userId });
      if (canMail) await notifyPerson(tx, who.accountId, who.userId, 'two-factor turned off');
    });
  });

  console.serve('POST /profile/recovery-codes', async (who, { body }) => {
    await rejectWrongPassword(await pool, throttle, who, body.password);
    return inTransaction(await pool, async (tx) => {
      const recoveryCodes = await newRecoveryCodes(tx, who);
      await audit(tx, who.accountId, actorOf(who), 'recovery codes created', { subject: who.userId });
      if (canMail) await notifyPerson(tx, who.accountId, who.userId, 'recovery codes created');
      return { recoveryCodes };
    });
  });
}

/** Returns the browser that sent the request, and its session. */
const browserIn = (console: Console, request: FastifyRequest): Browser => ({
  address: request.address,
  agent: request.headers['user-agent'] ?? '',
  secret: console.secretIn(request),
});
