// SQL of breakdowns and their segments. Writers: segments.ts, frozen-segments.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/**
 * A breakdown. `attribute`: null for a combination of the two breakdowns `crossOf`. `bands`: the limits in whole years, for an
 * attribute that contains dates. `segments`: how many segments it has so far.
 */
export type Breakdown = {
  id: number;
  name: string;
  attribute: string | null;
  bands: number[] | null;
  crossOf: [number, number] | null;
  openedAt: Date;
  closedAt: Date | null;
  segments: number;
};

/** Returns the breakdowns of an account in the order in which they were opened, including closed ones. */
export async function selectBreakdowns(db: Db, accountId: AccountId): Promise<Breakdown[]> {
  return db<Breakdown[]>`
    select b.breakdown_id as "id",
           b.name         as "name",
           b.attribute    as "attribute",
           b.bands        as "bands",
           b.cross_of     as "crossOf",
           b.opened_at    as "openedAt",
           b.closed_at    as "closedAt",
           (select count(*)::integer from segments s
            where  s.account_id = ${accountId} and s.breakdown_id = b.breakdown_id) as "segments"
    from   breakdowns b
    where  b.account_id = ${accountId}
    order  by b.position, b.breakdown_id`;
}

/** Inserts a breakdown after all others and returns its id. */
export async function insertBreakdown(
  tx: Transaction,
  accountId: AccountId,
  breakdown: Pick<Breakdown, 'name' | 'attribute' | 'bands' | 'crossOf'>,
  openedBy: number | null,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into breakdowns (account_id, name, attribute, bands, cross_of, position, opened_by)
    select ${accountId}, ${breakdown.name}, ${breakdown.attribute}, ${breakdown.bands}::smallint[], ${breakdown.crossOf}::integer[],
           coalesce(max(position), 0) + 1, ${openedBy}::integer
    from   breakdowns
    where  account_id = ${accountId}
    returning breakdown_id as "id"`;
  return row!.id;
}

export async function updateClosed(
  tx: Transaction,
  accountId: AccountId,
  breakdownIds: number[],
): Promise<void> {
  await tx`
    update breakdowns set closed_at = now()
    where  account_id = ${accountId} and breakdown_id = any(${breakdownIds}) and closed_at is null`;
}

/** Deletes a breakdown with its segments, and returns their ids. */
export async function deleteBreakdown(
  tx: Transaction,
  accountId: AccountId,
  breakdownId: number,
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    delete from segments where account_id = ${accountId} and breakdown_id = ${breakdownId} returning segment_id as "id"`;
  await tx`delete from breakdowns where account_id = ${accountId} and breakdown_id = ${breakdownId}`;
  return rows.map(({ id }) => id);
}

export type Segment = { id: number; breakdownId: number; value: string };

/** Returns the segments of an account in the order of their breakdowns and by value; of one breakdown if `breakdownId` is given. */
export async function selectSegments(db: Db, accountId: AccountId, breakdownId?: number): Promise<Segment[]> {
  return db<Segment[]>`
    select s.segment_id as "id", s.breakdown_id as "breakdownId", s.value as "value"
    from   segments s
    join   breakdowns b on b.account_id = s.account_id and b.breakdown_id = s.breakdown_id
    where  s.account_id = ${accountId} and ${breakdownId === undefined ? db`true` : db`s.breakdown_id = ${breakdownId}`}
    order  by b.position, b.breakdown_id, s.value`;
}

/** Creates segments of a breakdown. Their ids come from the sequence of groups. */
export async function insertSegments(
  tx: Transaction,
  accountId: AccountId,
  values: Omit<Segment, 'id'>[],
): Promise<void> {
  await tx`
    insert into segments (account_id, segment_id, breakdown_id, value)
    select ${accountId}, nextval(pg_get_serial_sequence('groups', 'group_id')), n."breakdownId", n.value
    from   jsonb_to_recordset(${tx.json(values)}) as n("breakdownId" integer, value text)
    on conflict do nothing`;
}

/**
 * Records with which breakdowns a week is opened, and how many values of their attributes have changed since the seventh day before.
 * Deletes older counts.
 */
export async function insertWeekBreakdowns(
  tx: Transaction,
  accountId: AccountId,
  week: string,
  breakdownIds: number[],
): Promise<void> {
  await tx`
    insert into week_breakdowns (account_id, week, breakdown_id, changes)
    select b.account_id, ${week}, b.breakdown_id, coalesce(sum(c.changes), 0)
    from   breakdowns b
    join   breakdowns p on p.account_id = b.account_id and p.breakdown_id = any(coalesce(b.cross_of, array[b.breakdown_id]))
    left   join attribute_changes c on c.account_id = p.account_id and c.attribute = p.attribute
                                   and c.day >= (now() at time zone 'utc')::date - 7
    where  b.account_id = ${accountId} and b.breakdown_id = any(${breakdownIds})
    group  by b.account_id, b.breakdown_id
    on conflict (account_id, week, breakdown_id)
    do update set changes = greatest(week_breakdowns.changes, excluded.changes)`;
  await tx`
    delete from attribute_changes
    where  account_id = ${accountId} and day < (now() at time zone 'utc')::date - 30`;
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
