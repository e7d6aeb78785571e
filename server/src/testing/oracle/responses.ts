// The response that the data interface has to give in a state of an account (§2.1, §4.1, decisions A1 to A15 and F1).
import {
  type AccountState,
  type DataRequest,
  type Kpi,
  type Question,
  scopeOf,
  textIn,
} from './account-state.ts';
import { feedOf } from './feed.ts';
import { type Figure, hasOptions, isScaled, type Place } from './figures.ts';
import { isInRange, lastFiveWeeks, yearAndWeek } from './iso-weeks.ts';

export type Expected = { status: number; body?: unknown };

/** `today`: in the time zone of the account. The texts of comments and the lines of the feed are sorted, as their order is free. */
export function expectedResponse(state: AccountState, request: DataRequest, today: string): Expected {
  const { endpoint, groupId, kpiId, range, withSubgroups } = request;
  const ok = (body: unknown): Expected => ({ status: 200, body });
  if (endpoint === 'groups') return ok(groupList(state));
  if (endpoint === 'kpis')
    return ok(
      state.kpis
        .filter((one) => one.hasValues)
        .map(kpiHead)
        .toSorted(byId),
    );
  const isAll = endpoint === 'feed' && !withSubgroups;
  if (!isAll && !state.groups.some(({ id }) => id === groupId)) return { status: 404 };
  const scope = isAll ? state.groups.map(({ id }) => id) : scopeOf(state.groups, groupId, withSubgroups);
  const within =
    (weeks: DataRequest['range']) =>
    ({ g, week }: Place) =>
      scope.includes(g) && (!weeks || isInRange(week, weeks));
  const isIn = within(range);
  if (endpoint === 'feed') return ok(feedOf(state, request, isIn));
  if (endpoint === 'kpi') {
    const kpi = state.kpis.find(({ id }) => id === kpiId);
    if (!kpi) return { status: 404 };
    const rows = state.kpiFigures.filter((one) => one.kpi === kpiId && isIn(one));
    return ok({
      kpi: kpiHead(kpi),
      values: valuesOf(range ? rows : latestOf(rows, ({ isWhole }) => isWhole)),
    });
  }
  if (endpoint === 'rates') {
    const rows = state.rates.filter(isIn);
    return ok([{ values: valuesOf(range ? rows : latestOf(rows, () => true)) }]);
  }
  const isShown = within(range ?? lastFiveWeeks(today));
  return ok(endpoint === 'asked' ? askedBody(state, request, isShown) : resultsBody(state, request, isShown));
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

const groupList = ({ groups }: AccountState) =>
  groups
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, externalId, name, description }) => ({
      id,
      ...(externalId !== null && { externalId }),
      name,
      ...(description !== null && { description }),
      subgroups: scopeOf(groups, id, true)
        .slice(1)
        .toSorted((a, b) => a - b),
    }));

const kpiHead = ({ id, name, imageUrl }: Kpi) => ({
  id,
  name,
  ...(imageUrl !== null && { imageURL: imageUrl }),
});

/** F1: for each group, the last week in which it was asked as a whole; if there is none, the last week. */
const latestOf = <T extends Place>(rows: T[], isWhole: (row: T) => boolean): T[] =>
  [...Map.groupBy(rows, ({ g }) => g).values()].map((own) => {
    const whole = own.filter(isWhole);
    return (whole.length > 0 ? whole : own).reduce((a, b) => (a.week > b.week ? a : b));
  });

const valuesOf = (rows: (Place & { value: number | null })[]) =>
  rows
    .toSorted((a, b) => a.g - b.g || (a.week < b.week ? -1 : 1))
    .map(({ g, week, value }) => ({ groupId: g, value, yearWeek: yearAndWeek(week).join(''), date: week }));

type Shown = (place: Place) => boolean;

function askedBody(state: AccountState, request: DataRequest, isShown: Shown) {
  const rows = state.asked.filter(isShown);
  return [
    {
      askedquestions: [
        nested(rows.map((one) => ({ path: [one.g, fourDigits(one)], leaf: one.questionIds }))),
      ],
      questions: listed(
        state,
        request,
        rows.flatMap(({ questionIds }) => questionIds),
      ),
    },
  ];
}

function resultsBody(state: AccountState, request: DataRequest, isShown: Shown) {
  const isWanted = (one: Place & { q: number }) =>
    isShown(one) && (request.questionIds?.includes(one.q) ?? true);
  const pathOf = (one: Place & { q: number }) => [one.q, one.g, fourDigits(one)];
  const rows = state.results.filter(isWanted);
  const values = rows.map((one) => {
    const question = state.questions.find(({ id }) => id === one.q)!;
    return { path: pathOf(one), leaf: answerData(question, one, request) };
  });
  const comments = state.comments
    .filter(isWanted)
    .map((one) => ({ path: pathOf(one), leaf: one.texts.toSorted() }));
  return [
    {
      values: [nested(values)],
      ...(request.comments && { comments: [nested(comments)] }),
      questions: listed(
        state,
        request,
        rows.map(({ q }) => q),
      ),
    },
  ];
}

/** A10. */
function answerData({ type, options }: Question, { value, answers, counts }: Figure, request: DataRequest) {
  if (!counts) return { value, answers };
  const given = Object.entries(counts).flatMap(([name, count]) =>
    Array.from({ length: count }, () => (name === 'yes' ? 1 : name === 'no' ? 0 : Number(name))),
  );
  const promoters = given.filter((one) => one >= 9).length - given.filter((one) => one <= 6).length;
  return {
    value,
    answers,
    distribution: counts,
    ...(type === 3 && { enps: (100 * promoters) / given.length }),
    ...(request.granular && isScaled(type) && { individual: given.toSorted((a, b) => a - b) }),
    ...(hasOptions(type) && {
      options: Object.fromEntries(options.map((one) => [one.id, textIn(request, one)])),
    }),
  };
}

const listed = ({ questions }: AccountState, request: DataRequest, ids: number[]) =>
  questions
    .filter(({ id }) => ids.includes(id))
    .toSorted((a, b) => a.id - b.id)
    .map((one) => ({ id: one.id, question: textIn(request, one), type: one.type }));

const fourDigits = ({ week }: Place) => yearAndWeek(week).join('').slice(2);

/** Returns nested maps, with each leaf at its path. */
function nested(rows: { path: (number | string)[]; leaf: unknown }[]): object {
  const top: Record<string, unknown> = {};
  for (const { path, leaf } of rows) {
    let at = top;
    for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[path.at(-1)!] = leaf;
  }
  return top;
}
