// The results of tests of a provider: what it reports about the administrator who tests it, and whether this person could sign in.
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import type { TestOutcome } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { emailKey } from '@soundings/contract/formats.ts';
import { audit } from '../accounts/audit.ts';
import type { Transaction } from '../db/db.ts';
import { type Checked, type Person, roleOf } from './claims.ts';
import { type Flow, upsertTest } from './flows.sql.ts';
import { selectPersonOfAddress, selectPersonOfIdentity } from './identities.sql.ts';
import { ProviderFault, Refused } from './provider-fault.ts';
import type { Provider } from './providers.sql.ts';
import { refusalToLink, vouchedAddress } from './sign-in-by-provider.ts';

/** Stores the result of a test, for the administrator who began it. */
export async function storeTest(
  tx: Transaction,
  provider: Provider,
  { userId }: Flow,
  { checked, now }: { checked: Checked | ProviderFault; now: number },
): Promise<void> {
  if (userId === null) return;
  const { accountId, providerId, name } = provider;
  const outcome =
    checked instanceof ProviderFault ? failure(checked) : await outcomeOf(tx, provider, checked.person);
  await upsertTest(tx, accountId, providerId, { userId, testedAt: new Date(now), outcome });
  await audit(tx, accountId, { origin: 'service' }, 'provider tested', {
    subject: name,
    details: { result: outcome.refusal ?? 'works' },
  });
}

const failure = ({ refusal, detail }: ProviderFault): TestOutcome => ({
  refusal,
  detail,
  email: null,
  isVerified: false,
  roleValues: null,
  role: null,
  hasTime: false,
  methods: [],
});

async function outcomeOf(tx: Transaction, provider: Provider, person: Person): Promise<TestOutcome> {
  return {
    refusal: await refusalFor(tx, provider, person),
    detail: null,
    email: person.email ?? null,
    isVerified: person.isVerified,
    roleValues: person.roleValues?.slice(0, 50) ?? null,
    role: roleOf(person.roleValues, provider.roleValues),
    hasTime: person.signedInAt !== null,
    methods: person.methods,
  };
}

/** Returns why a person could not sign in, or null. */
async function refusalFor(tx: Transaction, provider: Provider, person: Person): Promise<Refusal | null> {
  const { accountId, providerId } = provider;
  const linked = await selectPersonOfIdentity(tx, accountId, providerId, person.subject);
  if (linked) return linked.active ? null : 'inactive';
  try {
    const found = await selectPersonOfAddress(
      tx,
      accountId,
      providerId,
      emailKey(vouchedAddress(provider, person)),
    );
    return found ? refusalToLink(provider, found) : provider.createsPeople ? null : 'unknown';
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}
