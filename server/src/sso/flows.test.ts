// Visits to a provider as a state machine: whatever the order in which responses arrive, in any browser, at any provider and at the same
// time, each visit ends at most once, in its own browser, at its own provider, and within ten minutes.
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { endVisit, visitMs } from './flows.ts';
import { insertFlow } from './flows.sql.ts';
import { insertProvider, type Provider, selectProviders } from './providers.sql.ts';

let database: TestDatabase;
let providers: Provider[];
beforeAll(async () => {
  database = await openTestDatabase();
  providers = await inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    for (const publicKey of ['one', 'two']) {
      const given = { publicKey, name: publicKey, issuer: 'https://x.example', clientId: publicKey };
      const off = {
        domains: [],
        trustsDomains: false,
        createsPeople: false,
        roleClaim: null,
        roleValues: [],
      };
      const provider = {
        ...given,
        ...off,
        clientSecret: Buffer.from('x'),
        enabled: true,
        sessionHours: null,
      };
      await insertProvider(tx, id, provider);
    }
    return selectProviders(tx, id);
  });
});
afterAll(() => database?.close());

const hashOf = (text: string) => createHash('sha256').update(text).digest();
const response = fc.record({
  visit: fc.nat(3),
  browser: fc.nat(1),
  provider: fc.nat(1),
  minutes: fc.constantFrom(0, 9, 10, 11),
});
const visit = fc.record({ browser: fc.nat(1), provider: fc.nat(1) });

test('in any order of responses', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(visit, { minLength: 4, maxLength: 4 }),
      fc.array(response, { minLength: 1, maxLength: 14 }),
      async (visits, responses) => {
        const start = Date.UTC(2026, 10, 18, 12);
        run++;
        const states = visits.map((_, i) => `state ${i} of run ${run}`);
        for (const [i, { browser, provider }] of visits.entries()) {
          const { accountId, providerId } = providers[provider] as Provider;
          await insertFlow(database.pool, {
            accountId,
            providerId,
            purpose: 'sign in',
            userId: null,
            sessionId: null,
            returnTo: '/',
            startedAt: new Date(start),
            stateHash: hashOf(states[i] as string),
            browserHash: hashOf(`browser ${browser}`),
          });
        }
        const ends = await Promise.all(
          responses.map(async ({ visit: i, browser, provider, minutes }) => {
            const given = { state: states[i] as string, browserSecret: `browser ${browser}` };
            const deps = { pool: database.pool, now: () => start + minutes * 60_000 };
            return {
              i,
              browser,
              provider,
              minutes,
              flow: await endVisit(deps, providers[provider] as Provider, given),
            };
          }),
        );
        for (const [i, { browser, provider }] of visits.entries()) {
          const fitting = ends.filter(
            (end) =>
              end.i === i &&
              end.browser === browser &&
              end.provider === provider &&
              end.minutes * 60_000 < visitMs,
          );
          const ended = ends.filter((end) => end.i === i && end.flow !== undefined);
          expect(ended).toHaveLength(Math.min(1, fitting.length));
          expect(ended.every((end) => fitting.includes(end))).toBe(true);
        }
      },
    ),
    { numRuns: 40 },
  );
});
