// The totals of a run: how many people and groups it creates, updates and removes, and how much of each limit these changes use.
import type { RunLimit } from '@soundings/contract/console/runs.ts';
import type { Counts, Summary } from '@soundings/contract/organization.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Meter } from '../../ui/Meter.tsx';
import css from './runs.module.css';

export function RunTotals({ summary, limits }: { summary: Summary; limits: RunLimit[] }) {
  const t = useText();
  return (
    <div className={css['totals']}>
      <div className={css['figures']}>
        <Figures label={t('runs.people')} counts={summary.users} />
        <Figures label={t('runs.groups')} counts={summary.groups} />
      </div>
      <section aria-labelledby="limits">
        <h2 id="limits" className={css['limitsTitle']}>
          {t('runs.limits')}
        </h2>
        <div className={css['limits']}>
          {limits.map(({ setting, limit, count }) => (
            <Meter
              key={setting}
              label={t(`runs.limit.${setting as 'maxUsersCreated'}`)}
              value={count}
              max={limit}
              tone={count > limit ? 'bad' : count === limit && count > 0 ? 'warn' : 'accent'}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

function Figures({ label, counts }: { label: string; counts: Counts }) {
  const t = useText();
  const { number } = useFormat();
  const figures = [
    ['created', '+'],
    ['updated', '~'],
    ['deleted', '−'],
    ['unchanged', ''],
  ] as const;
  return (
    <div className={css['figureRow']} role="group" aria-label={label}>
      <span className={css['figureLabel']} aria-hidden>
        {label}
      </span>
      {figures.map(([kind, sign]) => (
        <span key={kind} className={css['figure']}>
          <span className={counts[kind] > 0 ? css[kind] : css['zero']}>
            {sign}
            {number(counts[kind])}
          </span>{' '}
          <span className={css['figureWord']}>{t(`runs.figure.${kind}`)}</span>
        </span>
      ))}
    </div>
  );
}
