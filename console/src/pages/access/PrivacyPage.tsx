// The privacy report for works councils and data-protection officers, on screen and on paper: rules in force, what is never shown,
// and what can't be promised. All data is read when the page is opened.
import type { PrivacyLimit, PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { CircleAlert, EyeOff, Info, Printer, TriangleAlert } from 'lucide-react';
import { useData } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { usePrivacyText } from './privacy-texts.ts';
import css from './privacy.module.css';
import { Breakdowns } from './PrivacyBreakdowns.tsx';
import { Access, Keys, Links, Rules } from './PrivacyTables.tsx';

export function PrivacyPage() {
  const t = useText();
  const format = useFormat();
  const response = useData('GET /privacy');
  const report = response.data;
  return (
    <Page
      title={t('privacy.title')}
      waits={!report}
      subtitle={
        report &&
        t('privacy.subtitle', {
          company: report.account.name,
          at: format.time(report.at),
          version: report.version,
        })
      }
      actions={
        report && (
          <Button icon={Printer} onClick={() => print()}>
            {t('privacy.print')}
          </Button>
        )
      }
      narrow
    >
      <Loaded response={response}>
        {(data) => (
          <>
            <InShort {...data} />
            <Limits {...data} />
            <Never {...data} />
            <Rules {...data} />
            <Breakdowns {...data} />
            <Access {...data} />
            <Links {...data} />
            <Keys {...data} />
            <Retention {...data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function InShort({ rules, keys }: PrivacyReport) {
  const t = useText();
  const format = useFormat();
  const texts = usePrivacyText();
  const items = [
    {
      label: t('privacy.short.threshold'),
      value: format.number(rules.threshold),
      note: t(rules.threshold === 1 ? 'privacy.short.notAnonymous' : 'privacy.short.thresholdNote'),
    },
    {
      label: t('privacy.short.results'),
      value: t(rules.isLive ? 'privacy.results.live' : 'privacy.results.weekly'),
      note: t('privacy.short.resultsNote'),
    },
    {
      label: t('privacy.short.noise'),
      value: t(`privacy.noise.${rules.noise}`),
      note: t(rules.noise === 0 ? 'privacy.short.noiseOff' : 'privacy.short.noiseNote'),
    },
    {
      label: t('privacy.short.keys'),
      value: texts.place(keys),
      note: t('privacy.keyEpoch', { epoch: keys.epoch }),
    },
  ];
  return (
    <Section title={t('privacy.inShort')} description={t('privacy.inShortText')}>
      <dl className={css['short']}>
        {items.map(({ label, value, note }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className={css['value']}>{value}</dd>
            <dd className={css['note']}>{note}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const icons = { broken: CircleAlert, weaker: TriangleAlert, inherent: Info };
const weights = ['broken', 'weaker', 'inherent'] as const;

function Limits({ limits }: PrivacyReport) {
  const t = useText();
  return (
    <Section title={t('privacy.limits')} description={t('privacy.limitsText')}>
      {weights.map((weight) => {
        const own = limits.filter((limit) => limit.weight === weight);
        return (
          own.length > 0 && (
            <div key={weight} className={css['part']}>
              <h3 className={css['small']}>{t(`privacy.weight.${weight}`)}</h3>
              <ul className={css['list']}>
                {own.map((limit) => (
                  <Limit key={JSON.stringify(limit)} limit={limit} />
                ))}
              </ul>
            </div>
          )
        );
      })}
    </Section>
  );
}

function Limit({ limit }: { limit: PrivacyLimit }) {
  const Icon = icons[limit.weight];
  const { title, text, where } = usePrivacyText().limit(limit);
  return (
    <li className={css[limit.weight]}>
      <Icon aria-hidden size={18} strokeWidth={1.75} />
      <div>
        <p className={css['limitTitle']}>{title}</p>
        <p>{text}</p>
        {where !== undefined && <p className={css['soft']}>{where}</p>}
      </div>
    </li>
  );
}

function Never({ never }: PrivacyReport) {
  const t = useText();
  const texts = usePrivacyText();
  return (
    <Section title={t('privacy.never')} description={t('privacy.neverText')}>
      {never.length === 0 && <p>{t('privacy.neverNothing')}</p>}
      <ul className={css['list']}>
        {never.map((one) => (
          <li key={one.code}>
            <EyeOff aria-hidden size={18} strokeWidth={1.75} />
            <p>{texts.never(one)}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Retention({ kept }: PrivacyReport) {
  const t = useText();
  const texts = usePrivacyText();
  return (
    <Section title={t('privacy.kept')}>
      <DescriptionList items={kept.map((one) => texts.kept(one))} />
    </Section>
  );
}
