// SQL for the indexes of the lists of people that were applied last. With them, the next list is read without parsing what is the same.
import { copiedValue, literal } from '../../db/binary-copy.ts';
import { type AccountId, type Db, onConnection, type Pool, type Transaction } from '../../db/db.ts';

/** Returns the index of the list that was applied last: of a part, by its number, or of a whole request (0). */
export async function selectTexts(
  pool: Pool,
  accountId: AccountId,
  part: number,
): Promise<Buffer | undefined> {
  const copyTexts = async (db: Db) =>
    copiedValue(db`
      copy (select people from sent_texts where account_id = ${literal(db, accountId)} and part = ${literal(db, part)})
      to   stdout (format binary)`);
  return (await onConnection(pool, copyTexts)) ?? undefined;
}

/** Stores the index of the list of a whole request in place of all others. Null: its texts can't be recognized. */
export async function replaceTexts(
  tx: Transaction,
  accountId: AccountId,
  people: Buffer | null,
): Promise<void> {
  await Promise.all([
    tx`delete from sent_texts where account_id = ${accountId} and (part <> 0 or ${people === null})`,
    people &&
      tx`
        insert into sent_texts (account_id, part, people)
        values (${accountId}, 0, ${people})
        on conflict (account_id, part) do update set people = excluded.people`,
  ]);
}

/** Stores the indexes of the parts of the push of the account in place of all others. */
export async function keepTextsOfParts(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    delete from sent_texts t
    where  t.account_id = ${accountId}
      and  not exists (select 1 from push_parts p
                       where  p.account_id = t.account_id and p.part = t.part and p.people is not null)`;
  await tx`
    insert into sent_texts as t (account_id, part, people)
    select account_id, part, people
    from   push_parts
    where  account_id = ${accountId} and people is not null
    on     conflict (account_id, part) do update set people = excluded.people where t.people <> excluded.people`;
}

/** Deletes the indexes of an account, which have digests of people who are no longer there. */
export async function deleteTexts(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`delete from sent_texts where account_id = ${accountId}`;
}
