// The second adversary of privacy.md, written independently of the first: it combines figures of several questions, groups, trees
// and rounds, with rational arithmetic and with the bounds of integer answers, and checks each claim against the truth.
import {
  isDistributionOnly,
  isScaled,
  type QuestionType,
  yesNo,
} from '@soundings/contract/question-types.ts';
import type { KpiValue, Result, ShownComment } from '../../results/figures.ts';
import type { Rate } from '../../results/disclosure/response-rates.ts';
import type { WeekAnswer, WeekData } from '../../results/turnout.ts';
import { weekData } from './histories.ts';
import { boundsOf, type World, type WorldQuestion } from './second-worlds.ts';

/** Everything that is published about a week. */
export type PublishedWeek = {
  results: Map<number, Result[]>;
  comments: Map<number, ShownComment[]>;
  kpis: KpiValue[];
  rates: Rate[];
};

/** The service under attack: publishes a week. */
export type Publish = (
  data: WeekData,
  questions: WorldQuestion[],
  answers: Map<number, WeekAnswer[]>,
  kpis: World['kpis'],
) => PublishedWeek;

/**
 * A published figure as a sum over unknowns. An unknown is a person's answer to a question's wording, and is named after both.
 * `weights`: how many times each unknown is in the sum, an integer. `total`: the sum.
 */
export type Row = { name: string; weights: Map<string, number>; total: number };

/** Rows over the same kind of unknowns, each of which is an integer from `low` to `high`. */
export type System = { name: string; rows: Row[]; low: number; high: number; truth: Map<string, number> };

export type Claim = {
  by: 'linear' | 'integer' | 'comments';
  system: string;
  /** The people that the claim is about. */
  people: string[];
  /** Whether the claim is true. */
  isRight: boolean;
};

const personOf = (unknown: string) => unknown.slice(unknown.indexOf('|') + 1);

/** Returns a key for question texts that readers would consider the same. */
export const isSameText = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

// Published figures as rows. The adversary knows who answered and the service's rules, so it knows the people that each figure is based on.
// It finds them by experiment: the same people give answers that mark them.

type Membership = { sums: Map<string, string[]>; distributions: Map<string, string[]> };

const keyOf = (questionId: number, groupId: number) => `${questionId} ${groupId}`;

/** Returns for each figure, by question and group, the people that it is based on. */
function membersOf(
  world: World,
  data: WeekData,
  answers: Map<number, WeekAnswer[]>,
  publish: Publish,
): Membership {
  const everyone = [
    ...new Set([...answers.values()].flatMap((list) => list.map(({ respondent }) => respondent))),
  ];
  const found: Membership = { sums: new Map(), distributions: new Map() };
  const note = (sets: Map<string, string[]>, key: string, person: string) =>
    sets.set(key, [...(sets.get(key) ?? []), person]);
  // 30 people at a time have one bit each, and all others have 0.
  for (let start = 0; start < everyone.length; start += 30) {
    const marked = everyone.slice(start, start + 30);
    const bitOf = new Map(marked.map((person, i) => [person, 2 ** i]));
    const questions = world.questions.map((one) =>
      isScaled(one.type) ? one : { ...one, options: everyone },
    );
    const marking = (type: QuestionType, answer: WeekAnswer): WeekAnswer => {
      const bit = bitOf.get(answer.respondent) ?? 0;
      return isScaled(type)
        ? { ...answer, value: bit }
        : { ...answer, choices: bit > 0 ? [answer.respondent] : [] };
    };
    const typeOf = (id: number) => world.questions.find((one) => one.id === id)?.type as QuestionType;
    const given = new Map(
      [...answers].map(([id, list]) => [id, list.map((one) => marking(typeOf(id), one))]),
    );
    const { results } = publish(data, questions, given, []);
    for (const [id, list] of results) {
      for (const { groupId, value, answers: count, distribution } of list) {
        const total = value === null ? 0 : ownSum(typeOf(id), value, count as number);
        for (const [person, bit] of bitOf) {
          if (Math.floor(total / bit) % 2 === 1) note(found.sums, keyOf(id, groupId), person);
          const inDistribution =
            typeOf(id) === yesNo
              ? Math.floor(total / bit) % 2 === 1
              : distribution?.[isScaled(typeOf(id)) ? bit : person];
          if (distribution && inDistribution) note(found.distributions, keyOf(id, groupId), person);
        }
      }
    }
  }
  return found;
}

/** Returns the sum of the answers behind a mean. */
export function ownSum(type: QuestionType, mean: number, count: number): number {
  const [low, high] = boundsOf(type);
  return Math.round((mean * (high - low) + low) * count);
}

/** Returns every system of rows of a week. */
function systemsOf(world: World, week: World['weeks'][number], publish: Publish) {
  const data = weekData(world, week);
  const members = membersOf(world, data, week.answers, publish);
  const published = publish(data, world.questions, week.answers, world.kpis);
  const means = new Map<string, System>();
  const distributions = new Map<string, System>();
  for (const question of world.questions) {
    const wording = isSameText(question.text);
    const [low, high] = boundsOf(question.type);
    const hasMean = isScaled(question.type) && !isDistributionOnly(question.type);
    const counted = (week.answers.get(question.id) ?? []).filter(({ skipped }) => !skipped);
    const unknown = (person: string) => `${wording}|${person}`;
    const systemOf = (systems: Map<string, System>, name: string, bounds: [number, number]) => {
      const system: System = systems.get(name) ?? {
        name,
        rows: [],
        low: bounds[0],
        high: bounds[1],
        truth: new Map(),
      };
      systems.set(name, system);
      return system;
    };
    for (const { groupId, value, answers, distribution } of published.results.get(question.id) ?? []) {
      const row = (people: string[], total: number): Row => ({
        name: `${question.id} in ${groupId}`,
        weights: new Map(people.map((person) => [unknown(person), 1])),
        total,
      });
      const key = keyOf(question.id, groupId);
      if (hasMean && value !== null) {
        const system = systemOf(means, wording, [low, high]);
        system.rows.push(row(members.sums.get(key) ?? [], ownSum(question.type, value, answers as number)));
      }
      for (const [name, times] of Object.entries(distribution ?? {})) {
        const system = systemOf(distributions, `${wording}: ${name}`, [0, 1]);
        system.rows.push(row(members.distributions.get(key) ?? [], times));
      }
      if (hasMean && distribution) {
        // A distribution is a mean too.
        const total = Object.entries(distribution).reduce(
          (sum, [name, times]) => sum + Number(name) * times,
          0,
        );
        means.get(wording)?.rows.push(row(members.distributions.get(key) ?? [], total));
      }
    }
    for (const { respondent, value, choices } of counted) {
      means.get(wording)?.truth.set(unknown(respondent), value as number);
      for (const [name, system] of distributions) {
        if (!name.startsWith(`${wording}: `)) continue;
        const option = name.slice(wording.length + 2);
        const own = question.type === yesNo ? [value === 1 ? 'yes' : 'no'] : (choices ?? [String(value)]);
        system.truth.set(unknown(respondent), own.includes(option) ? 1 : 0);
      }
    }
  }
  return { data, published, means: [...means.values()], distributions: [...distributions.values()] };
}

/**
 * Returns one system of all questions of the week, with a row for each KPI value that does not follow from the shown values of
 * its questions. The adversary treats such a value as a mean over everyone who counts in the group.
 */
function withKpis(
  world: World,
  week: World['weeks'][number],
  means: System[],
  { kpis, results }: PublishedWeek,
) {
  const joint: System = { name: 'all questions', rows: [], low: -Infinity, high: Infinity, truth: new Map() };
  for (const { rows, truth } of means) {
    joint.rows.push(...rows);
    for (const [unknown, value] of truth) joint.truth.set(unknown, value);
  }
  const asked = askedIn(weekData(world, week));
  let beyond = 0;
  for (const { kpiId, groupId, value } of kpis) {
    const ids = world.kpis.find(({ id }) => id === kpiId)?.questionIds ?? [];
    const shown = ids.flatMap((id) => results.get(id)?.find((one) => one.groupId === groupId)?.value ?? []);
    const mean = shown.reduce((sum, one) => sum + one, 0) / shown.length;
    if (value === null || Math.abs(value - mean) < 1e-9) continue;
    const parts = ids.flatMap((id) => {
      const { type, text } = world.questions.find((one) => one.id === id) as WorldQuestion;
      if (!isScaled(type)) return [];
      const people = (week.answers.get(id) ?? []).filter(
        ({ respondent, skipped }) => !skipped && asked.get(keyOf(id, groupId))?.has(respondent),
      );
      return people.length > 0 ? [{ type, wording: isSameText(text), people }] : [];
    });
    // Integers: multiplied by the scales and the numbers of people.
    const ranges = parts.map(({ type, people }) => (boundsOf(type)[1] - boundsOf(type)[0]) * people.length);
    const common = ranges.reduce((product, one) => product * one, 1);
    const row: Row = {
      name: `KPI ${kpiId} in ${groupId}`,
      weights: new Map(),
      total: value * common * parts.length,
    };
    for (const [i, { type, wording, people }] of parts.entries()) {
      const weight = common / (ranges[i] as number);
      for (const { respondent, value: own } of people) {
        row.weights.set(`${wording}|${respondent}`, weight);
        joint.truth.set(`${wording}|${respondent}`, own as number);
      }
      row.total += weight * boundsOf(type)[0] * people.length;
    }
    joint.rows.push({ ...row, total: Math.round(row.total) });
    beyond++;
  }
  return beyond > 0 ? joint : undefined;
}

// Rational combinations: some figures, each multiplied by any number and added up.

/** People that no row distinguishes. */
type Company = { people: string[]; columns: number[] };

const primes = [67_108_859, 67_108_837] as const;

/** Rows with multipliers. `left`: the unknowns that remain, of fewer people than the threshold. */
export type Combination = { times: bigint[]; left: Map<string, bigint>; people: string[] };

/**
 * Returns a combination of the rows that depends on fewer than `threshold` people alone. Works modulo a prime first: the vectors
 * on which all rows are 0 show which companies’ sums are determined together. The result is checked in integers. 'undecided':
 * there may be one, but none was found in the time limit.
 */
export function findCombination(rows: Row[], threshold: number): Combination | 'undecided' | undefined {
  const { companies, matrix } = columnsOf(rows);
  const few = companies.filter(({ people }) => people.length < threshold);
  if (few.length === 0) return undefined;
  let isUndecided = false;
  for (const prime of primes) {
    const chosen = dependent(few, kernelOf(matrix, prime), threshold, prime);
    if (chosen === 'undecided') isUndecided = true;
    if (chosen === undefined || chosen === 'undecided') continue;
    const times = combination(matrix, new Set(chosen.flatMap(({ columns }) => columns)), prime);
    if (!times) {
      isUndecided = true;
      continue;
    }
    const sum = new Map<string, bigint>();
    for (const [i, { weights }] of rows.entries()) {
      for (const [unknown, weight] of weights) {
        sum.set(unknown, (sum.get(unknown) ?? 0n) + (times[i] as bigint) * BigInt(weight));
      }
    }
    const left = new Map([...sum].filter(([, weight]) => weight !== 0n));
    const people = [...new Set([...left.keys()].map(personOf))];
    if (people.length > 0 && people.length < threshold) return { times, left, people };
    isUndecided = true;
  }
  return isUndecided ? 'undecided' : undefined;
}

const totalOf = (totals: number[], times: bigint[]) =>
  times.reduce((sum, time, i) => sum + time * BigInt(totals[i] as number), 0n);

/** Returns the claim of such a combination: the remaining unknowns add up to the combined figures. */
export function findLinear(
  { name, rows, truth }: System,
  threshold: number,
): Claim | 'undecided' | undefined {
  const found = findCombination(rows, threshold);
  if (found === undefined || found === 'undecided') return found;
  const { times, left, people } = found;
  const real = [...left].reduce(
    (sum, [unknown, weight]) => sum + weight * BigInt(truth.get(unknown) as number),
    0n,
  );
  const claimed = totalOf(
    rows.map(({ total }) => total),
    times,
  );
  return { by: 'linear', system: name, people, isRight: real === claimed };
}

/** Returns the rows as a matrix with a column for each company and wording. */
function columnsOf(rows: Row[]): { companies: Company[]; matrix: number[][] } {
  const placesOf = new Map<string, string[]>();
  const wordsOf = new Map<string, Set<string>>();
  for (const [i, { weights }] of rows.entries()) {
    for (const [unknown, weight] of weights) {
      const [person, wording] = [personOf(unknown), unknown.slice(0, unknown.indexOf('|'))];
      placesOf.set(person, [...(placesOf.get(person) ?? []), `${i} ${wording} ${weight}`]);
      wordsOf.set(person, (wordsOf.get(person) ?? new Set()).add(wording));
    }
  }
  const byPlaces = new Map<string, Company>();
  const columnOf = new Map<string, number>();
  for (const [person, places] of placesOf) {
    const key = places.join(';');
    const company = byPlaces.get(key);
    if (company) {
      company.people.push(person);
      continue;
    }
    const columns = [...(wordsOf.get(person) as Set<string>)].map((wording) => {
      columnOf.set(`${wording}|${person}`, columnOf.size);
      return columnOf.size - 1;
    });
    byPlaces.set(key, { people: [person], columns });
  }
  const matrix = rows.map(({ weights }) => {
    const row = Array<number>(columnOf.size).fill(0);
    for (const [unknown, weight] of weights) {
      const column = columnOf.get(unknown);
      if (column !== undefined) row[column] = weight;
    }
    return row;
  });
  return { companies: [...byPlaces.values()], matrix };
}

const modulo = (value: number, prime: number) => ((value % prime) + prime) % prime;

/** 1 / value, by the Euclidean algorithm. */
function inverse(value: number, prime: number): number {
  let [a, b, x, y] = [value, prime, 1, 0];
  while (b > 0) {
    const times = Math.floor(a / b);
    [a, b, x, y] = [b, a - times * b, y, x - times * y];
  }
  return modulo(x, prime);
}

/** Subtracts a multiple of `row` from another, so that `column` becomes 0. */
function clear(other: number[], row: readonly number[], column: number, prime: number): void {
  const times = other[column] as number;
  if (times === 0) return;
  for (let i = 0; i < row.length; i++) {
    if (row[i] !== 0) other[i] = ((other[i] as number) + (prime - times) * (row[i] as number)) % prime;
  }
}

/** Computes the echelon form of the first `width` columns. Returns the column of each leading 1. */
function echelon(matrix: number[][], width: number, prime: number): number[] {
  const leads: number[] = [];
  for (let column = 0; column < width && leads.length < matrix.length; column++) {
    const at = matrix.findIndex((row, i) => i >= leads.length && row[column] !== 0);
    if (at < 0) continue;
    [matrix[at], matrix[leads.length]] = [matrix[leads.length] as number[], matrix[at] as number[]];
    const row = matrix[leads.length] as number[];
    const factor = inverse(row[column] as number, prime);
    for (let i = 0; i < row.length; i++) row[i] = ((row[i] as number) * factor) % prime;
    for (const other of matrix) if (other !== row) clear(other, row, column, prime);
    leads.push(column);
  }
  return leads;
}

/** Returns for each column its components in the vectors on which all rows are 0. */
function kernelOf(rows: readonly number[][], prime: number): number[][] {
  const matrix = rows.map((row) => row.map((weight) => modulo(weight, prime)));
  const width = matrix[0]?.length ?? 0;
  const leads = echelon(matrix, width, prime);
  const free = Array.from({ length: width }, (_, column) => column).filter(
    (column) => !leads.includes(column),
  );
  return Array.from({ length: width }, (_, column) => {
    const lead = leads.indexOf(column);
    return free.map((one) => {
      if (lead < 0) return one === column ? 1 : 0;
      return modulo(-(matrix[lead]?.[one] as number), prime);
    });
  });
}

/**
 * Returns companies of together fewer than `threshold` people whose components in the kernel are dependent: some sum over them is
 * the same in every solution of the rows. Tries single companies first, then two, then more.
 */
function dependent(few: Company[], kernel: number[][], threshold: number, prime: number) {
  let tries = 0;
  type Basis = { vector: number[]; lead: number }[];
  const isDependent = (basis: Basis, columns: number[]): boolean => {
    for (const column of columns) {
      const vector = [...(kernel[column] as number[])];
      for (const one of basis) clear(vector, one.vector, one.lead, prime);
      const lead = vector.findIndex((value) => value !== 0);
      if (lead < 0) return true;
      const factor = inverse(vector[lead] as number, prime);
      basis.push({ vector: vector.map((value) => (value * factor) % prime), lead });
    }
    return false;
  };
  const choose = (
    chosen: Company[],
    basis: Basis,
    size: number,
    next: number,
    more: number,
  ): Company[] | undefined => {
    for (let i = next; i < few.length; i++) {
      const company = few[i] as Company;
      if (size + company.people.length >= threshold) continue;
      if (++tries > 20_000) return undefined;
      const grown = [...basis];
      if (isDependent(grown, company.columns)) return [...chosen, company];
      if (more === 0) continue;
      const found = choose([...chosen, company], grown, size + company.people.length, i + 1, more - 1);
      if (found) return found;
    }
    return undefined;
  };
  for (let more = 0; more < threshold - 1; more++) {
    const found = choose([], [], 0, 0, more);
    if (found) return found;
  }
  return tries > 20_000 ? 'undecided' : undefined;
}

/** Returns integer multipliers of the rows so that only `columns` remain. */
function combination(rows: readonly number[][], columns: Set<number>, prime: number): bigint[] | undefined {
  const width = rows[0]?.length ?? 0;
  const order = Array.from({ length: width }, (_, i) => i).toSorted(
    (a, b) => Number(columns.has(a)) - Number(columns.has(b)),
  );
  const matrix = rows.map((row, i) => [
    ...order.map((column) => modulo(row[column] as number, prime)),
    ...rows.map((_, j) => (i === j ? 1 : 0)),
  ]);
  const outside = width - columns.size;
  const rank = echelon(matrix, outside, prime).length;
  const left = matrix.slice(rank).find((row) => row.slice(outside, width).some((weight) => weight !== 0));
  const fractions = left?.slice(width).map((value) => fractionOf(value, prime));
  if (!fractions || fractions.includes(undefined)) return undefined;
  const all = fractions as [number, number][];
  const common = all.reduce((so, [, under]) => (so * BigInt(under)) / greatest(so, BigInt(under)), 1n);
  return all.map(([over, under]) => (BigInt(over) * common) / BigInt(under));
}

const greatest = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatest(b, a % b));

/** Returns the fraction of small integers that equals a number modulo the prime. */
function fractionOf(value: number, prime: number): [over: number, under: number] | undefined {
  const most = Math.sqrt(prime / 2);
  let [a, b, x, y] = [prime, value, 0, 1];
  while (b > most) {
    const times = Math.floor(a / b);
    [a, b, x, y] = [b, a - times * b, y, x - times * y];
  }
  if (Math.abs(y) > most || y === 0) return undefined;
  return y < 0 ? [-b, -y] : [b, y];
}

// Bounded integer answers: a combination near the lowest or highest possible value determines answers.

/** Figures of one system over companies. */
type Table = { sizes: number[]; people: string[][]; sets: Uint8Array[]; totals: number[] };

/**
 * Returns claims that determine the answers of fewer than `threshold` people, from up to three figures with multipliers from −2
 * to 2. If everyone in a company must have the lowest or highest value for the combination to be possible, these answers are known. One
 * person's answer is also known if the others’ sum is known modulo a number. That everyone in a published set agrees is not such a claim:
 * unanimity is a stated limit.
 */
export function findInteger(system: System, threshold: number): Claim[] {
  const table = tableOf(system);
  const claims: Claim[] = [];
  const { sets, totals } = table;
  const unanimous = sets.filter((set, i) => isExtreme(set, totals[i] as number, table, system));
  const isKnown = (company: number) => unanimous.some((set) => set[company] === 1);
  const seen = new Set<string>();
  const weights = new Int8Array(table.sizes.length);
  const judge = (terms: [row: number, times: number][]) => {
    weights.fill(0);
    let total = 0;
    for (const [row, times] of terms) {
      total += times * (totals[row] as number);
      const set = sets[row] as Uint8Array;
      for (let i = 0; i < set.length; i++) if (set[i] === 1) weights[i] = (weights[i] as number) + times;
    }
    for (const { company, value } of fixedBy(weights, total, table, system, threshold)) {
      if (isKnown(company) || seen.has(`${company}`)) continue;
      seen.add(`${company}`);
      const people = table.people[company] as string[];
      const wording = system.rows[0]?.weights.keys().next().value?.split('|')[0];
      const isRight = people.every((person) => system.truth.get(`${wording}|${person}`) === value);
      claims.push({ by: 'integer', system: system.name, people, isRight });
    }
  };
  const all = [-2, -1, 1, 2];
  for (let i = 0; i < sets.length; i++) {
    judge([[i, 1]]);
    for (let j = i + 1; j < sets.length; j++) {
      for (const first of [1, 2])
        for (const second of all)
          judge([
            [i, first],
            [j, second],
          ]);
      for (let l = j + 1; l < sets.length; l++) {
        for (const first of [1, 2]) {
          for (const second of all)
            for (const third of all)
              judge([
                [i, first],
                [j, second],
                [l, third],
              ]);
        }
      }
    }
  }
  return claims;
}

/** At most 12 different sets, because more would take too long. */
function tableOf({ rows }: System): Table {
  const different = new Map(rows.map((row) => [[...row.weights.keys()].toSorted().join(), row]));
  const some = [...different.values()].toSorted((a, b) => a.weights.size - b.weights.size).slice(0, 12);
  const { companies } = columnsOf(some);
  const wording = some[0]?.weights.keys().next().value?.split('|')[0];
  const sets = some.map(({ weights }) =>
    Uint8Array.from(companies, ({ people }) => (weights.has(`${wording}|${people[0]}`) ? 1 : 0)),
  );
  return {
    sizes: companies.map(({ people }) => people.length),
    people: companies.map(({ people }) => people),
    sets,
    totals: some.map(({ total }) => total),
  };
}

function isExtreme(set: Uint8Array, total: number, { sizes }: Table, { low, high }: System): boolean {
  const count = sizes.reduce((sum, size, i) => sum + (set[i] as number) * size, 0);
  return total === count * low || total === count * high;
}

/** Returns the companies, of together fewer than `threshold` people, whose answers a combination determines, with each value. */
function fixedBy(
  weights: Int8Array,
  total: number,
  { sizes }: Table,
  { low, high }: System,
  threshold: number,
): { company: number; value: number }[] {
  let [above, below] = [total, -total];
  for (let i = 0; i < weights.length; i++) {
    const whole = (weights[i] as number) * (sizes[i] as number);
    above -= whole * (whole > 0 ? low : high);
    below += whole * (whole > 0 ? high : low);
  }
  for (const [slack, isLowest] of [
    [above, true],
    [below, false],
  ] as const) {
    let count = 0;
    const fixed: { company: number; value: number }[] = [];
    for (let i = 0; i < weights.length && count < threshold; i++) {
      const weight = weights[i] as number;
      // One step away from its end would exceed the total.
      if (Math.abs(weight) <= slack) continue;
      count += sizes[i] as number;
      fixed.push({ company: i, value: weight > 0 === isLowest ? low : high });
    }
    if (count > 0 && count < threshold) return fixed;
  }
  return fixedModulo(weights, total, sizes, low, high);
}

/** Returns one person if all other weights have a common divisor that leaves one value for the person’s answer. */
function fixedModulo(weights: Int8Array, total: number, sizes: number[], low: number, high: number) {
  const common = (a: number, b: number): number => (b === 0 ? Math.abs(a) : common(b, a % b));
  for (let i = 0; i < weights.length; i++) {
    if (sizes[i] !== 1 || weights[i] === 0) continue;
    const weight = weights[i] as number;
    let divisor = 0;
    for (let j = 0; j < weights.length; j++) if (j !== i) divisor = common(divisor, weights[j] as number);
    if (divisor === 1) continue;
    const possible = [];
    for (let value = low; value <= high; value++) {
      const rest = total - weight * value;
      if (divisor === 0 ? rest === 0 : rest % divisor === 0) possible.push(value);
    }
    if (possible.length === 1) return [{ company: i, value: possible[0] as number }];
  }
  return [];
}

// Comments: the places where one is shown leave only few possible authors.

function findAuthors(published: PublishedWeek, marked: PublishedWeek, threshold: number): Claim[] {
  // In the experiment each comment is its author’s name. Everyone whose comment would be shown in the same places can be the
  // author.
  const claims: Claim[] = [];
  for (const [id, list] of marked.comments) {
    const authors = new Map<string, string[]>();
    for (const { text, groupIds } of list) {
      const places = groupIds.toSorted((a, b) => a - b).join();
      authors.set(places, [...(authors.get(places) ?? []), text]);
    }
    for (const { text, groupIds } of published.comments.get(id) ?? []) {
      const people = authors.get(groupIds.toSorted((a, b) => a - b).join()) ?? [];
      const isRight = people.includes(text);
      if (people.length < threshold)
        claims.push({ by: 'comments', system: `comments on ${id}`, people, isRight });
    }
  }
  return claims;
}

// The whole attack.

/** Returns the same system for someone who already knows the answers of some people. */
function knowing(known: ReadonlySet<string>, system: System): System {
  const rows = system.rows.map(({ name, weights, total }): Row => {
    const isKnown = ([unknown]: [string, number]) => known.has(personOf(unknown));
    const sum = [...weights]
      .filter(isKnown)
      .reduce((so, [unknown, weight]) => so + weight * (system.truth.get(unknown) as number), 0);
    return { name, weights: new Map([...weights].filter((one) => !isKnown(one))), total: total - sum };
  });
  return { ...system, rows };
}

export type Outcome = { claims: Claim[]; undecided: number; figures: number };

/** Returns every way below a threshold that is found in one week. `known`: the people whose answers the adversary gave. */
export function attackWeek(
  world: World,
  week: World['weeks'][number],
  publish: Publish,
  known: ReadonlySet<string> = new Set(),
): Outcome {
  const { thresholds } = world;
  const systems = systemsOf(world, week, publish);
  const { data, published } = systems;
  const means = systems.means.map((system) => knowing(known, system));
  const distributions = systems.distributions.map((system) => knowing(known, system));
  const outcome: Outcome = { claims: [], undecided: 0, figures: 0 };
  const linear = (system: System, threshold: number) => {
    const found = findLinear(system, threshold);
    if (found === 'undecided') outcome.undecided++;
    else if (found) outcome.claims.push(found);
  };
  for (const system of means) {
    outcome.figures += system.rows.length;
    linear(system, thresholds.figures);
    outcome.claims.push(...findInteger(system, thresholds.figures));
  }
  for (const system of distributions) {
    outcome.figures += system.rows.length;
    linear(system, thresholds.distribution);
    outcome.claims.push(...findInteger(system, thresholds.figures));
  }
  const isYes = ({ name }: System) =>
    world.questions.some(({ type, text }) => type === yesNo && name === `${isSameText(text)}: yes`);
  const joint = withKpis(world, week, [...means, ...distributions.filter(isYes)], published);
  if (joint) linear(joint, thresholds.figures);
  const byName = new Map(
    [...week.answers].map(([id, list]) => [id, list.map((one) => ({ ...one, comment: one.respondent }))]),
  );
  const marked = publish(data, world.questions, byName, []);
  outcome.claims.push(...findAuthors(published, marked, thresholds.comments));
  return outcome;
}

/** Like attackWeek, for all weeks. Each week’s answers are separate unknowns. Comparing weeks is another attack (P19). */
export function attackWorld(world: World, publish: Publish, known?: ReadonlySet<string>): Outcome {
  const all: Outcome = { claims: [], undecided: 0, figures: 0 };
  for (const week of world.weeks) {
    const { claims, undecided, figures } = attackWeek(world, week, publish, known);
    all.claims.push(...claims);
    all.undecided += undecided;
    all.figures += figures;
  }
  return all;
}

// An attacker who knows only who was asked, not who answered, like an employer.

export type Guess = { people: string[]; isRight: boolean };

/**
 * Returns what follows about fewer people than the threshold if every figure is assumed to be based on everyone asked who answered:
 * how many of these people answered, and the sum of their answers. Impossible guesses are left out.
 */
export function guessAnswers(world: World, week: World['weeks'][number], publish: Publish): Guess[] {
  const data = weekData(world, week);
  const { results } = publish(data, world.questions, week.answers, world.kpis);
  const asked = askedIn(data);
  return world.questions.flatMap(({ id, type }) => {
    const shown = (results.get(id) ?? []).filter(({ value }) => value !== null);
    const rows = shown.map(({ groupId, value, answers }): Row => ({
      name: `${id} in ${groupId}`,
      weights: new Map([...(asked.get(keyOf(id, groupId)) ?? [])].map((person) => [`q|${person}`, 1])),
      total: ownSum(type, value as number, answers as number),
    }));
    const found = findCombination(rows, world.thresholds.figures);
    if (found === undefined || found === 'undecided') return [];
    const counts = shown.map(({ answers }) => answers as number);
    const sums = rows.map(({ total }) => total);
    const [count, sum] = [totalOf(counts, found.times), totalOf(sums, found.times)];
    const given = new Map<string, bigint>(
      (week.answers.get(id) ?? []).flatMap(({ respondent, value, skipped }) =>
        skipped ? [] : [[`q|${respondent}`, BigInt(value as number)] as const],
      ),
    );
    const weights = [...found.left.values()];
    const [minimum, most] = [weights.filter((one) => one < 0n), weights.filter((one) => one > 0n)].map(
      (some) => some.reduce((so, one) => so + one, 0n),
    ) as [bigint, bigint];
    if (count === 0n || count < minimum || count > most) return [];
    const answered = [...found.left].filter(([unknown]) => given.has(unknown));
    const isRight =
      answered.reduce((so, [, weight]) => so + weight, 0n) === count &&
      answered.reduce((so, [unknown, weight]) => so + weight * (given.get(unknown) as bigint), 0n) === sum;
    return [{ people: found.people, isRight }];
  });
}

/** Returns by question and group the people whose answers would count there. */
function askedIn({ assignments, rounds }: WeekData): Map<string, Set<string>> {
  const asked = new Map<string, Set<string>>();
  for (const { respondent, roundId, groupIds } of assignments) {
    for (const questionId of rounds.find(({ id }) => id === roundId)?.questionIds ?? []) {
      for (const groupId of groupIds) {
        const key = keyOf(questionId, groupId);
        asked.set(key, (asked.get(key) ?? new Set()).add(respondent));
      }
    }
  }
  return asked;
}

/**
 * Returns what follows about fewer people than the threshold from response rates, assumed to be based on everyone asked: how many
 * questions these people have answered or skipped. Taking part is not an answer.
 */
export function guessParticipation(world: World, week: World['weeks'][number], publish: Publish): Guess[] {
  const data = weekData(world, week);
  const { rates } = publish(data, world.questions, week.answers, []);
  const cells = new Map<number, Set<string>>();
  for (const { respondent, roundId, groupIds } of data.assignments) {
    const { questionIds, aboveIds } = data.rounds.find(
      ({ id }) => id === roundId,
    ) as WeekData['rounds'][number];
    for (const groupId of groupIds.filter((id) => !aboveIds.includes(id))) {
      const own = cells.get(groupId) ?? new Set();
      cells.set(groupId, own);
      for (const questionId of questionIds) own.add(`${questionId}|${respondent}`);
    }
  }
  const rows = rates.flatMap(({ groupId, value }): Row[] => {
    const own = cells.get(groupId);
    if (value === null || !own) return [];
    const weights = new Map([...own].map((cell) => [cell, 1]));
    return [{ name: `rate of ${groupId}`, weights, total: Math.round(value * own.size) }];
  });
  const found = findCombination(rows, world.thresholds.figures);
  if (found === undefined || found === 'undecided') return [];
  const claimed = totalOf(
    rows.map(({ total }) => total),
    found.times,
  );
  const done = new Set(
    [...week.answers].flatMap(([id, list]) => list.map(({ respondent }) => `${id}|${respondent}`)),
  );
  const real = [...found.left].reduce((sum, [cell, weight]) => sum + (done.has(cell) ? weight : 0n), 0n);
  return [{ people: found.people, isRight: real === claimed }];
}
