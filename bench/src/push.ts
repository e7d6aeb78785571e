// Pushes of interface B: a company as a body, and the sending of it.
import type { Report, Settings, Summary } from '@soundings/contract/organization.ts';
import type { Company } from './company.ts';
import type { Account, Service } from './service.ts';

const most: Settings = {
  validateOnly: false,
  maxUsersCreated: 20_000,
  maxUsersUpdated: 20_000,
  maxUsersDeleted: 20_000,
  maxGroupsCreated: 20_000,
  maxGroupsUpdated: 20_000,
  maxGroupsDeleted: 20_000,
};

export const bodyOf = (data: Company, settings = most) => Buffer.from(JSON.stringify({ settings, data }));

/** Pushes, and makes sure that what was measured is what was meant: the changes that the report must tell. */
export async function push(
  service: Service,
  { token }: Account,
  whole: Buffer,
  expected: Partial<Summary['users']>,
): Promise<void> {
  const { status, body } = await service.post('/v1/organization/organization', token, whole);
  const text = body.toString();
  const users = status === 200 ? (JSON.parse(text) as Report).summary.users : undefined;
  for (const [name, count] of Object.entries(expected)) {
    if (users?.[name as keyof typeof users] === count) continue;
    throw new Error(`A push had to tell of ${name} ${count}. The answer was ${status} ${text.slice(0, 300)}`);
  }
}
