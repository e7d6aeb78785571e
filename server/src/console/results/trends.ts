// The trend of a KPI, or of the response rate, in several groups.
import type { RollingFigure, Trend } from '@soundings/contract/console/results/results.ts';
import type { Db } from '../../db/db.ts';
import { kpiNameIn, kpiNotFound } from '../../questions/questions.ts';
import { readKpiValues, readRates } from '../../results/data/read-results.ts';
import { selectKpi } from '../../results/data/results.sql.ts';
import {
  neededFor,
  noReadings,
  readingsShown,
  rollingFigure,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import type { Trees } from '../groups/trees.ts';
import { groupNamed, readGroups, readWeeks, withPeople } from './reading.ts';
import { windowOfWeeks } from './weeks.ts';

/** `kpiId` undefined: the response rate. `groupIds`: separated by commas. */
type Wanted = { kpiId: string | undefined; groupIds: string; weeks: number; language: string };

/** Returns a trend. Throws a Fault if the KPI does not exist, or the caller may not see one of the groups. */
export async function readTrend(db: Db, who: Who, trees: Trees, wanted: Wanted): Promise<Trend> {
  const { accountId } = who;
  const { kpiId } = wanted;
  const [groups, weeks, kpi] = await Promise.all([
    readGroups(db, who, wanted.groupIds.split(',').map(idIn)),
    readWeeks(db, who),
    kpiId === undefined ? null : selectKpi(db, accountId, kpiId),
  ]);
  if (kpi === undefined) throw kpiNotFound();
  const chosen = [...new Set(wanted.groupIds.split(','))].map((text) => groupNamed(groups, text));
  const axis = weeks.span(wanted.weeks);
  const window = windowOfWeeks(axis);
  const valuesOf = (groupId: number) => {
    if (!window) return [];
    return kpi === null
      ? readRates(db, accountId, groupId, window)
      : readKpiValues(db, accountId, groupId, kpi.id, window);
  };
  const rollingOf = await readRolling(db, who, { kpiId, groupIds: chosen.map(({ id }) => id), axis });
  return {
    kpi: kpi && { id: kpi.id, name: kpiNameIn(kpi, wanted.language) },
    weeks: axis,
    series: await Promise.all(
      chosen.map(async (group) => ({
        group: await withPeople(db, who, trees, group),
        values: await valuesOf(group.id),
        rolling: rollingOf(group.id),
      })),
    ),
  };
}

/** Returns a function that returns the rolling values of a group. For the response rate it returns none. */
async function readRolling(
  db: Db,
  { accountId }: Who,
  { kpiId, groupIds, axis }: { kpiId: string | undefined; groupIds: number[]; axis: Trend['weeks'] },
): Promise<(groupId: number) => RollingFigure[]> {
  const window = windowOfWeeks(axis);
  if (!window || kpiId === undefined) return () => [];
  const statistics = await statisticsShown(db, accountId, window);
  const readings = await readingsShown(
    db,
    accountId,
    { groupIds, questionIds: statistics.questionsOf(kpiId) },
    neededFor(window),
  );
  return (groupId) =>
    axis.flatMap(
      ({ week }) => rollingFigure(kpiId, week, readings.get(groupId) ?? noReadings, statistics) ?? [],
    );
}
