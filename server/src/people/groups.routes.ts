// The route of the data interface for groups and segments: GET /v1/groups.
import { getGroups, type Group } from '@soundings/contract/data.ts';
import type { Reads } from '../db/replica/reads.ts';
import type { Server } from '../http/server.ts';
import { type GroupRow, selectGroups } from './groups.sql.ts';
import { type SegmentRow, selectSegmentsWithBreakdowns } from './segments.sql.ts';
import { subgroupsOf } from './tree.ts';

export function serveGroups(server: Server, reads: Promise<Reads>): void {
  server.serve(getGroups, async ({ caller, query }) => {
    const reading = (await reads).of(caller);
    return query['kind'] === 'segment'
      ? segmentList(await reading.once((db) => selectSegmentsWithBreakdowns(db, caller.accountId)))
      : groupList(await reading.once((db) => selectGroups(db, caller.accountId)));
  });
}

/** Returns the groups in the format of §2.1. Fields that are not set are left out. */
function groupList(rows: GroupRow[]): Group[] {
  const subgroups = subgroupsOf(rows);
  return rows.map(({ id, externalId, name, description }) => ({
    id,
    ...(externalId !== null && { externalId }),
    name,
    ...(description !== null && { description }),
    subgroups: subgroups.get(id) ?? [],
  }));
}

/** Returns the segments in the same format, with the breakdown and the value of each. */
const segmentList = (rows: SegmentRow[]): Group[] =>
  rows.map(({ id, breakdown, value }) => ({
    id,
    name: `${breakdown}: ${value}`,
    subgroups: [],
    kind: 'segment',
    breakdown,
  }));
