// The commands for weeks: close one, show the open ones, and hand out personal links.
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { audit } from '../accounts/audit.ts';
import { csvRow } from '../base/csv.ts';
import { channelsOf } from '../base/messages/channels.ts';
import type { Config } from '../base/config.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { computeStatistics } from '../results/statistics/statistics.ts';
import { type ExportedLink, exportLinks } from '../rounds/links.ts';
import {
  selectMessageCounts,
  selectRefusals,
  selectRunningWeeks,
} from '../rounds/messages/message-counts.sql.ts';
import { account, accountOf, type Command, flag, text, type OptionValues, weekOption } from './options.ts';

/** Returns the commands. `config` supplies the public address and the mail server. */
export const weekCommands = (
  config: () => Pick<Config, 'publicUrl' | 'smtpUrl' | 'sms'>,
): Record<string, Command> => ({
  'week close': {
    usage:
      '--account ID [--week 2026-W47]\n' +
      "    Publishes the figures of a week and deletes its answers. Default: the last week that has ended. This can't be undone.",
    options: { ...account, week: text },
    run: async (pool, values, keys) => {
      const closed = await closeWeekNow(pool, keys, accountOf(values), weekOption(values), Date.now());
      await computeStatistics(pool, accountOf(values));
      return { week: weekName(closed.week), published: closed.published };
    },
    format: ({ week, published }: { week: string; published: number }) =>
      published > 0
        ? `${week} is closed. ${published} figures published.`
        : `${week} is closed. Nothing was published: the week was already closed, or too few people answered.`,
  },
  'links export': {
    usage:
      '--account ID [--week 2026-W47] [--replace]\n' +
      '    Prints new personal links as CSV for people in an open week who don’t get one by email: those without an address,\n' +
      '    or everyone if no mail server is configured. Anyone with a link can answer in that person’s name, so results based\n' +
      '    on such links are marked. --replace: links exported earlier stop working.',
    isLogged: false,
    options: { ...account, week: text, replace: flag },
    run: (pool, values) => linksExport(pool, values, config()),
    format: ({ links }: { links: ExportedLink[] }) =>
      [
        csvRow(['externalId', 'firstName', 'lastName', 'email', 'phone', 'language', 'link']),
        ...links.map(({ externalId, firstName, lastName, email, phone, language, link }) =>
          csvRow([externalId, firstName, lastName, email, phone, language, link]),
        ),
      ].join(''),
  },
  'week show': {
    isLogged: false,
    usage:
      '--account ID\n    Shows the open weeks: how many people are asked, at least how many have answered, and the state of the emails.',
    options: account,
    run: weekShow,
    format: ({ weeks, refusals }: Awaited<ReturnType<typeof weekShow>>) =>
      [
        ...weeks.map(
          ({ week, asked, messages, ...participation }) =>
            `${week}: ${asked} people asked, ${participationText(participation)} ${
              messages
                .map(({ kind, state, count }) => `${count ?? ''} ${kind}s ${state}`.trim())
                .join(', ') || 'No messages'
            }.`,
        ),
        ...(weeks.length === 0 ? ['No one is being asked in any open week.'] : []),
        ...refusals.map(({ userId, address, reason }) => `User ${userId} <${address}>: ${reason}`),
      ].join('\n'),
  },
});

function participationText({
  answered,
  answeredAtLeast,
  countedOn,
}: {
  answered?: number;
  answeredAtLeast?: number | null;
  countedOn?: string | null;
}): string {
  if (answered !== undefined) return `${answered} have answered.`;
  if (!countedOn) return 'answers are counted once a day, starting tomorrow.';
  if (typeof answeredAtLeast !== 'number') return 'too few to show how many have answered.';
  return `at least ${answeredAtLeast} have answered (counted on ${countedOn}).`;
}

async function linksExport(
  pool: Pool,
  values: OptionValues,
  { publicUrl, ...settings }: Pick<Config, 'publicUrl' | 'smtpUrl' | 'sms'>,
) {
  const accountId = accountOf(values);
  const isReplacing = values['replace'] === true;
  return inTransaction(pool, async (tx) => {
    const { week, links } = await exportLinks(tx, accountId, publicUrl, {
      week: weekOption(values),
      isReplacing,
      channels: channelsOf(settings),
      by: null,
    });
    const details = { people: links.length, isReplacing };
    await audit(tx, accountId, { origin: 'command' }, 'links exported', {
      subject: weekName(week),
      details,
    });
    return { week: weekName(week), links };
  });
}

async function weekShow(pool: Pool, values: OptionValues) {
  const accountId = accountOf(values);
  const [weeks, counts, refusals] = await Promise.all([
    selectRunningWeeks(pool, accountId),
    selectMessageCounts(pool, accountId, Date.now()),
    selectRefusals(pool, accountId),
  ]);
  const messagesIn = (week: Week, isExact: boolean) => {
    const weekCounts = counts
      .filter((count) => count.week === week)
      .map(({ kind, state, count }) => ({ kind, state, count }));
    if (isExact) return weekCounts;
    // Reminders go only to people who have not answered. Their number would reveal how many those are, and the mail server's
    // response to one could reveal who (P18).
    const reminders = weekCounts.filter(({ kind }) => kind === 'reminder');
    const states = new Set(reminders.map(({ state }) => (state === 'waiting' ? 'waiting' : 'sent')));
    return [
      ...weekCounts.filter(({ kind }) => kind !== 'reminder'),
      ...[...states].toSorted().map((state) => ({ kind: 'reminder', state, count: undefined })),
    ];
  };
  return {
    weeks: weeks.map(({ week, asked, atLeast, countedOn, answered }) => ({
      week: weekName(week),
      asked,
      ...(answered === null ? { answeredAtLeast: atLeast, countedOn } : { answered }),
      messages: messagesIn(week, answered !== null),
    })),
    refusals,
  };
}
