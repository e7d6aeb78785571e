// Names and texts are read once for each version of an account, and never kept beyond it.
import { describe, expect, test } from 'vitest';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { inTransaction } from '../../db/db.ts';
import { changeQuestion } from '../../questions/questions.ts';
import { selectQuestions } from '../../questions/questions.sql.ts';
import { type Company, getBody, openCompany, range, useService, world } from '../data/data.fixture.ts';
import { type KnownNames, openKnownNames } from './known-names.ts';

useService();

async function accountOf({ account: { id } }: Company) {
  const [row] = await world.pool<
    { version: string }[]
  >`select version from accounts where account_id = ${id}`;
  return { accountId: id, version: row!.version };
}

/** Changes names without raising the version. Nothing does this. It shows what is read again. */
async function rename({ account: { id } }: Company, text: string): Promise<void> {
  await world.pool`update questions set text = ${text} where account_id = ${id}`;
  await world.pool`update kpis set name = ${text} where account_id = ${id}`;
}

async function namesIn(names: KnownNames, company: Company): Promise<(string | undefined)[]> {
  const account = await accountOf(company);
  const [first] = await names.questions(world.pool, account);
  return [first?.text, (await names.kpi(world.pool, account, 'energy'))?.name];
}

describe('names and texts', () => {
  test('are read again after the version of the account was raised', async () => {
    const [company, names] = [await openCompany(), openKnownNames()];
    const before = await namesIn(names, company);
    await rename(company, 'new');
    expect(await namesIn(names, company)).toEqual(before);
    await inTransaction(world.pool, (tx) => raiseVersion(tx, company.account.id));
    expect(await namesIn(names, company)).toEqual(['new', 'new']);
  });

  test('are those of the account, and unknown KPIs are not kept', async () => {
    const [one, other, names] = [await openCompany(), await openCompany(), openKnownNames()];
    await rename(one, 'one');
    await rename(other, 'other');
    expect([await namesIn(names, one), await namesIn(names, other)]).toEqual([
      ['one', 'one'],
      ['other', 'other'],
    ]);
    expect(await names.kpi(world.pool, await accountOf(one), 'new')).toBeUndefined();
    await world.pool`
      insert into kpis (account_id, kpi_id, name) values (${one.account.id}, 'new', 'New')`;
    expect((await names.kpi(world.pool, await accountOf(one), 'new'))?.name).toBe('New');
  });

  test('of the accounts that were read longest ago are dropped', async () => {
    const companies = [await openCompany(), await openCompany(), await openCompany()] as const;
    const { length } = JSON.stringify(await selectQuestions(world.pool, companies[0].account.id));
    const names = openKnownNames(2.5 * (length + 400));
    for (const one of [...companies.slice(0, 2), companies[0], companies[2]]) await namesIn(names, one);
    for (const one of companies) await rename(one, 'new');
    const first = async (one: Company) => (await names.questions(world.pool, await accountOf(one)))[0]!.text;
    expect(await first(companies[0])).not.toBe('new');
    expect(await first(companies[2])).not.toBe('new');
    expect(await first(companies[1])).toBe('new');
  });

  test('that are changed are in the next response', async () => {
    const { account, group, question } = await openCompany();
    const address = `/v1/results?groupId=${group['company']}${range('2026-11-02', '2026-11-15')}`;
    const texts = async (more: string) => JSON.stringify(await getBody(account, address + more));
    const {
      text: before,
      translations,
      options,
      allowsNotApplicable,
    } = (await selectQuestions(world.pool, account.id)).find(({ id }) => id === question['mood'])!;
    expect(await texts('')).toContain(before);
    const text = before.toUpperCase();
    const changes = { text, translations, options, allowsNotApplicable };
    await inTransaction(world.pool, (tx) => changeQuestion(tx, account.id, question['mood']!, changes));
    expect(await texts('')).toContain(text);
    expect(await texts('&includeSubgroups=true')).toContain(text);
  });
});
