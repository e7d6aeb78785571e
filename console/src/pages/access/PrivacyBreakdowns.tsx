// The breakdowns in the privacy report: by which attributes results are or were shown, and whether values changed just before a week
// opened.
import type { PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Section } from '../../ui/page/Section.tsx';
import { usePrivacyText } from './privacy-texts.ts';
import css from './privacy.module.css';
import { Grid } from './PrivacyTables.tsx';

export function Breakdowns({ breakdowns, changes, rules }: PrivacyReport) {
  const t = useText();
  const { number } = useFormat();
  const weeks = useWeekText();
  const texts = usePrivacyText();
  const found = texts.changes({ changes });
  const text =
    rules.threshold > 1
      ? t('privacy.breakdownsText', { minimum: rules.threshold })
      : t('privacy.breakdownsOpen');
  return (
    <Section
      title={t('privacy.breakdowns')}
      description={breakdowns.length === 0 ? t('privacy.noBreakdowns') : text}
    >
      {breakdowns.length > 0 && (
        <>
          <Grid
            label={t('privacy.breakdowns')}
            head={[
              t('privacy.breakdown.name'),
              t('privacy.breakdown.by'),
              t('privacy.breakdown.open'),
              t('privacy.breakdown.weeks'),
            ]}
            rows={breakdowns.map((one) => {
              const { by, open, weeks: figures } = texts.breakdown(one);
              return [`${one.name} ${one.openedAt}`, one.name, by, open, figures];
            })}
          />
          <div className={css['after']}>
            <h3 className={css['small']}>{t('privacy.changes')}</h3>
            <p className={css['soft']}>{t('privacy.changesText')}</p>
          </div>
          {found.rows.length === 0 ? (
            <p className={css['after']}>{found.none}</p>
          ) : (
            <Grid
              label={t('privacy.changes')}
              head={[t('privacy.changes.week'), t('privacy.breakdown.name'), t('privacy.changes.count')]}
              rows={found.rows.map(({ key, week, name, count }) => [
                key,
                weeks.full({ name: week }),
                name,
                number(count),
              ])}
            />
          )}
        </>
      )}
    </Section>
  );
}
