// What every results page reads: which groups the caller may see, the weeks, and the texts of questions. Figures come only from
// results/read-results.ts, so the console shows exactly what the data interface returns.
import type { TreeGroup } from '@soundings/contract/console/groups.ts';
import type {
  QuestionFigures,
  ResultComment,
  ResultGroup,
  ResultQuestion,
} from '@soundings/contract/console/results/results.ts';
import type { AnswerData } from '@soundings/contract/answer-data.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { sixDigits } from '@soundings/contract/weeks.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { invalidParameter } from '../../base/errors.ts';
import type { Db } from '../../db/db.ts';
import { groupNotFound } from '../../people/faults.ts';
import { selectGroups } from '../../people/groups.sql.ts';
import { ancestorsOf, parentsIn } from '../../people/tree.ts';
import { scaleTexts } from '../../questions/library-texts.ts';
import type { MarkedComment } from '../../results/data/comments.sql.ts';
import { type ShownQuestion, shownQuestions } from '../../results/data/read-results.ts';
import type { QuestionMeasures } from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import { inTreeOrder, peopleInSubtrees } from '../groups/group-tree.ts';
import { openGroups } from '../groups/open-groups.ts';
import { countPeopleIn, selectMemberCounts } from '../groups/groups.sql.ts';
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
  /** Returns the open groups directly below a group. */
  children(groupId: number): ResultGroup[];
  /** Returns the open groups above a group, from the top. */
  above(groupId: number): ResultGroup[];
  /** Returns the ids of a group and of all its subgroups, open or not. */
  within(groupId: number): number[];
};

export async function readGroups(db: Db, who: Who): Promise<OpenGroups> {
  const [groups, open] = await Promise.all([selectGroups(db, who.accountId), openGroups(db, who)]);
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
    within: (groupId) => [...parents.keys()].filter((id) => ancestorsOf(id, parents).includes(groupId)),
  };
}

/** The open groups with their numbers of people. */
export type CountedGroups = {
  /** In the order of the tree. */
  rows: TreeGroup[];
  /** The parent of each group, open or not. */
  parents: ReadonlyMap<number, number | null>;
  /** The top groups of the account, open or not, the largest first. */
  tops: ResultGroup[];
  /** The largest top group of the account, if the caller may see it. */
  company: TreeGroup | null;
};

/** Reads all open groups with their numbers of people. Takes some ms with 2,000 groups and 20,000 people. */
export async function readCountedGroups(db: Db, who: Who, language = 'en'): Promise<CountedGroups> {
  const { accountId } = who;
  const [groups, memberships, open] = await Promise.all([
    selectGroups(db, accountId),
    selectMemberCounts(db, accountId),
    openGroups(db, who),
  ]);
  const people = peopleInSubtrees(groups, memberships);
  const rows = inTreeOrder(
    groups.map((group) => ({ ...group, people: people.get(group.id) ?? 0 })),
    language,
    open,
  );
  const tops = groups
    .filter(({ parentId }) => parentId === null)
    .toSorted((a, b) => (people.get(b.id) ?? 0) - (people.get(a.id) ?? 0) || a.id - b.id);
  return {
    rows,
    parents: parentsIn(groups),
    tops: tops.map(headOf),
    company: rows.find(({ id }) => id === tops[0]?.id) ?? null,
  };
}

/** Returns how many groups are open, and the group that pages start with: the company, or else the first open group. */
export async function readFirstGroup(
  db: Db,
  who: Who,
): Promise<{ first: ResultGroup | undefined; open: number }> {
  if (hasRole(who, 'Administrator')) {
    // If there is only one top group, it is not necessary to count people, which takes the most time.
    const { byId } = await readGroups(db, who);
    const tops = [...byId.values()].filter(({ parentId }) => parentId === null);
    if (tops.length === 1) return { first: tops[0], open: byId.size };
  }
  const { rows, company } = await readCountedGroups(db, who);
  return { first: company ?? rows[0], open: rows.length };
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
export const withPeople = async (
  db: Db,
  { accountId }: Who,
  groups: OpenGroups,
  { id, name }: ResultGroup,
) => ({
  id,
  name,
  people: await countPeopleIn(db, accountId, groups.within(id)),
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
    readGroups(db, who),
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
