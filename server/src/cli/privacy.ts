// The privacy report command. Prints the report in English.
import type {
  KeyState,
  Kept,
  LinkExport,
  NeverShown,
  PrivacyArea,
  PrivacyLimit,
  PrivacyReport,
  PrivacyRules,
} from '@soundings/contract/console/privacy.ts';
import { copyText } from './keys.ts';
import { account, accountOf, type Command, table } from './options.ts';
import type { Config } from '../base/config.ts';
import { version } from '../base/version.ts';

export const privacyCommands = (config: () => Config): Record<string, Command> => ({
  'privacy report': {
    isLogged: false,
    usage:
      '--account ID\n' +
      '    Prints which privacy rules apply, who can see what, and what this installation can’t promise. For works councils\n' +
      '    and data protection officers. It contains no names of people. Run it with the same settings as the service.',
    options: account,
    run: async (pool, values, keys) => {
      const { fileDays, smtpUrl, publicUrl } = config();
      const hasMail = smtpUrl !== undefined;
      const installation = {
        keys: await keys.chain.state(),
        version,
        fileDays,
        hasMail,
        publicUrl,
        now: Date.now(),
      };
      // Imported here, because it loads all schemas of the console, which would slow down every other command.
      const { readPrivacyReport } = await import('../results/privacy-report.ts');
      return readPrivacyReport(pool, accountOf(values), installation);
    },
    format: privacyText,
  },
});

/** Returns the whole report as text, section by section. */
export function privacyText(report: PrivacyReport): string {
  const { account: of, at, rules, openWeeks, segments, limits, never, keys, managers, links } = report;
  const sections: [heading: string, lines: string[]][] = [
    [
      'Current rules',
      [
        table([
          ['', 'weeks from now on', ...openWeeks.map(({ week }) => week)],
          ...rulesRows([rules, ...openWeeks]),
          ['people asked', '', ...openWeeks.map(({ people }) => String(people))],
        ]),
        ...(segments.length === 0
          ? []
          : [
              '',
              `Results are also shown by: ${segments.join(', ')}.${rules.threshold > 1 ? ` Never for fewer than ${rules.threshold} people.` : ''}`,
            ]),
      ],
    ],
    [
      'What this installation can’t promise',
      limits.length === 0 ? ['Nothing to report.'] : limits.map((limit) => `- ${limitText(limit)}`),
    ],
    ['Never shown', never.map((one) => `- ${neverText(one)}`)],
    [
      'Who can see what',
      [
        table([
          ['role', 'active people', 'with a password', 'sees'],
          ...report.roles.map(({ role, people, canSignIn, sees }) => [
            role,
            String(people),
            String(canSignIn),
            sees
              .map((area) => (role === 'Manager' && area === 'results' ? managersSee : areas[area]))
              .join(', '),
          ]),
        ]),
        '',
        ...managers.bases.map(
          ({ basis, managers: count, groups }) =>
            `${count} managers see ${groups} of ${managers.groups} groups because they ${basisText[basis]}.`,
        ),
        `${managers.withoutGroups} managers see no groups.`,
        '',
        report.tokens.length === 0
          ? 'No API token can read results.'
          : table([
              ['API token that reads results', 'created', 'last used', 'expires'],
              ...report.tokens.map(({ name, createdAt, lastUsedAt, expiresAt }) => [
                name,
                minute(createdAt),
                lastUsedAt === null ? 'never' : minute(lastUsedAt),
                expiresAt === null ? 'never' : minute(expiresAt),
              ]),
            ]),
      ],
    ],
    [`Links handed out in the last ${links.weeks} weeks`, exportLines(links.exports)],
    ['Answer keys', keyLines(keys)],
    ['What is kept, and for how long', report.kept.map((one) => `- ${keptText(one)}`)],
  ];
  const title = `Privacy report: ${of.name} (account ${of.id})\n${minute(at)} UTC, Soundings ${report.version}`;
  return [title, ...sections.map(([heading, lines]) => `${heading}\n\n${lines.join('\n')}`)].join('\n\n');
}

const minute = (iso: string) => iso.slice(0, 16).replace('T', ' ');
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
const counted = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

function rulesRows(all: PrivacyRules[]): string[][] {
  const row = (label: string, of: (rules: PrivacyRules) => string) => [label, ...all.map(of)];
  return [
    row('minimum answers behind a figure', ({ threshold }) => String(threshold)),
    row('minimum answers behind a distribution', ({ distributionThreshold }) =>
      String(distributionThreshold),
    ),
    row('minimum answers to show comments', ({ commentThreshold }) => String(commentThreshold)),
    row('results are shown', ({ isLive }) => (isLive ? 'live' : 'after the week closes')),
    row('noise', ({ noise }) => (noise === 0 ? 'off' : `±${noise}`)),
  ];
}

const areas: Record<PrivacyArea, string> = {
  results: 'results of all groups',
  people: 'people',
  settings: 'settings',
  audit: 'the audit log',
  report: 'this report',
  profile: 'their own profile',
};
const managersSee = 'results of the groups listed below';

const basisText = {
  adminOf: 'own them',
  inheritedAdminOf: 'administer them or a group above',
  interestOf: 'have read rights',
} as const;

/** "Applies to weeks that open from now on, 2026-W47." */
const whereText = ({ isSetting, weeks }: { isSetting: boolean; weeks: string[] }) =>
  `Applies to ${[...(isSetting ? ['weeks that open from now on'] : []), ...weeks].join(', ')}.`;

function limitText(limit: PrivacyLimit): string {
  switch (limit.code) {
    case 'notAnonymous':
      return `Answers are not anonymous: the threshold is 1, so results can show what one person answered. ${whereText(limit)}`;
    case 'leftAfterClosing':
      return `Data of closed weeks was not deleted. Tables with such data: ${limit.tables.join(', ')}. Ask the server administrator to check the log.`;
    case 'keysMissing':
      return `The key file is missing${limit.path === null ? '' : ` (${limit.path})`}. No week can open, and the answers of open weeks can’t be read: ${limit.weeks.join(', ') || 'none is open'}.`;
    case 'keysBehind':
      return `A process has not moved its key forward. Its copy can still open answers of weeks that have closed since: ${limit.processes
        .map(({ name, seenAt }) => `${name}, last seen ${minute(seenAt)}`)
        .join(
          '; ',
        )}. Start each of them. If the machine of a process is gone and its key file deleted, run "soundings keys remove-process".`;
    case 'keysExported':
      return (
        `The answer key was exported, last on ${minute(limit.lastAt)}. Anyone with such a copy and a copy of the database can read answers of weeks that were open then, and of all weeks since. ` +
        `To end that, run "soundings keys reset --yes" while no week is open.`
      );
    case 'keysWereExported':
      return `The answer key was exported, last on ${minute(limit.lastAt)}, and replaced on ${minute(limit.until)}. Anyone with such a copy, and with a copy of the database from that time, can read answers of weeks that were open between the export and the replacement. Later weeks are not affected.`;
    case 'keysWereInDatabase':
      return `The answer keys were in the database until ${minute(limit.until)}. Answers of weeks that were open before can be read from database logs and backups of that time until the logs are overwritten and the backups deleted.`;
    case 'keysInDatabase':
      return (
        `The keys to the answers of open weeks are in the database. A copy of it, its log or a backup can reveal who answered what, even after the week has closed, ` +
        `until the log is overwritten (up to ${megabytes(limit.walBytes)}${limit.isArchived ? ', and it is archived' : ''}) and older backups are deleted. Connected replicas: ${limit.replicas}.`
      );
    case 'live':
      return `Results are shown while people are still answering. Figures change in batches of at least ${limit.threshold} answers. Anyone who compares figures before and after a batch sees the answers of that batch. ${whereText(limit)}`;
    case 'betweenWeeks':
      return `Figures of weeks can be compared. ${limit.noise === 0 ? 'Noise is off' : `With noise ±${limit.noise}`}: when one person leaves a team of eight and 95 % of colleagues repeat their answers, the best guess at that person’s answer is right in ${limit.right} % of cases (guessing the most common answer: ${limit.commonest} %). If groups of five are made up of different people each week, ${limit.shuffled} % of all answers can be worked out after twelve weeks. ${whereText(limit)}`;
    case 'noMail':
      return `No mail server is configured, so every link is handed out by the employer, to ${counted(limit.people, 'active person', 'active people')}. Anyone with a link can answer in that person’s name.`;
    case 'noAddress':
      return `${limit.people} of ${limit.all} active people have no email address, so the employer hands out their links. Anyone with a link can answer in that person’s name.`;
    case 'linksHandedOut':
      return `Personal links were exported in the last ${limit.weeks} weeks, ${limit.people} in all. Anyone who has seen a link could answer in that person’s name.`;
    case 'plainHttp':
      return `Answers cross the network unencrypted: the address of the service is ${limit.address}.`;
    case 'weekOpen':
      return `While a week is open, anyone with both the database and its keys can read answers by person: ${limit.weeks.join(', ')}, ${counted(limit.people, 'person', 'people')} asked.`;
    case 'unanimity':
      return `A mean close to the end of the scale reveals that nearly everyone chose it, even in a group of ${limit.threshold}.`;
    case 'colleagues':
      return `${counted(limit.others, 'colleague')} who share their own answers can work out the answer of one more.`;
    case 'invented':
      return `An employer can invent people to fill up a group: ${counted(limit.administrators, 'administrator')} can create people, and ${limit.manual} of ${limit.people} active people were created manually.`;
  }
}

function neverText(never: NeverShown): string {
  switch (never.code) {
    case 'figures':
      return `Means and response rates based on fewer than ${never.below} answers.`;
    case 'differences':
      return `Figures whose sum or difference would be based on fewer than ${never.below} people.`;
    case 'distributions':
      return `Distributions and individual answers based on fewer than ${never.below} answers.`;
    case 'comments':
      return `Comments in groups where fewer than ${never.below} people answered, and who wrote a comment.`;
    case 'openWeek':
      return 'Figures of a week before it has closed.';
    case 'whoAnswered':
      return `Who has answered. While a week is open, only an approximate number is shown, in steps of ${never.step}.`;
    case 'whoSaidWhat':
      return `Who answered what in a closed week. This data was deleted for ${counted(never.closedWeeks, 'closed week')}.`;
  }
}

function exportLines(exports: LinkExport[]): string[] {
  if (exports.length === 0) return ['None.'];
  return [
    table([
      ['week', 'links', 'exports', 'from', 'last'],
      ...exports.map(({ week, people, times, origin, lastAt }) => [
        week ?? 'not recorded',
        people === null ? 'not recorded' : String(people),
        String(times),
        origin === 'console' ? 'console' : 'soundings command',
        minute(lastAt),
      ]),
    ]),
  ];
}

const keyLines = ({ place, path, state, epoch, processes, ...keys }: KeyState): string[] => [
  place === 'file'
    ? `In a file outside the database${path === null ? '' : `: ${path}`}.`
    : 'In the database (ANSWER_KEYS=database).',
  `State: ${state}, epoch ${epoch}.`,
  ...copyText(keys),
  ...processes.map(
    ({ name, epoch: own, seenAt, isBehind }) =>
      `Process ${name}: epoch ${own}, last seen ${minute(seenAt)}${isBehind ? ', behind' : ''}.`,
  ),
];

function keptText(kept: Kept): string {
  switch (kept.code) {
    case 'answers':
      return `Answers: until their week closes, shortly after Sunday ends (${kept.timezone}). ${counted(kept.openWeeks, 'week')} open now.`;
    case 'closing':
      return `When a week closes, its answers, participants, links and messages are deleted: ${counted(kept.closedWeeks, 'closed week')}, ${
        kept.tables.length === 0 ? 'nothing left' : `rows left in ${kept.tables.join(', ')}`
      }.`;
    case 'results':
      return `Published figures and comments: no end date. ${counted(kept.weeks, 'week')}${kept.since === null ? '' : ` since ${kept.since}`}.`;
    case 'runs':
      return `Runs (pushes and files of the HR system): ${kept.days} days.`;
    case 'files':
      return `Uploaded files: ${kept.days} days after they were processed.`;
    case 'audit':
      return `Audit log: no end date${kept.since === null ? '' : `, since ${kept.since.slice(0, 10)}`}.`;
    case 'databaseLog':
      return `The log of the database: about ${megabytes(kept.walBytes)}, ${kept.isArchived ? 'and it is archived' : 'not archived'}.`;
    case 'replicas':
      return `Connected replicas of the database: ${kept.count}.`;
  }
}
