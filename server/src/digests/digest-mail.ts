// Builds the email of a digest from the texts of a report. Pure. Names and comments, which others wrote, never become clickable.
import type { PrintedReport, ReportRow } from '@soundings/contract/console/reports.ts';
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import { type Block, renderMail } from '../mail/template.ts';
import type { Digest } from './read-digest.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/digest.json' with { type: 'json' };
import en from './text/en/digest.json' with { type: 'json' };
import sv from './text/sv/digest.json' with { type: 'json' };

export const digestTexts = catalogue<typeof en, Arguments['digest']>({ en, sv, de });
type Texts = ReturnType<typeof digestTexts.in>;

/** How many comments a digest contains, and the most characters of each. */
const [mostComments, mostOfComment] = [2, 400];

/** The most characters of a name, and of a question or finding. */
const [ofName, ofText] = [80, 300];

/** `address`: the overview of the first group; `optOutUrl`: the page on which digests are turned off (rounds/messages/opt-outs.ts). */
export type DigestAddresses = { address: string; optOutUrl: string };

/** Returns the email in the language of its report. `earlier`: how many earlier weeks with results it covers as well. */
export function digestMail(
  { report, handedOut, thresholds, others, more }: Digest,
  { withComments, earlier }: { withComments: boolean; earlier: number },
  { address, optOutUrl }: DigestAddresses,
): { subject: string; text: string; html: string; headers: Record<string, string> } {
  const { language } = report;
  const t = digestTexts.in(language);
  const company = inert(report.company, ofName);
  const about = { week: report.period.title, group: inert(report.group.name, ofName) };
  const blocks: Block[] = [
    { kind: 'text', text: introduction(report, t) },
    ...(earlier > 0 ? [{ kind: 'text' as const, text: t('earlier', { count: earlier }) }] : []),
    { kind: 'heading', text: report.findings.title },
    { kind: 'points', points: report.findings.items.map((one) => inert(one, ofText)) },
    ...questionsOf(report.strongest, t),
    ...questionsOf(report.weakest, t),
    ...(withComments ? commentsOf(report) : []),
    ...groupsOf(others, more, t),
    { kind: 'button', text: t('button'), address, hint: t('hint') },
    { kind: 'note', lead: `${report.anonymity.title}.`, text: anonymity(thresholds, t) },
    { kind: 'note', lead: t('marks.lead'), text: [t('marks.text'), handedOut].join(' ').trim() },
  ];
  const content = renderMail({
    language,
    about: company,
    tone: 'plain',
    title: t('title', about),
    blocks,
    footer: [t('why', { company }), t('confidential'), { text: t('optOut'), address: optOutUrl }],
  });
  return {
    subject: t('subject', about),
    ...content,
    // RFC 2369 §3.2 and RFC 8058 §3.1
    headers: { 'List-Unsubscribe': `<${optOutUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  };
}

/** "389 of 474 people answered (82%)." */
function introduction({ response }: PrintedReport, t: Texts): string {
  return response === null ? t('closed') : t('answered', { text: response.text, rate: response.rate });
}

const anonymity = (thresholds: Digest['thresholds'], t: Texts) =>
  thresholds?.figures === 1
    ? t('notAnonymous')
    : t('anonymous', { figures: thresholds?.figures ?? 5, comments: thresholds?.comments ?? 10 });

/** Returns the questions of a list with their scores. */
const questionsOf = ({ title, items }: PrintedReport['strongest'], t: Texts): Block[] =>
  items.length === 0
    ? []
    : [
        { kind: 'heading', text: title },
        {
          kind: 'figures',
          head: [t('question'), t('score')],
          rows: items.map(({ name, value }: ReportRow) => [inert(name, ofText), value]),
        },
      ];

const commentsOf = ({ comments: { title, items } }: PrintedReport): Block[] =>
  items.length === 0
    ? []
    : [
        { kind: 'heading', text: title },
        ...items.slice(0, mostComments).map(({ text, question, week }) => ({
          kind: 'quote' as const,
          text: inert(text, mostOfComment),
          source: inert(`${question} · ${week}`, ofText),
        })),
      ];

/** Returns one line for each of the other groups: its response, and its first finding. */
function groupsOf(others: readonly PrintedReport[], more: number, t: Texts): Block[] {
  if (others.length === 0) return [];
  const rows = others.map(({ group, response, findings }) => [
    inert(group.name, ofName),
    response?.rate ?? '',
    inert(findings.items[0] ?? '', ofText),
  ]);
  const head = [t('group'), t('response'), t('finding')];
  return [
    { kind: 'heading', text: t('groups') },
    { kind: 'table', head, rows, wide: [32, 16, 52] },
    ...(more > 0 ? [{ kind: 'text' as const, text: t('more', { count: more }) }] : []),
  ];
}
