// The privacy report command. Prints the report in English, with the same texts as the console.
import type {
  KeyState,
  LinkExport,
  PrivacyReport,
  PrivacyRules,
} from '@soundings/contract/console/privacy.ts';
import {
  breakdownTexts,
  changesTexts,
  keptText,
  limitText,
  neverText,
  type PrivacyArguments,
  type TextTools,
  whereOf,
} from '@soundings/contract/console/privacy-sentences.ts';
import en from '@soundings/contract/text/en/privacy.json' with { type: 'json' };
import { copyText } from './operating/keys.ts';
import { account, accountOf, type Command, table } from './options.ts';
import { channelsOf } from '../base/messages/channels.ts';
import type { Config } from '../base/config.ts';
import { sizeText } from '../base/sizes.ts';
import { catalogue } from '../base/texts.ts';
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
      const { fileDays, publicUrl, ...settings } = config();
      const { mail, sms } = channelsOf(settings);
      const hasMail = mail || sms;
      const installation = {
        keys: await keys.chain.state(),
        version,
        fileDays,
        hasMail,
        publicUrl,
        now: Date.now(),
      };
      // Imported here, because it loads all schemas of the console, which would slow down every other command.
      const { readPrivacyReport } = await import('../results/privacy/privacy-report.ts');
      return readPrivacyReport(pool, accountOf(values), installation);
    },
    format: privacyText,
  },
});

/** Returns the whole report as text, section by section. */
export function privacyText(report: PrivacyReport): string {
  const { account: of, at, limits, never } = report;
  const limitLine = (limit: (typeof limits)[number]) =>
    [`- ${t(`privacy.limit.${limit.code}`)}.`, limitText(limit, tools), whereOf(limit, tools)]
      .filter((part) => part !== undefined)
      .join(' ');
  const sections: [heading: string, lines: string[]][] = [
    [t('privacy.rules'), [table(rulesRows(report))]],
    [t('privacy.breakdowns'), breakdownLines(report)],
    [t('privacy.limits'), limits.length === 0 ? ['Nothing to report.'] : limits.map(limitLine)],
    [
      t('privacy.never'),
      never.length === 0
        ? [t('privacy.neverNothing')]
        : [t('privacy.neverText'), ...never.map((one) => `- ${neverText(one, tools)}`)],
    ],
    [t('privacy.who'), accessLines(report)],
    [t('privacy.links'), linkLines(report.links)],
    [t('privacy.keys'), keyLines(report.keys)],
    [
      t('privacy.kept'),
      report.kept.map((one) => `- ${t(`privacy.kept.${one.code}`)}: ${keptText(one, tools)}`),
    ],
  ];
  const subtitle = t('privacy.subtitle', {
    company: `${of.name} (account ${of.id})`,
    at: `${minute(at)} UTC`,
    version: report.version,
  });
  return [
    `${t('privacy.title')}: ${subtitle}`,
    ...sections.map(([heading, lines]) => `${heading}\n\n${lines.join('\n')}`),
  ].join('\n\n');
}

const t = catalogue<typeof en, PrivacyArguments>({ en }).in('en');
const minute = (iso: string) => iso.slice(0, 16).replace('T', ' ');

const tools: TextTools = {
  t,
  format: {
    day: (iso) => iso.slice(0, 10),
    time: (iso) => `${minute(iso)} UTC`,
    bytes: sizeText,
  },
  week: (name) => name,
};

function breakdownLines(report: PrivacyReport): string[] {
  const { breakdowns, rules } = report;
  if (breakdowns.length === 0) return [t('privacy.noBreakdowns')];
  const { rows, none } = changesTexts(report, tools);
  const head = [t('privacy.breakdown.by'), t('privacy.breakdown.open'), t('privacy.breakdown.weeks')];
  return [
    rules.threshold > 1
      ? t('privacy.breakdownsText', { minimum: rules.threshold })
      : t('privacy.breakdownsOpen'),
    '',
    table([
      [t('privacy.breakdown.name'), ...head],
      ...breakdowns.map((one) => {
        const { by, open, weeks } = breakdownTexts(one, tools);
        return [one.name, by, open, weeks];
      }),
    ]),
    '',
    `${t('privacy.changes')}. ${t('privacy.changesText')}`,
    rows.length === 0
      ? none
      : table([
          [t('privacy.changes.week'), t('privacy.breakdown.name'), t('privacy.changes.count')],
          ...rows.map(({ week, name, count }) => [week, name, String(count)]),
        ]),
  ];
}

function rulesRows({ rules, openWeeks }: PrivacyReport): string[][] {
  const row = (label: string, of: (rules: PrivacyRules) => string) => [
    label,
    ...[rules, ...openWeeks].map(of),
  ];
  const count = (name: 'threshold' | 'distributionThreshold' | 'commentThreshold') =>
    row(t(`privacy.rule.${name}`), (one) => String(one[name]));
  return [
    [
      t('privacy.rule.name'),
      t('privacy.rule.setting'),
      ...openWeeks.map(({ week }) => t('privacy.rule.open', { week })),
    ],
    count('threshold'),
    count('distributionThreshold'),
    count('commentThreshold'),
    row(t('privacy.rule.results'), ({ isLive }) =>
      t(isLive ? 'privacy.results.live' : 'privacy.results.weekly'),
    ),
    row(t('privacy.rule.noise'), ({ noise }) => t(`privacy.noise.${noise}`)),
    [t('privacy.rule.people'), '', ...openWeeks.map(({ people }) => String(people))],
  ];
}

const accessLines = ({ roles, managers, tokens }: PrivacyReport): string[] => [
  table([
    [t('privacy.who.role'), t('privacy.who.people'), t('privacy.who.canSignIn'), 'Sees'],
    ...roles.map(({ role, people, canSignIn, sees }) => [
      role,
      String(people),
      String(canSignIn),
      sees
        .map((area) =>
          t(role === 'Manager' && area === 'results' ? 'privacy.sees.ownResults' : `privacy.sees.${area}`),
        )
        .join(', '),
    ]),
  ]),
  '',
  table([
    [
      t('privacy.managers.basis'),
      t('privacy.managers.managers'),
      t('privacy.managers.groups', { count: managers.groups }),
    ],
    ...managers.bases.map((one) => [
      t(`privacy.basis.${one.basis}`),
      String(one.managers),
      String(one.groups),
    ]),
    [t('privacy.basis.none'), String(managers.withoutGroups), '0'],
  ]),
  '',
  tokens.length === 0
    ? t('privacy.tokens.none')
    : table([
        [t('privacy.tokens'), 'Created', t('privacy.tokens.used'), t('privacy.tokens.expires')],
        ...tokens.map(({ name, createdAt, lastUsedAt, expiresAt }) => [
          name,
          minute(createdAt),
          lastUsedAt === null ? t('privacy.tokens.never') : minute(lastUsedAt),
          expiresAt === null ? t('privacy.tokens.never') : minute(expiresAt),
        ]),
      ]),
];

const linkLines = ({ weeks, exports }: PrivacyReport['links']): string[] => [
  t('privacy.linksText', { weeks }),
  exports.length === 0
    ? t('privacy.links.none')
    : table([
        [t('privacy.links.week'), t('privacy.links.people'), t('privacy.links.last'), ''],
        ...exports.map(exportRow),
      ]),
];

const exportRow = ({ week, people, times, origin, lastAt }: LinkExport): string[] => [
  week ?? t('privacy.links.unknown'),
  people === null ? t('privacy.links.unknown') : String(people),
  minute(lastAt),
  t(`privacy.links.${origin}`, { count: times }),
];

const keyLines = ({ place, path, state, epoch, processes, ...keys }: KeyState): string[] => [
  `${t('privacy.keys.place')}: ${t(`privacy.keyPlace.${place}`)}${path === null ? '' : `, ${path}`}`,
  `${t('privacy.keys.state')}: ${t(`privacy.keys.${state}`)}`,
  `${t('privacy.keys.epoch')}: ${epoch}`,
  ...copyText(keys),
  ...processes.map(
    ({ name, epoch: own, seenAt, isBehind }) =>
      `${t('privacy.keys.process')} ${name}: ${own}${isBehind ? `, ${t('privacy.keys.behind')}` : ''}, ${minute(seenAt)}`,
  ),
];
