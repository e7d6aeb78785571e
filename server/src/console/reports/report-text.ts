// Puts a report into words: what its page and its PDF say. Pure.
import { clearPoints, pointsOf } from '@soundings/contract/console/results/points.ts';
import type {
  PrintedReport,
  ReportComment,
  ReportMark,
  ReportRow,
} from '@soundings/contract/console/reports.ts';
import type {
  FigureChange,
  Difference,
  Finding,
  RateFigure,
  ResultComment,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import type { Period } from '@soundings/contract/periods.ts';
import { listedIn, localeOf } from '@soundings/contract/texts.ts';
import { lastDay, sixDigits, type Week } from '@soundings/contract/weeks.ts';
import { catalogue } from '../../base/texts.ts';
import type { ReportData, ReportFocus, ReportKpi, ReportQuestion } from './report-data.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/report.json' with { type: 'json' };
import en from './text/en/report.json' with { type: 'json' };
import sv from './text/sv/report.json' with { type: 'json' };

export const printedReportTexts = catalogue<typeof en, Arguments['report']>({ en, sv, de });
type Texts = ReturnType<typeof printedReportTexts.in>;

/** How many KPIs, and how many questions of each kind, a page has room for. */
const [mostKpis, mostQuestions] = [12, 3];

/** What a language needs: its texts and its numbers. `year`: weeks of other years are named with theirs. */
type TextContext = { t: Texts; language: string; locale: string; year: string };

/** Returns how many KPIs there is room for: each focus takes the space of two. */
const kpisBeside = (focuses: number) => mostKpis - 2 * focuses;

/** Returns the report in a language, with all of its newest comments. */
export function reportTextOf(data: ReportData, language: string): PrintedReport {
  const t = printedReportTexts.in(language);
  const year = sixDigits(data.period.last).slice(0, 4);
  const context = { t, language, locale: localeOf(language), year };
  const { comparison, kpis, comments } = data;
  const compared = comparedWith(data, t);
  const room = kpisBeside(data.focus.length);
  return {
    language,
    company: data.company,
    group: { id: data.group.id, name: data.group.name },
    about: data.path.map(({ name }) => name).join(' › '),
    period: periodOf(data, context),
    comparison,
    response: responseOf(data, context),
    findings: {
      title: t('findings'),
      note: '',
      items: findingsOf(data, context),
    },
    kpis: {
      title: t('kpis'),
      note: [
        compared === '' ? t('scores') : t('scoresCompared', { name: compared }),
        ...(kpis.length > room ? [t('moreKpis', { count: kpis.length - room })] : []),
      ].join(' · '),
      heads: {
        name: t('kpi'),
        score: t('score'),
        change: t('change'),
        compared: compared !== '' && comparison.kind === 'halfYear' ? t('earlier') : compared,
        difference: compared === '' ? '' : t('difference'),
      },
      items: kpis.slice(0, room).map((kpi) => kpiRow(kpi, context)),
    },
    focus: { title: t('focus'), note: '', items: data.focus.map((one) => focusText(one, context)) },
    ...questionsOf(data.questions, compared, context),
    comments: {
      title: t('comments'),
      note: '',
      items: comments.newest.map((one) => commentOf(one, context)),
    },
    anonymity: { title: t('anonymity'), text: anonymityText(data.thresholds, t) },
    legend: [t('legend'), ...(isHandedOut(data) ? [t('handedOut')] : [])].join(' '),
    created: t('created', { day: dayText(data.day, context) }),
  };
}

/** Returns the note about comments that a report leaves out; empty if there are none. */
export const leftOutText = (count: number, language: string): string =>
  count > 0 ? printedReportTexts.in(language)('commentsLeftOut', { count }) : '';

/** Returns what the asterisks of a report mean; empty if it has none. */
export const handedOutText = (data: ReportData, language: string): string =>
  isHandedOut(data) ? printedReportTexts.in(language)('handedOut') : '';

/** "Workload: no meetings before ten. Anna, until 30 September 2026, on track". */
function focusText({ name, action, responsible, until, outlook }: ReportFocus, context: TextContext): string {
  const { t } = context;
  const terms = { name, action, responsible, day: dayText(until, context) };
  return outlook === null ? t('focusItem', terms) : t(`focusItem.${outlook}`, terms);
}

/** Returns what is compared with; empty if there is nothing, or no figure of it. */
function comparedWith({ comparison, kpis, questions }: ReportData, t: Texts): string {
  if ([...kpis, ...questions].every(({ difference }) => difference === null)) return '';
  return comparison.kind === 'halfYear' ? t('halfYear') : (comparison.group?.name ?? '');
}

/** "Week 38, 2026". */
export function periodTitle({ kind, first, name }: Period, t: Texts): string {
  const { year, number } = partsOf(first);
  return kind === 'week' ? t('week', { number, year }) : t('quarter', { quarter: name.slice(-1), year });
}

function periodOf({ period, isLive }: ReportData, { t, locale }: TextContext): PrintedReport['period'] {
  const title = periodTitle(period, t);
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const dates = format.formatRange(new Date(period.first), new Date(lastDay(period.last)));
  // Intl sets thin spaces around the dash, which few fonts have.
  const plain = dates.replaceAll(/[\u2009\u202f]/g, ' ');
  return { name: period.name, title, dates: isLive ? `${plain}, ${t('live')}` : plain };
}

/** Returns how many of those asked answered: in a week, or on average in the weeks of a quarter. */
function responseOf({ rates, period }: ReportData, { t, locale }: TextContext): PrintedReport['response'] {
  const shown = rates.filter(({ value }) => value !== null);
  if (shown.length === 0) return null;
  const mark = shown.some(({ handedOut }) => handedOut) ? ' *' : '';
  const known = shown.filter(isKnown);
  const title = t('response');
  if (known.length === 0) {
    const share = shown.reduce((total, { value }) => total + (value as number), 0) / shown.length;
    return { title, rate: percent(share, locale), text: t('responseRate') + mark, share };
  }
  const sum = (key: 'answered' | 'asked') => known.reduce((total, one) => total + one[key], 0);
  const share = sum('asked') === 0 ? 0 : sum('answered') / sum('asked');
  const mean = (key: 'answered' | 'asked') => Math.round(sum(key) / known.length).toLocaleString(locale);
  const people = { answered: mean('answered'), asked: mean('asked') };
  return {
    title,
    rate: percent(share, locale),
    text:
      (period.kind === 'week'
        ? t('responseOfWeek', people)
        : t('responseOfQuarter', { ...people, weeks: known.length })) + mark,
    share,
  };
}

const percent = (share: number, locale: string) => share.toLocaleString(locale, { style: 'percent' });

const isKnown = (rate: RateFigure): rate is RateFigure & { asked: number; answered: number } =>
  rate.value !== null && rate.asked !== null && rate.answered !== null;

/**
 * Returns the findings as sentences. The response is left out, because it has its own place. Without any figure there are none: then
 * nothing is known about changes.
 */
function findingsOf(data: ReportData, context: TextContext): string[] {
  const texts = data.findings.flatMap((one) => findingText(one, data, context));
  if (texts.length > 0 || !hasFigures(data)) return texts;
  return [context.t('noFindings')];
}

const hasFigures = ({ kpis, questions }: ReportData) =>
  questions.length > 0 || kpis.some(({ rolling }) => rolling.value !== null);

/** Returns a finding as a sentence, with an asterisk if it is partly based on what was handed out; none for the response. */
function findingText(finding: Finding, data: ReportData, context: TextContext): string[] {
  return sentenceOf(finding, data, context).map((text) => (isMarked(finding) ? `${text} *` : text));
}

function isMarked(finding: Finding): boolean {
  switch (finding.kind) {
    case 'kpis':
      return finding.handedOut;
    case 'difference':
      return finding.difference.handedOut;
    case 'response':
      return false;
    default:
      return finding.change.handedOut;
  }
}

function sentenceOf(finding: Finding, { comparison }: ReportData, context: TextContext): string[] {
  const { t, language } = context;
  const of = (change: { by: number; verdict: Verdict }) => ({
    direction: change.verdict === 'up' ? ('up' as const) : ('other' as const),
    points: Math.abs(clearPoints(change)),
  });
  const listed = (all: readonly { name: string }[], others: 'otherGroups' | 'otherKpis') =>
    listedIn(
      language,
      all.map(({ name }) => name),
      (count) => t(others, { count }),
    );
  switch (finding.kind) {
    case 'kpi': {
      const about = {
        ...of(finding.change),
        name: finding.kpi.name,
        since: sinceText(finding.change, context),
      };
      return [
        finding.mostIn === null
          ? finding.clearIn.length === 0
            ? t('findingKpi', about)
            : t('findingKpiClearly', { ...about, groups: listed(finding.clearIn, 'otherGroups') })
          : t('findingKpiMost', { ...about, group: finding.mostIn.name }),
      ];
    }
    case 'kpis': {
      const [rose, fell] = [listed(finding.rose, 'otherKpis'), listed(finding.fell, 'otherKpis')];
      if (fell === '') return [t('findingKpisRose', { kpis: rose })];
      return [rose === '' ? t('findingKpisFell', { kpis: fell }) : t('findingKpisBoth', { rose, fell })];
    }
    case 'difference': {
      const about = { ...of(finding.difference), name: finding.kpi.name };
      const group = comparison.group?.name;
      return [
        group === undefined ? t('findingHalfYear', about) : t('findingDifference', { ...about, group }),
      ];
    }
    case 'question':
      return [
        t('findingQuestion', {
          ...of(finding.change),
          text: finding.question.text,
          since: sinceText(finding.change, context),
        }),
      ];
    case 'response':
      return [];
  }
}

function kpiRow({ name, rolling, difference }: ReportKpi, context: TextContext): ReportRow {
  const { t } = context;
  const { questions, firstWeek, lastWeek } = rolling;
  const first = weekText(firstWeek, context);
  const weeks =
    firstWeek === lastWeek
      ? first
      : t('weekSpan', { first: partsOf(firstWeek).number, last: partsOf(lastWeek).number });
  return {
    ...figureOf(rolling, context),
    name,
    note: t('kpiNote', { count: questions, weeks }),
    change: markOf(rolling.change, context),
    ...comparedOf(difference, context),
  };
}

/** Returns the questions with the highest and the lowest means. None is in both lists. */
function questionsOf(
  questions: readonly ReportQuestion[],
  compared: string,
  context: TextContext,
): Pick<PrintedReport, 'strongest' | 'weakest'> {
  const { t } = context;
  const sorted = questions.toSorted((a, b) => b.value - a.value || (a.text < b.text ? -1 : 1));
  const weak = Math.min(mostQuestions, Math.floor(sorted.length / 2));
  const strong = Math.min(mostQuestions, sorted.length - weak);
  const rowOf = (question: ReportQuestion): ReportRow => ({
    ...figureOf(question, context),
    name: question.text,
    note: questionNote(question, context),
    change: null,
    ...comparedOf(question.difference, context),
  });
  const noteOf = (rows: ReportRow[]) =>
    rows.some(({ difference }) => difference !== null && difference.verdict !== 'unclear')
      ? t('differenceFrom', { name: compared })
      : '';
  const highest = sorted.slice(0, strong).map(rowOf);
  const lowest = (weak === 0 ? [] : sorted.slice(-weak)).toReversed().map(rowOf);
  return {
    strongest: { title: t('strongest'), note: noteOf(highest), items: highest },
    weakest: { title: t('weakest'), note: noteOf(lowest), items: lowest },
  };
}

/** "64 answers, week 38, 12% not applicable". Doesn't mention "not applicable" if no one chose it. */
function questionNote({ answers, week, notApplicable }: ReportQuestion, context: TextContext): string {
  const { t } = context;
  const named = weekText(week, context);
  if (answers === null) return named;
  if (notApplicable === null || notApplicable.count === 0)
    return t('questionNote', { count: answers, week: named });
  const share = Math.max(1, Math.round((100 * notApplicable.count) / notApplicable.of));
  return t('questionNoteNotApplicable', { count: answers, week: named, percent: share });
}

const score = (value: number) => Math.round(value * 100);

/** Returns "68 ± 4", with an asterisk for what was partly handed out, or the word for a withheld figure. */
function figureOf(
  figure: { value: number | null; margin: number | null; handedOut: boolean },
  { t, locale }: TextContext,
): Pick<ReportRow, 'value' | 'score' | 'margin'> {
  const { value, margin, handedOut } = figure;
  if (value === null) return { value: t('withheld'), score: null, margin: null };
  const interval = margin === null ? '' : ` ± ${pointsOf(margin, true).toLocaleString(locale)}`;
  return {
    value: `${score(value)}${interval}${handedOut ? ' *' : ''}`,
    score: value * 100,
    margin: margin === null ? null : margin * 100,
  };
}

const comparedOf = (
  difference: Difference | null,
  context: TextContext,
): Pick<ReportRow, 'compared' | 'difference'> =>
  difference === null
    ? { compared: null, difference: null }
    : { compared: difference.value * 100, difference: markOf(difference, context) };

/** Returns "+4" for a clear change or difference, and a text for others. Adds an asterisk if it is partly based on handed-out links. */
function markOf(change: FigureChange | Difference | null, { t, locale }: TextContext): ReportMark | null {
  if (change === null) return null;
  const { verdict, handedOut } = change;
  const mark = handedOut ? ' *' : '';
  if (verdict === 'unclear') return { text: t('unclear') + mark, verdict };
  const points = Math.abs(clearPoints(change)).toLocaleString(locale);
  return { text: `${verdict === 'up' ? '+' : '−'}${points}${mark}`, verdict };
}

const partsOf = (week: Week) => {
  const digits = sixDigits(week);
  return { year: digits.slice(0, -2), number: String(Number(digits.slice(-2))) };
};

/** "week 38", with the year if it differs from that of the period. */
function weekText(week: Week, { t, year }: TextContext): string {
  const parts = partsOf(week);
  return parts.year === year ? t('weekShort', { number: parts.number }) : t('weekFull', parts);
}

/** "since week 38", or where no single week's value consists of the earlier figures, the weeks that they are from. */
function sinceText({ since, firstSince }: FigureChange, context: TextContext): string {
  const { t } = context;
  if (firstSince === undefined) return t('since', { week: weekText(since, context) });
  const [first, last] = [partsOf(firstSince), partsOf(since)];
  const weeks =
    first.year !== last.year
      ? t('weeksAcross', { first: t('weekFull', first), last: t('weekFull', last) })
      : firstSince === since
        ? weekText(since, context)
        : t('weeksFromTo', { first: first.number, last: last.number });
  return t('sinceAsked', { weeks });
}

const commentOf = (
  { text, question, week, handedOut }: ResultComment,
  context: TextContext,
): ReportComment => ({
  text,
  question,
  week: weekText(week, context) + (handedOut ? ' *' : ''),
});

const anonymityText = (thresholds: ReportData['thresholds'], t: Texts) =>
  thresholds?.figures === 1
    ? t('notAnonymousText')
    : t('anonymityText', { figures: thresholds?.figures ?? 5, comments: thresholds?.comments ?? 10 });

const isHandedOut = ({ kpis, rates, questions, comments }: ReportData) =>
  rates.some(({ handedOut }) => handedOut) ||
  kpis.some(
    ({ rolling, difference }) => rolling.handedOut || rolling.change?.handedOut || difference?.handedOut,
  ) ||
  questions.some(({ handedOut, difference }) => handedOut || difference?.handedOut) ||
  comments.newest.some(({ handedOut }) => handedOut);

const dayText = (day: string, { locale }: TextContext) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));
