// Reads what a simulation of a breakdown needs: the account's people as a week would ask them now.
import { selectBreakdowns } from '../../rounds/segments/breakdowns.sql.ts';
import { maxSegmentsOfBreakdown } from '@soundings/contract/limits.ts';
import { freeText, isDistributionOnly, type QuestionType } from '@soundings/contract/question-types.ts';
import { dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { AccountId, Pool } from '../../db/db.ts';
import { ancestorsOf } from '../../people/tree.ts';
import { selectParents } from '../../rounds/rounds.sql.ts';
import {
  checkedBreakdown,
  divisionOf,
  type NewBreakdown,
  valuesOfPeople,
} from '../../rounds/segments/breakdowns.ts';
import type { SimulatedAccount, SimulatedBreakdown } from './simulate.ts';
import { selectAllMemberships, selectRecentRates, selectRecentTypes } from './simulated-account.sql.ts';

/** How many past weeks tell what is asked and who is likely to answer, and how likely anyone is if there are none. */
const rateWeeks = 8;
const usualRate = 0.7;

/**
 * Returns what a breakdown would show if it were opened now. Throws a Fault if it can't be opened. `simulate` computes it (simulate.ts), on
 * a thread in the service. `now`: milliseconds since 1970.
 */
export async function simulateOpening(
  pool: Pool,
  accountId: AccountId,
  breakdown: NewBreakdown,
  now: number,
  simulate: (account: SimulatedAccount) => SimulatedBreakdown | Promise<SimulatedBreakdown>,
): Promise<SimulatedBreakdown> {
  const checked = await checkedBreakdown(pool, accountId, breakdown);
  const account = await accountById(pool, accountId);
  const { threshold, timezone } = account;
  const distributionThreshold = account.distributionThreshold ?? (threshold === 1 ? 1 : 2 * threshold);
  const all = await selectBreakdowns(pool, accountId);
  const open = all.filter(({ closedAt }) => closedAt === null);
  const divisions = [...open, checked].map((one) => divisionOf(one, all));
  const [members, parents, rates, types] = [
    await selectAllMemberships(pool, accountId),
    await selectParents(pool, accountId),
    await selectRecentRates(pool, accountId, rateWeeks),
    await selectRecentTypes(pool, accountId, rateWeeks),
  ];
  const rateOf = new Map(rates.map(({ groupId, asked, answered }) => [groupId, answered / asked]));
  const tops = rates.filter(({ groupId }) => parents.get(groupId) === null);
  const ofTops = (of: 'asked' | 'answered') => tops.reduce((sum, one) => sum + one[of], 0);
  const ofAll = ofTops('asked') === 0 ? usualRate : ofTops('answered') / ofTops('asked');
  const people = members.map(({ memberOf }) => {
    const chains = memberOf.map((id) => ancestorsOf(id, parents));
    const known = chains.flatMap((chain) => chain.filter((id) => rateOf.has(id)).slice(0, 1));
    const likelihood = known.length > 0 ? (rateOf.get(known[0] as number) as number) : ofAll;
    return { groupIds: [...new Set(chains.flat())], likelihood };
  });
  const userIds = members.map(({ userId }) => userId);
  const week = weekOf(dayIn(timezone, now));
  const values = await valuesOfPeople(pool, accountId, divisions, week, userIds);
  const places = new Map(values.userIds.map((userId, place) => [userId, place]));
  const breakdowns = values.breakdowns.map((list) => userIds.map((userId) => list[places.get(userId) ?? -1]));
  const trees = new Map([...parents.keys()].map((id) => [id, ancestorsOf(id, parents).at(-1) as number]));
  const asked = askedOf(types);
  return simulate({
    people,
    trees,
    breakdowns,
    threshold,
    distributionThreshold,
    asked,
    limit: maxSegmentsOfBreakdown,
  });
}

/** Returns how many of the questions have means, and how many only distributions. */
function askedOf(types: readonly { type: QuestionType; questions: number }[]): SimulatedAccount['asked'] {
  const count = (matches: (type: QuestionType) => boolean) =>
    types.filter(({ type }) => matches(type)).reduce((sum, { questions }) => sum + questions, 0);
  const distributions = count(isDistributionOnly);
  return { withMean: count((type) => type !== freeText) - distributions, distributions };
}
