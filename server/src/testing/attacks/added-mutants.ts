// Mutants of what is added to published figures: each reads something that is withheld, as a mistake in the code could.
import { isScaled } from '@soundings/contract/question-types.ts';
import { distributionOf, scaledMean } from '../../questions/types.ts';
import { groupsOf, turnoutOf, type WeekAnswer, type WeekQuestion } from '../../results/turnout.ts';
import { type ClosedWeek, type Organization, serviceSteps, type Steps } from './added-figures.ts';

/** Returns all answers that count in each group, shown or not. */
function answersIn({ open: { data, answers } }: ClosedWeek, { id }: WeekQuestion): Map<number, WeekAnswer[]> {
  const turnout = turnoutOf(data);
  const found = new Map<number, WeekAnswer[]>();
  for (const answer of answers.get(id) ?? []) {
    if (answer.skipped) continue;
    for (const groupId of groupsOf(answer.respondent, id, turnout))
      found.set(groupId, [...(found.get(groupId) ?? []), answer]);
  }
  return found;
}

const scaledIn = ({ classes }: Organization) => classes.flat().filter(({ type }) => isScaled(type));

const meanOf = ({ type }: WeekQuestion, answers: readonly WeekAnswer[]) =>
  scaledMean(
    type,
    answers.reduce((sum, { value }) => sum + (value ?? 0), 0),
    answers.length,
  );

/** Returns the published figures with the true mean of those that match. */
const withTrueMeans =
  (isReplaced: (value: number | null) => boolean): Steps['figures'] =>
  (one, organization) => {
    const answers = new Map(scaledIn(organization).map((own) => [own.id, { own, by: answersIn(one, own) }]));
    return serviceSteps.figures(one, organization).map((figure) => {
      const known = answers.get(figure.questionId);
      const given = known?.by.get(figure.groupId);
      if (!known || !given || !isReplaced(figure.reading.value)) return figure;
      const reading = { ...figure.reading, value: meanOf(known.own, given), answers: given.length };
      return { ...figure, reading };
    });
  };

const withheld = (value: number | null) => value === null;

/** Returns the distribution of all answers in groups with a shown figure, whatever the threshold of distributions. */
const allDistributions =
  (isRead: (groupId: number, organization: Organization) => boolean): Steps['distributions'] =>
  (one, organization) =>
    scaledIn(organization).flatMap((question) =>
      [...answersIn(one, question)].flatMap(([groupId, given]) =>
        isRead(groupId, organization)
          ? [{ groupId, questionId: question.id, distribution: distributionOf(question.type, [], given) }]
          : [],
      ),
    );

const varianceOf = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
};

/** The variance of each group with a shown figure, for its own interval. */
const ownVariances: Steps['more'] = (weeks, organization) =>
  weeks.map((one) =>
    scaledIn(organization).map((question) => {
      const answers = answersIn(one, question);
      const shown = (one.published.results.get(question.id) ?? []).filter(({ value }) => value !== null);
      return shown.map(({ groupId }) =>
        varianceOf((answers.get(groupId) ?? []).map(({ value }) => value ?? 0)),
      );
    }),
  );

/** The change of people who answered in both weeks, in groups that are shown in both. */
const changesOfTheSamePeople: Steps['more'] = (weeks, organization) =>
  weeks.slice(1).map((now, i) =>
    scaledIn(organization).map((question) => {
      const [before, after] = [weeks[i]!, now].map((one) => answersIn(one, question));
      const isShownIn = (one: ClosedWeek, groupId: number) =>
        one.published.results.get(question.id)?.some((own) => own.groupId === groupId && own.value !== null);
      return [...after!].flatMap(([groupId, given]) => {
        if (!isShownIn(now, groupId) || !isShownIn(weeks[i]!, groupId)) return [];
        const earlier = new Map(before!.get(groupId)?.map((one) => [one.respondent, one.value ?? 0]));
        const both = given.filter(({ respondent }) => earlier.has(respondent));
        return both.reduce((sum, one) => sum + (one.value ?? 0) - earlier.get(one.respondent)!, 0);
      });
    }),
  );

/** All comments, in all groups of their authors. */
const allComments: Steps['comments'] = ({ open: { data, answers } }) => {
  const turnout = turnoutOf(data);
  return [...answers].flatMap(([questionId, list]) =>
    list.flatMap(({ comment, respondent }) =>
      comment === null
        ? []
        : [{ questionId, text: comment, groupIds: groupsOf(respondent, questionId, turnout) }],
    ),
  );
};

export const addedMutants: Record<string, Steps> = {
  'an interval from the variance of its own group': { ...serviceSteps, more: ownVariances },
  'the variance from distributions below their threshold': {
    ...serviceSteps,
    distributions: allDistributions(() => true),
  },
  'the variance from all answers of whole trees': {
    ...serviceSteps,
    distributions: allDistributions((groupId, { parents }) => parents.get(groupId) === null),
  },
  'rolling values and intervals from all answers, those left out too': {
    ...serviceSteps,
    figures: withTrueMeans((value) => value !== null),
  },
  'a best estimate towards the true mean of the group above, withheld answers included': {
    ...serviceSteps,
    above: withTrueMeans(() => true),
  },
  'drivers over withheld groups': { ...serviceSteps, latest: withTrueMeans(withheld) },
  'words from withheld comments': { ...serviceSteps, comments: allComments },
  'changes of the people who answered in both weeks': { ...serviceSteps, more: changesOfTheSamePeople },
};
