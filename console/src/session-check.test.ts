// An open page keeps its user: an ended session waits for the user to sign in again, and another user's session reloads the page.
import type { Session } from '@soundings/contract/console/session.ts';
import { expect, test } from 'vitest';
import { ApiError } from './api.ts';
import { checkSession, isSamePerson } from './session-check.ts';

const sessionOf = (userId: number, accountId = 1) =>
  ({ user: { id: userId }, account: { id: accountId } }) as Session;
const [ada, grace] = [sessionOf(1), sessionOf(2)];
const refusal = (status: number) => new ApiError(status, { id: '', message: String(status), details: [] });

/** Runs a check. `responses`: what the service returns to each request in turn. Returns the result, and what happened, in order. */
async function checked(shown: Session | null | undefined, ...responses: (Session | ApiError)[]) {
  const happened: string[] = [];
  const result = checkSession({
    async request() {
      happened.push('request');
      const response = responses.shift();
      if (response instanceof ApiError) throw response;
      return response as Session;
    },
    shown: () => shown,
    async signInAgain() {
      happened.push('sign in');
    },
    reload: () => happened.push('reload'),
  });
  return { result: await result.catch((error: unknown) => error), happened };
}

test('the session of the same user changes nothing', async () => {
  expect(await checked(ada, ada)).toEqual({ result: ada, happened: ['request'] });
  expect(await checked(undefined, ada)).toEqual({ result: ada, happened: ['request'] });
});

test('the session of another user reloads the page', async () => {
  expect((await checked(ada, grace)).happened).toEqual(['request', 'reload']);
});

test('users with the same number in two accounts are two users', () => {
  expect([isSamePerson(ada, sessionOf(1)), isSamePerson(ada, sessionOf(1, 2))]).toEqual([true, false]);
});

test('on a page without a user, the result is that no one is signed in', async () => {
  expect(await checked(undefined, refusal(401))).toEqual({ result: null, happened: ['request'] });
  expect(await checked(null, refusal(401))).toEqual({ result: null, happened: ['request'] });
});

test('on the page of a user, the check waits for them to sign in again, as often as the session ends', async () => {
  expect(await checked(ada, refusal(401), ada)).toEqual({
    result: ada,
    happened: ['request', 'sign in', 'request'],
  });
  expect((await checked(ada, refusal(401), refusal(401), ada)).happened).toEqual([
    'request',
    'sign in',
    'request',
    'sign in',
    'request',
  ]);
});

test('if another user signs in instead, the page is reloaded', async () => {
  expect((await checked(ada, refusal(401), grace)).happened).toEqual([
    'request',
    'sign in',
    'request',
    'reload',
  ]);
});

test.each([0, 403, 500, 503])('status %i is an error, and never signs anyone out', async (status) => {
  const { result, happened } = await checked(ada, refusal(status));
  expect([(result as ApiError).status, happened]).toEqual([status, ['request']]);
});
