// Writes the report of a file as a short message and as an email. Both say how much changed and what to do. Neither contains
// names of people: they show row numbers and the values of cells that are wrong.
import type { Detail } from '@soundings/contract/problem.ts';
import type { FileReport } from '@soundings/contract/storage.ts';
import { localeOf } from '@soundings/contract/texts.ts';
import { inert, visible } from '../base/visible-text.ts';
import { type Block, type MailContent, renderMail } from '../mail/template.ts';
import { type ReportTexts, reportTexts } from './catalogue.ts';
import {
  type Cause,
  capital,
  causeInMessage,
  causesOf,
  excess,
  sentenceStart,
  rowText,
  rowListText,
  toDo,
  valueListText,
  entities,
  verbs,
  namedInMail,
} from './report-causes.ts';

/** The part of a file report that the message and the email use. */
export type MailedFileReport = Omit<FileReport, 'message' | 'changes'>;

/** The account that an email is about. If there are no texts in its language, the email is in English. */
export type ReportAccount = { id: number; name: string; language: string; timezone: string };

/** How many kinds of errors the message and an email list, and how many kinds of warnings an email lists. */
const causesInMessage = 3;
const causesInMail = 20;
const noticesInMail = 10;

/** The maximum sizes of the HTML of errors and of warnings, in bytes, so that no email exceeds 20 KB. */
const roomForFaults = 11_500;
const roomForNotices = 2_500;

/** Returns the message of a report, in English. */
export function reportMessageOf(report: MailedFileReport, accountId: number): string {
  const t = reportTexts.in('en');
  const { outcome, summary, runId } = report;
  const { file, faults, faultCount, warningCount } = sanitized(report, visible);
  const title = titleOf(report, file, faultCount, t);
  const noticed = warningCount === 0 ? [] : [warningsText(warningCount)];
  switch (outcome) {
    case 'waiting':
    case 'processing':
      return `${title}.`;
    case 'applied':
      return [`${title}: ${changesOf(summary) || 'no changes were needed'}.`, ...noticed].join(' ');
    case 'validated': {
      const changes = changesOf(summary) || 'none';
      return [`${title}. ${t('onlyChecked')} ${t('heading.wouldChange')}: ${changes}.`, ...noticed].join(' ');
    }
    case 'pending': {
      const approve =
        runId === undefined ? 'approve it' : `approve it with \`${approval(accountId, runId)}\``;
      return (
        `${title}: ${excessOf(faults, t)}. ${t('nothingChanged')} ` +
        `Review the list of changes and ${approve}, or send a corrected file.`
      );
    }
    case 'refused':
    case 'failed': {
      const causes = causesOf(faults, 'en', causesInMessage);
      const quoted = causes.slice(0, causesInMessage).map((cause) => causeInMessage(cause, t));
      const isAll = causes.length === quoted.length && causes.every(({ faults: of }) => of.length === 1);
      const rest = isAll && !isCut(report.details) ? [] : ['See the report for the full list.'];
      return [`${title}.`, ...quoted, ...rest].join(' ');
    }
  }
}

/** Returns the email about a report, with at most 20 KB of HTML. */
export function mailOf(
  report: MailedFileReport,
  account: ReportAccount,
): { subject: string; text: string; html: string } {
  const language = reportTexts.languageFor(account.language);
  const t = reportTexts.in(language);
  const { outcome, runId, receivedAt } = report;
  const about = inert(account.name, 80);
  const clean = sanitized(report, inert);
  const title = titleOf(report, clean.file, clean.faultCount, t);
  const content: MailContent = {
    language,
    about,
    label: t(`label.${outcome}`),
    tone: tones[outcome],
    title,
    blocks: blocksOf(report, clean, account.id, language),
    footer: [
      t('received', localTimeOf(receivedAt, account.timezone, language)),
      ...(runId === undefined ? [] : [t('run', { id: runId })]),
      t('automatic'),
    ],
  };
  return { subject: `${title} – ${about}`, ...renderMail(content) };
}

const tones: Record<FileReport['outcome'], MailContent['tone']> = {
  waiting: 'plain',
  processing: 'plain',
  applied: 'good',
  validated: 'good',
  pending: 'warn',
  refused: 'bad',
  failed: 'bad',
};

function blocksOf(report: MailedFileReport, clean: Sanitized, accountId: number, language: string): Block[] {
  const t = reportTexts.in(language);
  const { outcome, summary, runId } = report;
  const figures = figuresOf(summary, language);
  const noticed = noticesOf(clean, language);
  const gone = (summary?.groups.deleted ?? 0) > 0 ? [text(t('groupsGone'))] : [];
  switch (outcome) {
    case 'waiting':
    case 'processing':
      return [];
    case 'applied':
      return [text(isUnchanged(summary) ? t('nothingToDo') : t('applied')), ...figures, ...noticed];
    case 'validated':
      return [text(t('onlyChecked')), heading(t('heading.wouldChange')), ...figures, ...gone, ...noticed];
    case 'pending':
      return [
        text(`${capital(excessOf(clean.faults, t))}. ${t('nothingChanged')}`),
        ...(figures.length > 0 ? [heading(t('heading.wouldChange')), ...figures, ...gone] : []),
        heading(t('heading.whatNow')),
        ...(runId === undefined ? [] : [text(t('ifMeant')), command(approval(accountId, runId))]),
        text(t('ifNotMeant')),
        ...noticed,
      ];
    case 'refused':
      return [text(t('correct')), ...faultsOf(clean, isCut(report.details), language), ...noticed];
    case 'failed':
      return [...clean.faults.slice(0, 1).map((fault) => text(toDo(fault, language))), text(t('sendAgain'))];
  }
}

function titleOf(
  { outcome, details }: MailedFileReport,
  file: string,
  count: number,
  t: ReportTexts,
): string {
  const faults = t(isCut(details) ? 'faultsOrMore' : 'faults', { count });
  return t(`title.${outcome}`, { file, faults });
}

const text = (sentence: string): Block => ({ kind: 'text', text: sentence });
const heading = (title: string): Block => ({ kind: 'heading', text: title });
const command = (line: string): Block => ({ kind: 'command', text: line });
const approval = (accountId: number, runId: string) =>
  `npx soundings run approve --account ${accountId} --id ${runId}`;

// --- Sanitizing. No text that a user wrote reaches a message or an email without passing through here.

/** The parts of a report that contain texts by users, sanitized for display. */
type Sanitized = {
  file: string;
  faults: Detail[];
  faultCount: number;
  /** Warnings, grouped by type and column. */
  notices: { warnings: [Detail, ...Detail[]] }[];
  noticeCount: number;
  warningCount: number;
};

function sanitized(report: MailedFileReport, fit: (text: string, max: number) => string): Sanitized {
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
  const notices = [...kinds.values()].slice(0, noticesInMail).map((ofKind) => ({
    warnings: ofKind.map(fitted) as [Detail, ...Detail[]],
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

/** Returns the details without the last one if it only says that there are more. */
const listed = (details: Detail[]) => details.filter(({ type }) => type !== 'more');
const isCut = (details: Detail[]) => details.some(({ type }) => type === 'more');

// --- What changed.

type Summary = FileReport['summary'];

/** Returns a text such as "12 people created, 3 updated, 1 removed; 2 groups created". Empty if nothing changed. In English. */
function changesOf(summary: Summary): string {
  const t = reportTexts.in('en');
  const parts = entities.map((entity) =>
    verbs
      .map((verb) => ({ verb, count: summary?.[entity][verb] ?? 0 }))
      .filter(({ count }) => count > 0)
      .map(({ verb, count }, i) => {
        const what = i === 0 ? t(`count.${entity}`, { count }) : numberIn(count, 'en');
        return `${what} ${verb === 'deleted' ? 'removed' : verb}`;
      })
      .join(', '),
  );
  return parts.filter((part) => part !== '').join('; ');
}

const warningsText = (count: number) =>
  count === 1 ? 'There is 1 warning.' : `There are ${numberIn(count, 'en')} warnings.`;

const isUnchanged = (summary: Summary) =>
  entities.every((entity) => verbs.every((verb) => (summary?.[entity][verb] ?? 0) === 0));

function figuresOf(summary: Summary, language: string): Block[] {
  if (!summary) return [];
  const t = reportTexts.in(language);
  const columns = [...verbs, 'unchanged'] as const;
  const rows = entities
    .filter((entity) => columns.some((column) => summary[entity][column] > 0))
    .map((entity) => [
      t(`entity.${entity}`),
      ...columns.map((column) => numberIn(summary[entity][column], language)),
    ]);
  const head = ['', ...columns.map((column) => t(`figure.${column}`))];
  return rows.length === 0 ? [] : [{ kind: 'figures', head, rows }];
}

/** Returns a text such as "it would remove 312 people, but your limit is 200". */
function excessOf(faults: Detail[], t: ReportTexts): string {
  const parts = faults.map((fault) => excess(fault, t)).filter((part) => part !== undefined);
  return parts.length === 0 ? t('someExcess') : parts.join('; ');
}

// --- Errors and warnings.

/** Returns a table of the first causes, without the columns that would be empty. */
function faultsOf({ faults, faultCount }: Sanitized, isMore: boolean, language: string): Block[] {
  const t = reportTexts.in(language);
  const isOne = ({ faults: { length } }: Cause) => length === 1;
  const columns = [
    { head: t('head.sheet'), of: ({ faults: [{ sheet }] }: Cause) => sheet ?? '', wide: 13 },
    { head: t('head.row'), of: (cause: Cause) => rowListText(cause, t), wide: 8 },
    { head: t('head.column'), of: ({ faults: [{ column }] }: Cause) => column ?? '', wide: 18 },
    {
      head: t('head.value'),
      of: (cause: Cause) =>
        isOne(cause) ? (cause.faults[0].value ?? '') : valueListText(cause, namedInMail, t),
      wide: 26,
    },
    { head: t('head.remedy'), of: ({ remedy }: Cause) => remedy, wide: 40 },
  ];
  const causes = causesOf(faults, language, causesInMail).slice(0, causesInMail);
  const rows = fitting(
    causes.map((cause) => columns.map((column) => column.of(cause))),
    roomForFaults,
    400,
  );
  const isFilled = columns.map((_, i) => rows.some((row) => row[i] !== ''));
  const onlyFilled = <T>(list: T[]) => list.filter((_, i) => isFilled[i]);
  const isPlaced = isFilled.slice(0, -1).includes(true);
  const shown = causes.slice(0, rows.length).reduce((sum, cause) => sum + cause.faults.length, 0);
  const rest = faultCount - shown;
  return [
    isPlaced
      ? {
          kind: 'table',
          head: onlyFilled(columns.map(({ head }) => head)),
          rows: rows.map(onlyFilled),
          wide: onlyFilled(columns.map(({ wide }) => wide)),
        }
      : { kind: 'points', points: rows.flatMap(onlyFilled) },
    ...(rest > 0 || isMore
      ? [text(t('moreFaults', { count: `${numberIn(rest, language)}${isMore ? '+' : ''}` }))]
      : []),
  ];
}

/** Returns as many of the first rows as fit into `room` bytes of HTML. Each row takes `markup` bytes besides its text. */
function fitting(rows: string[][], room: number, markup: number): string[][] {
  let bytes = 0;
  return rows.filter((row) => {
    bytes += markup + row.reduce((sum, cell) => sum + Buffer.byteLength(cell) + 5 * escapedIn(cell), 0);
    return bytes <= room;
  });
}

/** Returns how many characters of a text HTML has to escape. */
const escapedIn = (cell: string) => cell.replaceAll(/[^&<>"']/g, '').length;

function noticesOf({ notices, noticeCount }: Sanitized, language: string): Block[] {
  if (notices.length === 0) return [];
  const t = reportTexts.in(language);
  const points = notices.map(({ warnings }) => {
    const [first, { length: count }] = [warnings[0], warnings];
    if (first.type === 'ignored value') {
      const rows = t('rows', { count: warnings.reduce((sum, one) => sum + (one.count ?? 1), 0) });
      const place = sentenceStart(first.sheet, undefined, first.column, t);
      const values = valueListText({ faults: warnings }, namedInMail, t);
      return [`${place} (${rows}): ${values === '' ? '' : `${values}. `}${t('ignored')}`];
    }
    const place = sentenceStart(first.sheet, count === 1 ? rowText(first) : undefined, first.column, t);
    const often = count === 1 ? '' : ` (${t('times', { count })})`;
    return [`${place}${often}${place === '' ? '' : ': '}${toDo(first, language)}`];
  });
  const shown = fitting(points, roomForNotices, 10).flat();
  const rest = noticeCount - shown.length;
  const more = rest > 0 ? [t('moreNotices', { count: rest })] : [];
  return [heading(t('heading.noticed')), { kind: 'points', points: [...shown, ...more] }];
}

const numberIn = (count: number, language: string) => count.toLocaleString(localeOf(language));

/** Returns a time in the local form of the time zone, and the name of the zone. */
function localTimeOf(time: string, timezone: string, language: string): { time: string; zone: string } {
  const zone = timezone === 'Factory' ? 'UTC' : timezone; // Intl does not know the zone Factory.
  const format = new Intl.DateTimeFormat(localeOf(language), {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: zone,
  });
  return { time: format.format(new Date(time)), zone };
}
