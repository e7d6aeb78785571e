// What every results page reads: which groups the caller may see, the weeks, and the texts of questions. Figures come only from
// results/read-results.ts, so the console shows exactly what the data interface returns.
import type {
  QuestionFigures,
  ResultComment,
  ResultGroup,
  ResultQuestion,
} from '@soundings/contract/console/results/results.ts';
import type { AnswerData } from '@soundings/contract/answer-data.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import type { PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import { sixDigits } from '@soundings/contract/weeks.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { invalidParameter } from '../../base/errors.ts';
import type { Db } from '../../db/db.ts';
import { groupNotFound } from '../../people/faults.ts';
import { ancestorsOf, parentsIn } from '../../people/tree.ts';
import { scaleTexts } from '../../questions/library-texts.ts';
import type { MarkedComment } from '../../results/data/comments.sql.ts';
import { type ShownQuestion, shownQuestions } from '../../results/data/read-results.ts';
import type { QuestionMeasures } from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import { openGroups } from '../groups/open-groups.ts';
import {
  type GroupHead,
  selectAccessIn,
  selectGroupHeads,
  selectGroupsAround,
  selectTopGroups,
} from '../groups/groups.sql.ts';
import { readTree, type SeenTree, type Trees } from '../groups/trees.ts';
import { idIn } from '../core/ids.ts';
import { selectWeeks } from './results.sql.ts';
import { type Weeks, weeksOf } from './weeks.ts';

type OpenGroup = ResultGroup & { parentId: number | null };

/** The groups that the caller may see. */
export type OpenGroups = {
  byId: ReadonlyMap<number, OpenGroup>;
  /** Returns the top group of a group's tree; null if the caller may not see it, or if it is the group itself. */
  companyOf(groupId: number): ResultGroup | null;
  /** Returns the top group of a group's tree, open or not; null if it is the group itself. Only for comparing with its figures. */
  topOf(groupId: number): ResultGroup | null;
  /** Returns the parent group of a group, open or not; null if there is none. Only for comparing with its figures. */
  parentOf(groupId: number): ResultGroup | null;
  /** Returns the open groups directly below a group that was read with its subgroups. */
  children(groupId: number): ResultGroup[];
  /** Returns the open groups above a group, from the top. */
  above(groupId: number): ResultGroup[];
  /** Returns the ids of all groups above a group, open or not, nearest first. */
  allAbove(groupId: number): number[];
};

/**
 * Reads groups with all groups above them and their direct subgroups. Reading all groups of a large account for every page would take
 * longer than its figures.
 */
export async function readGroups(db: Db, who: Who, groupIds: readonly number[]): Promise<OpenGroups> {
  const groups = await selectGroupsAround(db, who.accountId, groupIds);
  return groupsFrom(groups, await openAmong(db, who, groups));
}

/** Reads all groups. */
export async function readAllGroups(db: Db, who: Who): Promise<OpenGroups> {
  const [groups, open] = await Promise.all([
    selectGroupHeads(db, who.accountId, undefined),
    openGroups(db, who),
  ]);
  return groupsFrom(groups, open);
}

/** Returns which groups the caller may see; undefined: all. `groups` must contain all groups above each of them. */
async function openAmong(
  db: Db,
  who: Who,
  groups: readonly GroupHead[],
): Promise<ReadonlySet<number> | undefined> {
  if (hasRole(who, 'Administrator')) return undefined;
  if (!hasRole(who, 'Manager')) return new Set();
  const ids = groups.map(({ id }) => id);
  const access = await selectAccessIn(db, who.accountId, who.userId, ids);
  const own = new Set(access.map(({ groupId }) => groupId));
  const whole = new Set(access.flatMap(({ groupId, kind }) => (kind === 'inheritedAdminOf' ? groupId : [])));
  const parents = parentsIn(groups);
  return new Set(
    ids.filter((id) => own.has(id) || ancestorsOf(id, parents).some((above) => whole.has(above))),
  );
}

function groupsFrom(groups: readonly GroupHead[], open: ReadonlySet<number> | undefined): OpenGroups {
  const parents = parentsIn(groups);
  const all = new Map(groups.map((one) => [one.id, one]));
  const byId = new Map(groups.filter(({ id }) => open?.has(id) !== false).map((one) => [one.id, one]));
  const topOf = (groupId: number) => {
    const top = ancestorsOf(groupId, parents).at(-1);
    return top === undefined || top === groupId ? null : top;
  };
  return {
    byId,
    companyOf: (groupId) => byId.get(topOf(groupId) ?? 0) ?? null,
    topOf: (groupId) => headIn(all, topOf(groupId)),
    parentOf: (groupId) => headIn(all, parents.get(groupId) ?? null),
    children: (groupId) =>
      [...byId.values()].filter(({ parentId }) => parentId === groupId).map((one) => headOf(one)),
    above: (groupId) =>
      ancestorsOf(groupId, parents)
        .slice(1)
        .flatMap((id) => byId.get(id) ?? [])
        .map(headOf)
        .toReversed(),
    allAbove: (groupId) => ancestorsOf(groupId, parents).slice(1),
  };
}

/** The open groups with their numbers of people. */
export type CountedGroups = {
  /** In the order of the tree. */
  rows: readonly PlacedGroup[];
  /** The parent of each group, open or not. */
  parents: ReadonlyMap<number, number | null>;
  /** The top groups above the open ones, open or not. */
  tops: readonly ResultGroup[];
  /** The largest top group of the account, if the caller may see it. */
  company: PlacedGroup | null;
};

/** Reads all open groups with their numbers of people. */
export async function readCountedGroups(db: Db, who: Who, language = 'en'): Promise<CountedGroups> {
  return countedIn(await readTree(db, who, language));
}

export const countedIn = ({ groups, parents, tops, company }: SeenTree): CountedGroups => ({
  rows: groups,
  parents,
  tops,
  company,
});

/** Returns how many groups are open, and the group that pages start with: the company, or else the first open group. */
export async function readFirstGroup(
  db: Db,
  who: Who,
  trees: Trees,
): Promise<{ first: ResultGroup | undefined; open: number }> {
  if (hasRole(who, 'Administrator')) {
    // If there is only one top group, it is not necessary to count people, which takes the most time.
    const { count, tops } = await selectTopGroups(db, who.accountId);
    if (tops.length === 1) return { first: tops[0], open: count };
  }
  const { groups, company } = await trees.of(db, who, 'en');
  return { first: company ?? groups[0], open: groups.length };
}

/** Returns an open group by its id. Throws a Fault if it is not open, with the same message as if it did not exist. */
export function groupNamed({ byId }: OpenGroups, text: string): OpenGroup {
  const group = byId.get(idIn(text));
  if (!group) throw groupNotFound();
  return group;
}

const headIn = (groups: ReadonlyMap<number, ResultGroup>, id: number | null): ResultGroup | null => {
  const group = id === null ? undefined : groups.get(id);
  return group ? headOf(group) : null;
};

export const headOf = ({ id, name }: ResultGroup): ResultGroup => ({ id, name });

/** Returns a group with its number of active people, including subgroups. */
export const withPeople = async (db: Db, who: Who, trees: Trees, { id, name }: ResultGroup) => ({
  id,
  name,
  people: await trees.peopleIn(db, who, id),
});

export const readWeeks = async (db: Db, { accountId }: Who): Promise<Weeks> =>
  weeksOf(await selectWeeks(db, accountId));

/**
 * Returns what a results page about one group needs first; `language`: the language of the questions. Throws a Fault if the caller
 * may not see the group.
 */
export async function readGroup(
  db: Db,
  who: Who,
  { groupId, language }: { groupId: string; language: string },
) {
  const [groups, weeks, questions] = await Promise.all([
    readGroups(db, who, [idIn(groupId)]),
    readWeeks(db, who),
    shownQuestions(db, who.accountId, language),
  ]);
  const group = groupNamed(groups, groupId);
  return { groups, group, company: groups.companyOf(group.id), weeks, questions };
}

/** Returns a question as pages show it; `language`: the language of the texts on its scale. */
export const questionHead = (
  { id, type, text, options, optionIds }: ShownQuestion,
  language: string,
): ResultQuestion => ({
  id,
  type,
  text,
  scale: scaleTexts(type, language),
  options: optionIds.map((option) => ({ id: option, text: options[option] ?? option })),
});

/** Returns the figures of a question in a week, in the order of its scale or options, with its intervals and changes. */
export function figuresOf(
  { type, optionIds }: ShownQuestion,
  { week, data, handedOut }: { week: string; data: AnswerData; handedOut: boolean },
  measures: QuestionMeasures,
): QuestionFigures {
  const { value, answers, distribution, enps, notApplicable: count, notApplicableOf: of } = data;
  const keys = Object.keys(distribution ?? {});
  const ordered = isScaled(type) ? keys : optionIds.filter((id) => keys.includes(id));
  return {
    week,
    value,
    answers,
    distribution: distribution ? ordered.map((key) => ({ key, count: distribution[key] as number })) : null,
    notApplicable: count === undefined || of === undefined ? null : { count, of },
    enps: enps ?? null,
    handedOut,
    ...measures,
  };
}

export function commentOf(
  { week, questionId, text, handedOut }: MarkedComment,
  questions: ReadonlyMap<number, ShownQuestion>,
): ResultComment {
  const digits = sixDigits(week);
  return {
    week,
    year: Number(digits.slice(0, -2)),
    number: Number(digits.slice(-2)),
    questionId,
    question: questions.get(questionId)?.text ?? '',
    text,
    handedOut,
  };
}

/** Returns the requested week. Throws a Fault if nothing is shown for it. */
export function weekIn(weeks: Weeks, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (weeks.shown.some(({ week }) => week === text)) return text;
  throw invalidParameter('week', 'There are no results to show for that week.');
}
