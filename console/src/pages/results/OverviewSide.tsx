// Beside the answers of the week: the response rate, what moved most, and the difference to the company.
import type { GroupResults } from '@soundings/contract/console.results.ts';
import { useText } from '../../text/text.tsx';
import { useWeekWords } from '../../text/weeks.ts';
import { Section } from '../../ui/Section.tsx';
import { changeWithin, difference, lastShown, pointsOn } from './figures.ts';
import { DifferenceMark } from './parts.tsx';
import css from './results.module.css';
import { useHiddenWords } from './words.ts';

export const OverviewSide = ({ results }: { results: GroupResults }) => (
  <div className={css['side']}>
    <Response results={results} />
    <Moved results={results} />
    {results.company && <Compared results={results} name={results.company.name} />}
  </div>
);

function Response({ results: { weeks, rates, group } }: { results: GroupResults }) {
  const t = useText();
  const { label } = useWeekWords();
  const hidden = useHiddenWords();
  const points = pointsOn(weeks, rates);
  const last = lastShown(points);
  const week = weeks[last];
  if (!week) {
    return (
      <Section title={t('results.response')}>
        <p className={css['soft']}>
          {rates.length > 0 ? hidden.figure(weeks.at(-1) ?? null, group.people) : t('results.responseNone')}
        </p>
      </Section>
    );
  }
  const value = Math.round(points[last] as number);
  return (
    <Section title={t('results.response')}>
      <div>
        <p className={css['rate']}>
          <span className={css['big']}>{value}</span> %
        </p>
        <span className={css['rateTrack']} aria-hidden>
          <span style={{ inlineSize: `${value}%` }} />
        </span>
        <p className={css['soft']}>{t('results.responseText', { week: label(week, weeks.at(-1)) })}</p>
      </div>
    </Section>
  );
}

/** What has changed most within 13 weeks, at most five. */
function Moved({ results: { weeks, kpis } }: { results: GroupResults }) {
  const t = useText();
  const { label } = useWeekWords();
  const changes = kpis
    .flatMap(({ id, name, values }) => {
      const change = changeWithin(pointsOn(weeks, values), 13);
      return change ? [{ id, name, ...change }] : [];
    })
    .toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, 5);
  if (changes.length === 0) return null;
  return (
    <Section title={t('results.moved')}>
      <ul className={css['marks']}>
        {changes.map(({ id, name, by, from }) => (
          <li key={id}>
            <span>{name}</span>
            <span className={css['sinceWeek']}>
              {t('results.since', { week: label(weeks[from] as never, weeks.at(-1)) })}
            </span>
            <DifferenceMark by={by} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Compared({ results: { kpis }, name }: { results: GroupResults; name: string }) {
  const t = useText();
  const differences = kpis
    .flatMap((kpi) => {
      const last = kpi.values.findLast(({ value }) => value !== null);
      const by = difference(last?.value, kpi.company);
      return by === null ? [] : [{ id: kpi.id, name: kpi.name, by }];
    })
    .toSorted((a, b) => b.by - a.by);
  if (differences.length === 0) return null;
  return (
    <Section title={t('results.compared', { name })}>
      <ul className={css['marks']}>
        {differences.map(({ id, name: kpi, by }) => (
          <li key={id}>
            <span>{kpi}</span>
            <DifferenceMark by={by} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
