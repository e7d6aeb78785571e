// SQL of kinds of segments and their segments. Writers: segments.ts, frozen-segments.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/**
 * A kind of segment. `attribute`: null for a combination of the two kinds `crossOf`. `bands`: the limits in whole years, for an
 * attribute that contains dates. `segments`: how many segments it has so far.
 */
export type SegmentKind = {
  id: number;
  name: string;
  attribute: string | null;
  bands: number[] | null;
  crossOf: [number, number] | null;
  openedAt: Date;
  closedAt: Date | null;
  segments: number;
};

/** Returns the kinds of an account in the order in which they were opened, including closed ones. */
export async function selectKinds(db: Db, accountId: AccountId): Promise<SegmentKind[]> {
  return db<SegmentKind[]>`
    select k.kind_id   as "id",
           k.name      as "name",
           k.attribute as "attribute",
           k.bands     as "bands",
           k.cross_of  as "crossOf",
           k.opened_at as "openedAt",
           k.closed_at as "closedAt",
           (select count(*)::integer from segments s
            where  s.account_id = k.account_id and s.kind_id = k.kind_id) as "segments"
    from   segment_kinds k
    where  k.account_id = ${accountId}
    order  by k.position, k.kind_id`;
}

/** Inserts a kind after all others and returns its id. */
export async function insertKind(
  tx: Transaction,
  accountId: AccountId,
  kind: Pick<SegmentKind, 'name' | 'attribute' | 'bands' | 'crossOf'>,
  openedBy: number | null,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into segment_kinds (account_id, name, attribute, bands, cross_of, position, opened_by)
    select ${accountId}, ${kind.name}, ${kind.attribute}, ${kind.bands}::smallint[], ${kind.crossOf}::integer[],
           coalesce(max(position), 0) + 1, ${openedBy}::integer
    from   segment_kinds
    where  account_id = ${accountId}
    returning kind_id as "id"`;
  return row!.id;
}

export async function updateClosed(tx: Transaction, accountId: AccountId, kindIds: number[]): Promise<void> {
  await tx`
    update segment_kinds set closed_at = now()
    where  account_id = ${accountId} and kind_id = any(${kindIds}) and closed_at is null`;
}

/** Deletes a kind with its segments, and returns their ids. */
export async function deleteKind(tx: Transaction, accountId: AccountId, kindId: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    delete from segments where account_id = ${accountId} and kind_id = ${kindId} returning segment_id as "id"`;
  await tx`delete from segment_kinds where account_id = ${accountId} and kind_id = ${kindId}`;
  return rows.map(({ id }) => id);
}

export type Segment = { id: number; kindId: number; value: string };

/** Returns the segments of an account by the order of their kinds, and of a kind by value; of one kind if `kindId` is given. */
export async function selectSegments(db: Db, accountId: AccountId, kindId?: number): Promise<Segment[]> {
  return db<Segment[]>`
    select s.segment_id as "id", s.kind_id as "kindId", s.value as "value"
    from   segments s
    join   segment_kinds k on k.account_id = s.account_id and k.kind_id = s.kind_id
    where  s.account_id = ${accountId} and ${kindId === undefined ? db`true` : db`s.kind_id = ${kindId}`}
    order  by k.position, k.kind_id, s.value`;
}

/** Creates segments of a kind. Their ids come from the sequence of groups. */
export async function insertSegments(
  tx: Transaction,
  accountId: AccountId,
  values: Omit<Segment, 'id'>[],
): Promise<void> {
  await tx`
    insert into segments (account_id, segment_id, kind_id, value)
    select ${accountId}, nextval(pg_get_serial_sequence('groups', 'group_id')), n."kindId", n.value
    from   jsonb_to_recordset(${tx.json(values)}) as n("kindId" integer, value text)
    on conflict do nothing`;
}

/** Returns the values of these attributes that the active ones of these people have. */
export async function selectAttributeValues(
  db: Db,
  accountId: AccountId,
  names: string[],
  userIds: number[],
): Promise<{ userId: number; attributes: Record<string, string | null> }[]> {
  // As text, because the driver needs longer to parse an array.
  const rows = await db<{ userId: number; values: string }[]>`
    select u.user_id as "userId",
           (select json_agg(u.attributes ->> n.name order by n.place)
            from   unnest(${names}::text[]) with ordinality as n(name, place))::text as "values"
    from   users u
    where  u.account_id = ${accountId} and u.active and u.user_id = any(${userIds})
    order  by u.user_id`;
  return rows.map(({ userId, values }) => {
    const list = JSON.parse(values) as (string | null)[];
    return { userId, attributes: Object.fromEntries(names.map((name, i) => [name, list[i] ?? null])) };
  });
}

/** Returns what decides whether a week has segments, and how many people a value needs to become one. */
export async function selectWeekRules(
  tx: Transaction,
  accountId: AccountId,
  week: string,
): Promise<{ threshold: number; isLive: boolean }> {
  const [row] = await tx<{ threshold: number; isLive: boolean }[]>`
    select threshold as "threshold", is_live as "isLive"
    from   weeks where account_id = ${accountId} and week = ${week}`;
  return row!;
}
