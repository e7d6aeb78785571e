// The tables of the privacy report: thresholds, roles, managers, tokens, handed-out links, and keys. They have at most four
// columns, so that they fit on a phone and on paper.
import type { PrivacyReport, PrivacyRole, PrivacyRules } from '@soundings/contract/console/privacy.ts';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { usePrivacyText } from './privacy-texts.ts';
import css from './privacy.module.css';

/** The first cell of each row is its heading. `label`: names the table if there is no heading directly above it. */
export function Grid({
  head,
  rows,
  label,
}: {
  head: string[];
  rows: [string, ...ReactNode[]][];
  label: string;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolling areas must be reachable by keyboard
    <div className={css['scroll']} role="group" aria-label={label} tabIndex={0}>
      <table className={css['table']}>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([key, first, ...cells]) => (
            <tr key={key}>
              <th scope="row">{first}</th>
              {cells.map((cell, i) => (
                // oxlint-disable-next-line react/no-array-index-key -- the columns do not move
                <td key={i}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Two = ({ name, more }: { name: ReactNode; more: ReactNode }) => (
  <>
    {name}
    <span className={css['more']}>{more}</span>
  </>
);

export function Rules({ rules, openWeeks }: PrivacyReport) {
  const t = useText();
  const format = useFormat();
  const weeks = useWeekText();
  const all: PrivacyRules[] = [rules, ...openWeeks];
  const row = (key: string, label: string, of: (one: PrivacyRules) => string): [string, ...ReactNode[]] => [
    key,
    label,
    ...all.map(of),
  ];
  const count = (name: 'threshold' | 'distributionThreshold' | 'commentThreshold') =>
    row(name, t(`privacy.rule.${name}`), (one) => format.number(one[name]));
  const rows = [
    count('threshold'),
    count('distributionThreshold'),
    count('commentThreshold'),
    row('results', t('privacy.rule.results'), ({ isLive }) =>
      t(isLive ? 'privacy.results.live' : 'privacy.results.weekly'),
    ),
    row('noise', t('privacy.rule.noise'), ({ noise }) => t(`privacy.noise.${noise}`)),
  ];
  if (openWeeks.length > 0)
    rows.push([
      'people',
      t('privacy.rule.people'),
      '',
      ...openWeeks.map(({ people }) => format.number(people)),
    ]);
  return (
    <Section title={t('privacy.rules')} description={t('privacy.rulesText')}>
      <Grid
        label={t('privacy.rules')}
        head={[
          t('privacy.rule.name'),
          t('privacy.rule.setting'),
          ...openWeeks.map(({ week }) => t('privacy.rule.open', { week: weeks.full({ name: week }) })),
        ]}
        rows={rows}
      />
      {openWeeks.length === 0 && <p className={css['soft']}>{t('privacy.noOpenWeek')}</p>}
    </Section>
  );
}

export function Access({ roles, managers, tokens }: PrivacyReport) {
  const t = useText();
  const format = useFormat();
  return (
    <Section title={t('privacy.who')}>
      <Grid
        label={t('privacy.who')}
        head={[t('privacy.who.role'), t('privacy.who.people'), t('privacy.who.canSignIn')]}
        rows={roles.map((role) => [
          role.role,
          <Role key="role" {...role} />,
          format.number(role.people),
          format.number(role.canSignIn),
        ])}
      />
      <Managers {...managers} />
      <Tokens tokens={tokens} />
    </Section>
  );
}

function Role({ role, sees }: PrivacyRole) {
  const t = useText();
  const areas = sees.map((area) =>
    t(role === 'Manager' && area === 'results' ? 'privacy.sees.ownResults' : `privacy.sees.${area}`),
  );
  return <Two name={t(`role.${role}`)} more={areas.join(', ')} />;
}

function Managers({ bases, withoutGroups, groups }: PrivacyReport['managers']) {
  const t = useText();
  const format = useFormat();
  return (
    <div className={css['part']}>
      <h3 className={css['small']}>{t('privacy.managers')}</h3>
      <Grid
        label={t('privacy.managers')}
        head={[
          t('privacy.managers.basis'),
          t('privacy.managers.managers'),
          t('privacy.managers.groups', { count: groups }),
        ]}
        rows={[
          ...bases.map((one): [string, ...ReactNode[]] => [
            one.basis,
            t(`privacy.basis.${one.basis}`),
            format.number(one.managers),
            format.number(one.groups),
          ]),
          ['none', t('privacy.basis.none'), format.number(withoutGroups), format.number(0)],
        ]}
      />
    </div>
  );
}

function Tokens({ tokens }: Pick<PrivacyReport, 'tokens'>) {
  const t = useText();
  const format = useFormat();
  const day = (iso: string | null) => (iso === null ? t('privacy.tokens.never') : format.day(iso));
  return (
    <div className={css['part']}>
      <h3 className={css['small']}>{t('privacy.tokens')}</h3>
      {tokens.length === 0 ? (
        <p className={css['soft']}>{t('privacy.tokens.none')}</p>
      ) : (
        <Grid
          label={t('privacy.tokens')}
          head={[t('privacy.tokens.name'), t('privacy.tokens.used'), t('privacy.tokens.expires')]}
          rows={tokens.map(({ name, createdAt, lastUsedAt, expiresAt }) => [
            `${name} ${createdAt}`,
            <Two key="name" name={name} more={t('privacy.tokens.created', { day: format.day(createdAt) })} />,
            day(lastUsedAt),
            day(expiresAt),
          ])}
        />
      )}
    </div>
  );
}

export function Links({ links }: PrivacyReport) {
  const t = useText();
  const format = useFormat();
  const weeks = useWeekText();
  const unknown = t('privacy.links.unknown');
  return (
    <Section title={t('privacy.links')} description={t('privacy.linksText', { weeks: links.weeks })}>
      {links.exports.length === 0 ? (
        <p className={css['soft']}>{t('privacy.links.none')}</p>
      ) : (
        <Grid
          label={t('privacy.links')}
          head={[t('privacy.links.week'), t('privacy.links.people'), t('privacy.links.last')]}
          rows={links.exports.map(({ week, origin, times, people, lastAt }) => [
            `${week} ${origin}`,
            <Two
              key="week"
              name={week === null ? unknown : weeks.full({ name: week })}
              more={t(`privacy.links.${origin}`, { count: times })}
            />,
            people === null ? unknown : format.number(people),
            format.time(lastAt),
          ])}
        />
      )}
    </Section>
  );
}

export function Keys({ keys }: PrivacyReport) {
  const t = useText();
  const format = useFormat();
  const texts = usePrivacyText();
  return (
    <Section title={t('privacy.keys')} description={t('privacy.keysText')}>
      <DescriptionList
        items={[
          [t('privacy.keys.place'), t(`privacy.keyPlace.${keys.place}`)],
          [t('privacy.keys.path'), keys.path === null ? undefined : <code key="path">{keys.path}</code>],
          [t('privacy.keys.state'), t(`privacy.keys.${keys.state}`)],
          [t('privacy.keys.epoch'), format.number(keys.epoch)],
        ]}
      />
      {keys.processes.length > 0 && (
        <Grid
          label={texts.place(keys)}
          head={[t('privacy.keys.process'), t('privacy.keys.epoch'), t('privacy.keys.seen')]}
          rows={keys.processes.map(({ name, epoch, seenAt, isBehind }) => [
            name,
            name,
            isBehind ? `${format.number(epoch)}, ${t('privacy.keys.behind')}` : format.number(epoch),
            format.time(seenAt),
          ])}
        />
      )}
    </Section>
  );
}
