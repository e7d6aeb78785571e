// Groups the errors of a file by their cause, and writes what a message and an email say about each. Pure.
import type { Detail } from '@soundings/contract/problem.ts';
import { remedyOf, type ReportTexts, reportTexts } from './catalogue.ts';

/** How many rows and values of one kind the message and an email list. */
const namedInMessage = 3;
export const namedInMail = 10;

/** What a limit counts: the words of which its name consists, as in maxUsersCreated. */
export const entities = ['users', 'groups'] as const;
export const verbs = ['created', 'updated', 'deleted'] as const;
type Entity = (typeof entities)[number];
type Verb = (typeof verbs)[number];

/** Returns a sentence with a capital first letter. */
export const capital = (sentence: string) => sentence.slice(0, 1).toUpperCase() + sentence.slice(1);

/** Returns by how much a limit was exceeded, such as "it would remove 312 people, but your limit is 200"; undefined if none was. */
export function excess({ setting, limit, count }: Detail, t: ReportTexts): string | undefined {
  const [, entity, verb] = /^max(Users|Groups)(Created|Updated|Deleted)$/.exec(setting ?? '') ?? [];
  if (entity === undefined || verb === undefined || limit === undefined || count === undefined) {
    return undefined;
  }
  const what = t(`count.${entity.toLowerCase() as Entity}`, { count });
  return t(`excess.${verb.toLowerCase() as Verb}`, { what, limit });
}

/** Returns what the sender must do about an error. */
export function toDo(fault: Detail, language: string): string {
  const t = reportTexts.in(language);
  const beyond = excess(fault, t);
  return beyond === undefined ? remedyOf(fault, language) : `${capital(beyond)}. ${t('raiseLimit')}`;
}

/** Returns the row of an error as text; undefined if it has none. */
export const rowText = ({ row }: Detail) => (row === undefined ? undefined : String(row));

/** Errors in one column that are fixed in the same way, in the order of their rows. */
export type Cause = { faults: [Detail, ...Detail[]]; remedy: string };

/**
 * Groups errors by their cause, most rows first. With at most `few` different values, each value is its own group;
 * with more, all values of a column are one group.
 */
export function causesOf(faults: Detail[], language: string, few: number): Cause[] {
  const by = (keyOf: (fault: Detail, remedy: string) => unknown[]) => {
    const causes = new Map<string, Cause>();
    for (const fault of faults) {
      const remedy = toDo(fault, language);
      const key = JSON.stringify(keyOf(fault, remedy));
      const cause = causes.get(key);
      if (cause) cause.faults.push(fault);
      else causes.set(key, { faults: [fault], remedy });
    }
    return [...causes.values()].toSorted((one, other) => other.faults.length - one.faults.length);
  };
  const byValue = by(({ sheet, column, value, row }, remedy) => [sheet, column, remedy, value ?? row]);
  if (byValue.length <= few) return byValue;
  return by(({ sheet, column, row }, remedy) => [sheet, column, remedy, row === undefined]);
}

/** Lists the values of a cause, most frequent first, each with its number of rows. */
export function valueListText({ faults }: { faults: Detail[] }, most: number, t: ReportTexts): string {
  const counts = [...Map.groupBy(faults, ({ value }) => value ?? '')]
    .map(([value, of]) => ({ value, length: of.reduce((sum, { count = 1 }) => sum + count, 0) }))
    .filter(({ value }) => value !== '')
    .toSorted((a, b) => b.length - a.length);
  const first = counts.slice(0, most);
  const isSame = counts.length === 1;
  const named = first.map(({ value, length }) =>
    length === 1 || isSame ? `"${value}"` : `"${value}" (${t('rows', { count: length })})`,
  );
  return listOf(named, counts.length - first.length, t);
}

/** Lists the rows of a cause. */
export function rowListText({ faults }: Cause, t: ReportTexts): string {
  const rows = faults.flatMap((fault) => rowText(fault) ?? []);
  return listOf(rows.slice(0, namedInMail), Math.max(rows.length - namedInMail, 0), t);
}

/** Returns a list of rows or values, and how many more there are. */
function listOf(named: string[], rest: number, t: ReportTexts): string {
  const list = named.join(', ');
  return rest > 0 ? t('andMore', { list, rest }) : list;
}

/** Returns where something is, as the beginning of a sentence; '' if that is unknown. */
export function sentenceStart(
  sheet: string | undefined,
  row: string | undefined,
  column: string | undefined,
  t: ReportTexts,
) {
  const parts = [
    sheet && t('place.sheet', { name: sheet }),
    row && t('place.row', { row }),
    column && t('place.column', { name: column }),
  ];
  return capital(parts.filter((part) => part).join(', '));
}

/** Returns what a message says about a cause: the place, the number of rows, the values and the remedy. */
export function causeInMessage(cause: Cause, t: ReportTexts): string {
  const [first, ...others] = cause.faults;
  const isMany = others.length > 0;
  const place = sentenceStart(first.sheet, isMany ? undefined : rowText(first), first.column, t);
  const count = isMany ? ` ${t('rows', { count: cause.faults.length })}.` : '';
  const values = valueListText(cause, namedInMessage, t);
  const value = values === '' ? '' : ` ${values}.`;
  return place === '' ? cause.remedy : `${place}:${count}${value} ${cause.remedy}`;
}
