// Pushes a company to the organization interface.
import { everyLimit, maxChangesCeiling } from '@soundings/contract/limits.ts';
import type { Report, Settings, Summary } from '@soundings/contract/organization.ts';
import type { Company } from './company.ts';
import type { BenchAccount, Service } from './measuring/service.ts';

const unlimited: Settings = { validateOnly: false, ...everyLimit(maxChangesCeiling) };

export const pushBodyOf = (data: Company, settings = unlimited) =>
  Buffer.from(JSON.stringify({ settings, data }));

/** Sends a push. Throws if the report does not contain the expected changes. */
export async function push(
  service: Service,
  { token }: BenchAccount,
  whole: Buffer,
  expected: Partial<Summary['users']>,
): Promise<void> {
  const { status, body } = await service.post('/v1/organization/organization', token, whole);
  const text = body.toString();
  const users = status === 200 ? (JSON.parse(text) as Report).summary.users : undefined;
  for (const [name, count] of Object.entries(expected)) {
    if (users?.[name as keyof typeof users] === count) continue;
    throw new Error(
      `Expected ${name} ${count} in the report of the push. The response was ${status} ${text.slice(0, 300)}`,
    );
  }
}
