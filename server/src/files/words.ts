// What became of a file, told to people: a message in a few sentences, and a mail. Both say how much changed and what to do,
// and name nobody: of people they have rows, and the cells that are wrong.
import type { Detail } from '@soundings/contract/problem.ts';
import type { FileReport } from '@soundings/contract/storage.ts';
import { inert, visible } from '../base/inert.ts';
import { type Block, type Letter, lettered } from '../mail/letter.ts';
import { type Entity, type Language, type Phrases, phrases, remedyOf, type Verb } from './phrases.ts';

/** A report as far as it is told. */
export type ToldReport = Omit<FileReport, 'message' | 'changes'>;

/** The account that a mail is about, with its language (any; those that are not spoken here get English) and time zone. */
export type AccountTold = { id: number; name: string; language: string; timezone: string };

/** How many kinds of faults the message quotes, and how many a mail; how many kinds of warnings a mail has. */
const causesInMessage = 3;
const causesInMail = 20;
const noticesInMail = 10;
/** How many rows and values of a kind the message names, and how many a mail. */
const namedInMessage = 3;
const namedInMail = 10;

/** How many bytes of HTML the faults and the warnings of a mail may take, so that no mail has more than 20 KB. */
const roomForFaults = 11_500;
const roomForNotices = 2_500;

const entities = ['users', 'groups'] as const;
const verbs = ['created', 'updated', 'deleted'] as const;

/** The message of a report, in English. */
export function messageOf(report: ToldReport, accountId: number): string {
  const words = phrases.en;
  const { outcome, summary, runId } = report;
  const { file, faults, faultCount, warningCount } = tellable(report, visible);
  const title = words.title[outcome](file, words.faults(faultCount, isCut(report.details)));
  const noticed = warningCount === 0 ? [] : [words.warnings(warningCount)];
  switch (outcome) {
    case 'waiting':
    case 'processing':
      return `${title}.`;
    case 'applied':
      return [
        `${title}: ${changesOf(summary, words.made, words) || 'nothing had to be changed'}.`,
        ...noticed,
      ].join(' ');
    case 'validated': {
      const changes = changesOf(summary, words.made, words) || 'nothing';
      return [`${title}. ${words.onlyChecked} ${words.heading.wouldChange}: ${changes}.`, ...noticed].join(
        ' ',
      );
    }
    case 'held': {
      const approve =
        runId === undefined ? 'approve it' : `approve it with \`${approval(accountId, runId)}\``;
      return (
        `${file} is held: ${excessOf(faults, words)}. ${words.nothingChanged} ` +
        `Look through the list and ${approve}, or send a corrected file.`
      );
    }
    case 'refused':
    case 'failed': {
      const causes = causesOf(faults, 'en', causesInMessage);
      const quoted = causes.slice(0, causesInMessage).map((cause) => causeInMessage(cause, words));
      const isAll = causes.length === quoted.length && causes.every(({ faults: of }) => of.length === 1);
      const rest = isAll && !isCut(report.details) ? [] : ['The report lists each of them.'];
      return [`${title}.`, ...quoted, ...rest].join(' ');
    }
  }
}

/** The mail about a report. At most 20 KB of HTML. */
export function mailOf(
  report: ToldReport,
  account: AccountTold,
): { subject: string; text: string; html: string } {
  const language: Language = account.language === 'sv' ? 'sv' : 'en';
  const words = phrases[language];
  const { outcome, runId, receivedAt } = report;
  const about = inert(account.name, 80);
  const told = tellable(report, inert);
  const title = words.title[outcome](told.file, words.faults(told.faultCount, isCut(report.details)));
  const letter: Letter = {
    language,
    about,
    label: words.label[outcome],
    tone: tones[outcome],
    title,
    blocks: blocksOf(report, told, account.id, language),
    footer: [
      words.received(...momentOf(receivedAt, account.timezone, words)),
      ...(runId === undefined ? [] : [words.run(runId)]),
      words.automatic,
    ],
  };
  return { subject: `${title} – ${about}`, ...lettered(letter) };
}

const tones: Record<FileReport['outcome'], Letter['tone']> = {
  waiting: 'plain',
  processing: 'plain',
  applied: 'good',
  validated: 'good',
  held: 'warn',
  refused: 'bad',
  failed: 'bad',
};

function blocksOf(report: ToldReport, told: Tellable, accountId: number, language: Language): Block[] {
  const words = phrases[language];
  const { outcome, summary, runId } = report;
  const figures = figuresOf(summary, words);
  const noticed = noticesOf(told, language);
  const gone = (summary?.groups.deleted ?? 0) > 0 ? [text(words.groupsGone)] : [];
  switch (outcome) {
    case 'waiting':
    case 'processing':
      return [];
    case 'applied':
      return [text(isUnchanged(summary) ? words.nothingToDo : words.applied), ...figures, ...noticed];
    case 'validated':
      return [text(words.onlyChecked), heading(words.heading.wouldChange), ...figures, ...gone, ...noticed];
    case 'held':
      return [
        text(`${capital(excessOf(told.faults, words))}. ${words.nothingChanged}`),
        ...(figures.length > 0 ? [heading(words.heading.wouldChange), ...figures, ...gone] : []),
        heading(words.heading.whatNow),
        ...(runId === undefined ? [] : [text(words.ifMeant), command(approval(accountId, runId))]),
        text(words.ifNotMeant),
        ...noticed,
      ];
    case 'refused':
      return [text(words.correct), ...faultsOf(told, isCut(report.details), language), ...noticed];
    case 'failed':
      return [...told.faults.slice(0, 1).map((fault) => text(toDo(fault, language))), text(words.sendAgain)];
  }
}

const text = (said: string): Block => ({ kind: 'text', text: said });
const heading = (said: string): Block => ({ kind: 'heading', text: said });
const command = (said: string): Block => ({ kind: 'command', text: said });
const capital = (said: string) => said.slice(0, 1).toUpperCase() + said.slice(1);
const approval = (accountId: number, runId: string) =>
  `npx soundings run approve --account ${accountId} --id ${runId}`;

// --- What others wrote: nothing of it is told that has not gone through here.

/** Of a report what is told in it of what others wrote, made fit to be read. */
type Tellable = {
  file: string;
  faults: Detail[];
  faultCount: number;
  /** Warnings of one kind and column together. */
  notices: { alike: [Detail, ...Detail[]] }[];
  noticeCount: number;
  warningCount: number;
};

function tellable(report: ToldReport, fit: (text: string, max: number) => string): Tellable {
  const fitted = ({ sheet, column, value, message, ...rest }: Detail): Detail => ({
    ...rest,
    message: fit(message, 300),
    ...(sheet && { sheet: fit(sheet, 40) }),
    ...(column && { column: fit(column, 60) }),
    ...(value && { value: fit(value, 80) }),
  });
  const [faults, warnings] = [listed(report.details), listed(report.warnings)];
  const kinds = Map.groupBy(warnings, ({ type, sheet, column }) =>
    JSON.stringify([type, sheet?.slice(0, 100), column?.slice(0, 100)]),
  );
  const notices = [...kinds.values()].slice(0, noticesInMail).map((alike) => ({
    alike: alike.map(fitted) as [Detail, ...Detail[]],
  }));
  return {
    file: fit(report.file, 100),
    faults: faults.map(fitted),
    faultCount: faults.length,
    notices,
    noticeCount: kinds.size,
    warningCount: warnings.length,
  };
}

/** Without the last, which only says that there are more. */
const listed = (details: Detail[]) => details.filter(({ type }) => type !== 'more');
const isCut = (details: Detail[]) => details.some(({ type }) => type === 'more');

// --- What changed.

type Summary = FileReport['summary'];

/** Such as: 12 people created, 3 updated, 1 removed; 2 groups created. Empty: nothing. */
function changesOf(summary: Summary, names: Phrases['made'], words: Phrases): string {
  const parts = entities.map((entity) =>
    verbs
      .map((verb) => ({ verb, count: summary?.[entity][verb] ?? 0 }))
      .filter(({ count }) => count > 0)
      .map(({ verb, count }, i) => {
        const what = i === 0 ? words.count(entity, count) : words.number(count);
        return `${what} ${names[verb]}`;
      })
      .join(', '),
  );
  return parts.filter((part) => part !== '').join('; ');
}

const isUnchanged = (summary: Summary) =>
  entities.every((entity) => verbs.every((verb) => (summary?.[entity][verb] ?? 0) === 0));

function figuresOf(summary: Summary, words: Phrases): Block[] {
  if (!summary) return [];
  const columns = [...verbs, 'unchanged'] as const;
  const rows = entities
    .filter((entity) => columns.some((column) => summary[entity][column] > 0))
    .map((entity) => [
      words.entity[entity],
      ...columns.map((column) => words.number(summary[entity][column])),
    ]);
  const head = ['', ...columns.map((column) => words.figure[column])];
  return rows.length === 0 ? [] : [{ kind: 'figures', head, rows }];
}

/** Such as: it would remove 312 people, and your limit is 200. */
function excessOf(faults: Detail[], words: Phrases): string {
  const parts = faults.map((fault) => excess(fault, words)).filter((part) => part !== undefined);
  return parts.length === 0 ? words.someExcess : parts.join('; ');
}

function excess({ setting, limit, count }: Detail, words: Phrases): string | undefined {
  const [, entity, verb] = /^max(Users|Groups)(Created|Updated|Deleted)$/.exec(setting ?? '') ?? [];
  if (entity === undefined || verb === undefined || limit === undefined || count === undefined) {
    return undefined;
  }
  const what = words.count(entity.toLowerCase() as Entity, count);
  return words.excess(verb.toLowerCase() as Verb, what, words.number(limit));
}

// --- Faults and warnings.

function toDo(fault: Detail, language: Language): string {
  const words = phrases[language];
  const beyond = excess(fault, words);
  return beyond === undefined ? remedyOf(fault, language) : `${capital(beyond)}. ${words.raiseLimit}`;
}

const rowOf = ({ row }: Detail) => (row === undefined ? undefined : String(row));

/** Faults of one column that are mended in the same way, in the order of their rows. */
type Cause = { faults: [Detail, ...Detail[]]; remedy: string };

/**
 * Faults by what causes them, those of the most rows first: each value by itself where there are few, so that none is looked
 * for; else all values of a column together.
 */
function causesOf(faults: Detail[], language: Language, few: number): Cause[] {
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

/** The values of a cause, those of the most rows first, with how many rows have each. */
function valuesOf({ faults }: { faults: Detail[] }, most: number, words: Phrases): string {
  const counts = [...Map.groupBy(faults, ({ value }) => value ?? '')]
    .map(([value, of]) => ({ value, length: of.reduce((sum, { count = 1 }) => sum + count, 0) }))
    .filter(({ value }) => value !== '')
    .toSorted((a, b) => b.length - a.length);
  const first = counts.slice(0, most);
  const isSame = counts.length === 1;
  const named = first.map(({ value, length }) =>
    length === 1 || isSame ? `"${value}"` : `"${value}" (${words.rows(length)})`,
  );
  return words.andMore(named, counts.length - first.length);
}

/** The rows of a cause. */
function rowsOf({ faults }: Cause, words: Phrases): string {
  const rows = faults.flatMap((fault) => rowOf(fault) ?? []);
  return words.andMore(rows.slice(0, namedInMail), Math.max(rows.length - namedInMail, 0));
}

function causeInMessage(cause: Cause, words: Phrases): string {
  const [first, ...others] = cause.faults;
  const isMany = others.length > 0;
  const place = words.place(first.sheet, isMany ? undefined : rowOf(first), first.column);
  const count = isMany ? ` ${words.rows(cause.faults.length)}.` : '';
  const values = valuesOf(cause, namedInMessage, words);
  const value = values === '' ? '' : ` ${values}.`;
  return place === '' ? cause.remedy : `${place}:${count}${value} ${cause.remedy}`;
}

/** The first causes, with those columns that say something. */
function faultsOf({ faults, faultCount }: Tellable, isMore: boolean, language: Language): Block[] {
  const words = phrases[language];
  const isOne = ({ faults: { length } }: Cause) => length === 1;
  const columns = [
    { head: words.head.sheet, of: ({ faults: [{ sheet }] }: Cause) => sheet ?? '', wide: 13 },
    { head: words.head.row, of: (cause: Cause) => rowsOf(cause, words), wide: 8 },
    { head: words.head.column, of: ({ faults: [{ column }] }: Cause) => column ?? '', wide: 18 },
    {
      head: words.head.value,
      of: (cause: Cause) =>
        isOne(cause) ? (cause.faults[0].value ?? '') : valuesOf(cause, namedInMail, words),
      wide: 26,
    },
    { head: words.head.remedy, of: ({ remedy }: Cause) => remedy, wide: 40 },
  ];
  const causes = causesOf(faults, language, causesInMail).slice(0, causesInMail);
  const rows = fitting(
    causes.map((cause) => columns.map((column) => column.of(cause))),
    roomForFaults,
    400,
  );
  const isSaying = columns.map((_, i) => rows.some((row) => row[i] !== ''));
  const saying = <T>(list: T[]) => list.filter((_, i) => isSaying[i]);
  const isPlaced = isSaying.slice(0, -1).includes(true);
  const told = causes.slice(0, rows.length).reduce((sum, cause) => sum + cause.faults.length, 0);
  const rest = faultCount - told;
  return [
    isPlaced
      ? {
          kind: 'table',
          head: saying(columns.map(({ head }) => head)),
          rows: rows.map(saying),
          wide: saying(columns.map(({ wide }) => wide)),
        }
      : { kind: 'points', points: rows.flatMap(saying) },
    ...(rest > 0 || isMore ? [text(words.moreFaults(`${words.number(rest)}${isMore ? '+' : ''}`))] : []),
  ];
}

/** As many of the first rows as there is room for, when each takes so many bytes beside its words. */
function fitting(rows: string[][], room: number, each: number): string[][] {
  let bytes = 0;
  return rows.filter((row) => {
    bytes += each + row.reduce((sum, cell) => sum + Buffer.byteLength(cell) + 5 * specials(cell), 0);
    return bytes <= room;
  });
}

/** How many characters of a text are longer in HTML. */
const specials = (cell: string) => cell.replaceAll(/[^&<>"']/g, '').length;

function noticesOf({ notices, noticeCount }: Tellable, language: Language): Block[] {
  if (notices.length === 0) return [];
  const words = phrases[language];
  const points = notices.map(({ alike }) => {
    const [first, { length: count }] = [alike[0], alike];
    if (first.type === 'ignored value') {
      const rows = words.rows(alike.reduce((sum, one) => sum + (one.count ?? 1), 0));
      const place = words.place(first.sheet, undefined, first.column);
      const values = valuesOf({ faults: alike }, namedInMail, words);
      return [`${place} (${rows}): ${values === '' ? '' : `${values}. `}${words.ignored}`];
    }
    const place = words.place(first.sheet, count === 1 ? rowOf(first) : undefined, first.column);
    const often = count === 1 ? '' : ` (${words.times(count)})`;
    return [`${place}${often}${place === '' ? '' : ': '}${toDo(first, language)}`];
  });
  const shown = fitting(points, roomForNotices, 10).flat();
  const rest = noticeCount - shown.length;
  const more = rest > 0 ? [words.moreNotices(words.number(rest))] : [];
  return [heading(words.heading.noticed), { kind: 'points', points: [...shown, ...more] }];
}

/** A moment as a clock in the time zone shows it, and the name of the zone. */
function momentOf(moment: string, timezone: string, { locale }: Phrases): [string, string] {
  const zone = timezone === 'Factory' ? 'UTC' : timezone; // Intl does not know it
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: zone });
  return [format.format(new Date(moment)), zone];
}
