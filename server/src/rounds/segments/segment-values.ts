// Which segment of a breakdown a person is in, by their attributes when a week opens. Pure.
import { isDay, type Week } from '@soundings/contract/weeks.ts';

/** What a breakdown divides people by: an attribute, in bands of years if it contains dates, or two other breakdowns together. */
export type Division =
  { attribute: string; bands: readonly number[] | null } | { cross: readonly [Division, Division] };

/** Attribute values by name. */
export type ValuesByAttribute = Readonly<Record<string, string | null | undefined>>;

/**
 * Returns the segment of a breakdown that a person is in, such as "Stockholm", "30–39" or "Stockholm · 30–39"; undefined if
 * the person is in none. That is so if the person has no value or, in a breakdown with bands, if the value is not a date or
 * is after the Monday of the week.
 */
export function segmentValueOf(
  breakdown: Division,
  attributes: ValuesByAttribute,
  week: Week,
): string | undefined {
  if ('cross' in breakdown) {
    const values = breakdown.cross.map((part) => segmentValueOf(part, attributes, week));
    return values.includes(undefined)
      ? undefined
      : values.map((value) => pairable(value as string)).join(' · ');
  }
  const value = attributes[breakdown.attribute]?.trim();
  if (!value) return undefined;
  if (!breakdown.bands) return value;
  const years = yearsUntil(value, week);
  return years === undefined ? undefined : bandOf(breakdown.bands, years);
}

/**
 * Returns a value as a part of a pair. Dots in it are doubled, so the only single dot of a pair is between its two values, and different
 * pairs are different texts.
 */
const pairable = (value: string): string => value.replaceAll('·', '··');

/** Returns the attributes that a breakdown depends on. */
export const attributesIn = (breakdown: Division): string[] =>
  'cross' in breakdown ? breakdown.cross.flatMap(attributesIn) : [breakdown.attribute];

/** Returns the whole years from a date to the Monday of a week; undefined if it is not a date, or later than that Monday. */
function yearsUntil(date: string, week: Week): number | undefined {
  if (!isDay(date) || date > week) return undefined;
  const years = Number(week.slice(0, 4)) - Number(date.slice(0, 4));
  // 29 February comes after 28 February and before 1 March, so in other years a year is complete on 1 March.
  return week.slice(5) < date.slice(5) ? years - 1 : years;
}

/** Returns the band of a number of years. `bands`: the ascending limits; each is the first year of a band. */
export function bandOf(bands: readonly number[], years: number): string {
  const next = bands.findIndex((limit) => years < limit);
  if (next === 0) return `under ${bands[0]}`;
  if (next === -1) return `${bands.at(-1)} and over`;
  const [first, last] = [bands[next - 1] as number, (bands[next] as number) - 1];
  return first === last ? String(first) : `${first}–${last}`;
}

/** A segment that people are in, and how many of them. */
export type CountedValue = { value: string; people: number };

/**
 * Returns the values that become segments of a breakdown: those that exist already, and new ones of at least `threshold` people, the most
 * frequent first, at most `limit`. Values of fewer people don't become segments, because a value alone could identify a person.
 */
export function valuesToUse(
  values: readonly (string | undefined)[],
  existing: ReadonlySet<string>,
  threshold: number,
  limit: number,
): CountedValue[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, people]) => ({ value, people }))
    .filter(({ value, people }) => people >= threshold || existing.has(value))
    .toSorted((a, b) => b.people - a.people || (a.value < b.value ? -1 : 1))
    .slice(0, limit);
}
