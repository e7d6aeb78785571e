// Attacks between weeks (rules.md P19, P20): people mostly repeat their answers, and the sets of people change. The attacker
// knows how often answers are repeated, how common each answer is, who is in each set and how noise is drawn, and makes the best
// guess: the most probable answer.
import type { Random } from '../../simulation/random.ts';

/** How probable each answer is, starting with the lowest of the scale, and how probably a person repeats the last one. */
export type Habits = { usual: readonly number[]; persistence: number };

/** How probable each error of a sum is, from −`most` to `most`. The middle one means no error. */
export type Errors = readonly number[];

/** Draws a random answer, counted from 0. */
export function draw(random: Random, probabilities: readonly number[]): number {
  let left = random.next();
  for (const [value, probability] of probabilities.entries()) {
    left -= probability;
    if (left < 0) return value;
  }
  return probabilities.length - 1;
}

/** Returns one person’s answers in some weeks, counted from 0. Each repeats the last one, or is drawn again. */
export function repeatedAnswers(random: Random, { usual, persistence }: Habits, weeks: number): number[] {
  const answers = [draw(random, usual)];
  while (answers.length < weeks) {
    answers.push(random.chance(persistence) ? (answers.at(-1) as number) : draw(random, usual));
  }
  return answers;
}

const largestAt = (list: readonly number[]) => list.indexOf(Math.max(...list));

// Someone leaves a team between two weeks.

/** The sum of a question with the person who leaves, and that of the colleagues a week later. */
export type Leaving = [sum: number, sumAfter: number];

/**
 * Returns the best guess of a leaver’s answer from the two sums, with answers counted from 0, and the share of such guesses that
 * are right, by exact probabilities of everything that can happen. `guessAll`: the guesses for several questions in the same two
 * weeks whose sums have the same errors.
 */
export function leaverRule({ usual, persistence }: Habits, errors: Errors, colleagues: number) {
  const top = usual.length - 1;
  const most = (errors.length - 1) / 2;
  const width = colleagues * top + 1;
  const pairs = pairsOfSums({ usual, persistence }, colleagues);
  /** How probable each answer is together with these sums and errors. */
  const likelyWith = ([sum, sumAfter]: Leaving, i: number, j: number) =>
    usual.map((chance, own) => {
      const [before, after] = [sum - own - (i - most), sumAfter - (j - most)];
      if (before < 0 || after < 0 || before >= width || after >= width) return 0;
      return chance * (pairs[before * width + after] as number);
    });
  const total = (list: readonly number[]) => list.reduce((so, one) => so + one, 0);
  const guessAll = (sums: Leaving[]): number[] => {
    const likely = sums.map(() => usual.map(() => 0));
    for (const [i, first] of errors.entries()) {
      for (const [j, second] of errors.entries()) {
        const each = sums.map((one) => likelyWith(one, i, j));
        const together = each.reduce((product, one) => product * total(one) * 100, first * second);
        for (const [q, one] of each.entries()) {
          const all = total(one);
          if (all === 0) continue;
          const row = likely[q] as number[];
          for (let own = 0; own <= top; own++) {
            row[own] = (row[own] as number) + (together * (one[own] as number)) / all;
          }
        }
      }
    }
    return likely.map(largestAt);
  };
  let share = 0;
  for (let sum = -most; sum < width + top + most; sum++) {
    for (let after = -most; after < width + most; after++) {
      const likely = usual.map(() => 0);
      for (const [i, first] of errors.entries()) {
        for (const [j, second] of errors.entries()) {
          for (const [own, one] of likelyWith([sum, after], i, j).entries()) {
            likely[own] = (likely[own] as number) + first * second * one;
          }
        }
      }
      share += Math.max(...likely);
    }
  }
  return { guessAll, share };
}

/** Returns how probable each pair of sums of some people’s answers in two weeks is. */
function pairsOfSums({ usual, persistence }: Habits, people: number): Float64Array {
  const top = usual.length - 1;
  const width = people * top + 1;
  let pairs = new Float64Array(width * width);
  pairs[0] = 1;
  for (let i = 0; i < people; i++) {
    const next = new Float64Array(width * width);
    for (let before = 0; before <= i * top; before++) {
      for (let after = 0; after <= i * top; after++) {
        const so = pairs[before * width + after] as number;
        for (const [first, chance] of usual.entries()) {
          for (const [second, again] of usual.entries()) {
            const pair = chance * ((first === second ? persistence : 0) + (1 - persistence) * again);
            const at = (before + first) * width + after + second;
            next[at] = (next[at] as number) + so * pair;
          }
        }
      }
    }
    pairs = next;
  }
  return pairs;
}

/** The plain guess: the difference of the sums, if it is on the scale. */
export const differenceGuess = (top: number) => (sum: number, sumAfter: number) =>
  Math.min(top, Math.max(0, sum - sumAfter));

// Sets that change every week.

/** A published sum of some people’s answers in a week, counted from 0. */
export type Observation = { week: number; people: number[]; sum: number };

/**
 * Returns how probable each answer of each person in each week is, given all observations: belief propagation between the
 * people’s chains of weeks and the sums. Nearly exact if the sums share few people with each other.
 */
export function beliefs(
  observations: Observation[],
  people: number,
  weeks: number,
  habits: Habits,
  errors: Errors,
  rounds = 60,
): number[][][] {
  const { usual } = habits;
  const values = usual.length;
  const flat = () =>
    Array.from({ length: people }, () => Array.from({ length: weeks }, () => Array<number>(values).fill(1)));
  // What each sum says about each of its people, and all sums together.
  const messages = observations.map(({ people: some }) => some.map(() => Array<number>(values).fill(1)));
  const all = flat();
  const fromChains = flat();
  for (let round = 0; round < rounds; round++) {
    // Sums count as rough at first, so that no belief becomes certain before the others are considered.
    const rough = convolved(errors, bell(Math.max(0.35, 3 - (4 * round) / rounds)));
    for (const row of all) for (const likelihood of row) likelihood.fill(1);
    for (const [o, { week, people: some }] of observations.entries()) {
      for (const [i, person] of some.entries()) {
        multiply(all[person]?.[week] as number[], messages[o]?.[i] as number[]);
      }
    }
    for (let person = 0; person < people; person++) {
      fromChains[person] = alongChain(all[person] as number[][], habits);
    }
    for (const [o, { week, people: some, sum }] of observations.entries()) {
      const own = messages[o] as number[][];
      // What is known about each person without this sum.
      const incoming = some.map((person, i) => {
        const [chain, heard] = [fromChains[person]?.[week] as number[], all[person]?.[week] as number[]];
        const message = chain.map(
          (belief, value) => (belief * (heard[value] as number)) / (own[i]?.[value] as number),
        );
        return normalized(message);
      });
      const outgoing = sumMessages(incoming, sum, rough);
      for (const [i, message] of outgoing.entries()) {
        // Half of the way from the last value, because full steps may oscillate.
        own[i] = normalized(message.map((one, value) => Math.sqrt(one * (own[i]?.[value] as number))));
      }
    }
  }
  return fromChains.map((row, person) =>
    row.map((belief, week) => normalized(belief.map((one, v) => one * (all[person]?.[week]?.[v] as number)))),
  );
}

const tiny = 1e-12;

/** Returns the probabilities of errors with about this standard deviation. No error is larger than about twice the deviation. */
function bell(deviation: number): number[] {
  if (deviation < 0.3) return [1];
  const most = Math.ceil(2 * deviation);
  const list = Array.from({ length: 2 * most + 1 }, (_, i) =>
    Math.exp(-((i - most) ** 2) / (2 * deviation ** 2)),
  );
  const sum = list.reduce((so, one) => so + one, 0);
  return list.map((one) => one / sum);
}

function multiply(into: number[], by: readonly number[]): void {
  for (const [i, factor] of by.entries()) into[i] = (into[i] as number) * factor;
}

function normalized(list: readonly number[]): number[] {
  const sum = list.reduce((so, one) => so + one, 0);
  return sum > 0 ? list.map((one) => one / sum + tiny) : list.map(() => 1 / list.length);
}

/** Returns for each week what the person's other weeks say about it. */
function alongChain(likelihoods: number[][], { usual, persistence }: Habits): number[][] {
  const step = (message: number[]) => {
    const sum = message.reduce((so, one) => so + one, 0);
    return message.map((one, i) => persistence * one + (1 - persistence) * sum * (usual[i] as number));
  };
  // The transition is reversible, so a backward message is a forward message of the likelihood times the usual probability.
  const forward: number[][] = [[...usual]];
  for (let week = 1; week < likelihoods.length; week++) {
    const last = (forward[week - 1] as number[]).map(
      (one, i) => one * (likelihoods[week - 1]?.[i] as number),
    );
    forward.push(normalized(step(last)));
  }
  const backward: number[][] = [];
  let message = [...usual];
  for (let week = likelihoods.length - 1; week >= 0; week--) {
    backward[week] = message.map((one, i) => one / (usual[i] as number));
    message = normalized(step(message.map((one, i) => one * (likelihoods[week]?.[i] as number))));
  }
  return forward.map((one, week) => one.map((belief, i) => belief * (backward[week]?.[i] as number)));
}

/** Returns for each person how probable the sum is by that person’s answer, given the beliefs about the others. */
function sumMessages(incoming: number[][], sum: number, errors: Errors): number[][] {
  const most = (errors.length - 1) / 2;
  const before: number[][] = [[1]];
  for (const [i, one] of incoming.entries()) before.push(convolved(before[i] as number[], one));
  const messages: number[][] = [];
  // The sum of the later ones and the error.
  let after: number[] = [...errors];
  for (let i = incoming.length - 1; i >= 0; i--) {
    const others = convolved(before[i] as number[], after);
    messages[i] = (incoming[i] as number[]).map((_, own) => others[sum + most - own] ?? 0);
    after = convolved(after, incoming[i] as number[]);
  }
  return messages;
}

function convolved(a: readonly number[], b: readonly number[]): number[] {
  const sums = Array<number>(a.length + b.length - 1).fill(0);
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    for (let j = 0; j < b.length; j++) sums[i + j] = (sums[i + j] as number) + x * (b[j] as number);
  }
  return sums;
}

/** Returns the most probable answer of each person in a week. */
export const guessesOf = (probabilities: number[][][], week: number): number[] =>
  probabilities.map((row) => largestAt(row[week] as number[]));

// A leaver again, from several weeks before and after.

/**
 * Returns the best guess of a leaver’s answer in the last week with the team, from the sums of `before` weeks with the leaver and
 * `after` weeks without, with answers counted from 0. Sums are treated as normally distributed. `isLasting`: the error stays the
 * same while the people do. Otherwise it is drawn again each week.
 */
export function longLeaverGuess(
  { usual, persistence }: Habits,
  errors: Errors,
  {
    colleagues,
    before,
    after,
    isLasting,
  }: { colleagues: number; before: number; after: number; isLasting: boolean },
): (sums: number[]) => number {
  const mean = usual.reduce((sum, chance, value) => sum + chance * value, 0);
  const variance = usual.reduce((sum, chance, value) => sum + chance * (value - mean) ** 2, 0);
  const most = (errors.length - 1) / 2;
  const noise = errors.reduce((sum, chance, i) => sum + chance * (i - most) ** 2, 0);
  const weeks = Array.from({ length: before + after }, (_, week) => week);
  const isWith = (week: number) => week < before;
  const apart = (week: number) => persistence ** (before - 1 - week);
  const covariance = weeks.map((one) =>
    weeks.map((other) => {
      const ofColleagues = colleagues * variance * persistence ** Math.abs(one - other);
      const bothWith = isWith(one) && isWith(other);
      // What remains unknown of the leaver’s other weeks when the last one is known.
      const ofLeaver = bothWith
        ? variance * (persistence ** Math.abs(one - other) - apart(one) * apart(other))
        : 0;
      const isSame = one === other || (isLasting && isWith(one) === isWith(other));
      return ofColleagues + ofLeaver + (isSame ? noise : 0) + (one === other ? 1e-6 : 0);
    }),
  );
  const solve = solver(covariance);
  return (sums) => {
    const likely = usual.map((chance, own) => {
      const rest = sums.map(
        (sum, week) => sum - colleagues * mean - (isWith(week) ? mean + (own - mean) * apart(week) : 0),
      );
      const distance = solve(rest).reduce((so, one, week) => so + one * (rest[week] as number), 0);
      return Math.log(chance) - distance / 2;
    });
    return largestAt(likely);
  };
}

/** Returns a solver for equations with a symmetric positive matrix, by Cholesky decomposition. */
function solver(matrix: number[][]): (right: number[]) => number[] {
  const root: number[][] = matrix.map((row) => row.map(() => 0));
  const at = (list: number[][], i: number, j: number) => list[i]?.[j] as number;
  for (let i = 0; i < matrix.length; i++) {
    for (let j = 0; j <= i; j++) {
      let left = at(matrix, i, j);
      for (let l = 0; l < j; l++) left -= at(root, i, l) * at(root, j, l);
      (root[i] as number[])[j] = i === j ? Math.sqrt(left) : left / at(root, j, j);
    }
  }
  return (right) => {
    const half: number[] = [];
    for (let i = 0; i < right.length; i++) {
      let left = right[i] as number;
      for (let l = 0; l < i; l++) left -= at(root, i, l) * (half[l] as number);
      half.push(left / at(root, i, i));
    }
    const whole: number[] = [];
    for (let i = right.length - 1; i >= 0; i--) {
      let left = half[i] as number;
      for (let l = i + 1; l < right.length; l++) left -= at(root, l, i) * (whole[l] as number);
      whole[i] = left / at(root, i, i);
    }
    return whole;
  };
}
