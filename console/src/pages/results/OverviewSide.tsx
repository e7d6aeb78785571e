// The side column of the overview: the response rate, the biggest changes, and the difference from the company.
import type { Figure, GroupResults, ResultWeek } from '@soundings/contract/console/results.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Section } from '../../ui/page/Section.tsx';
import { type Change, changeWithin, difference, lastShown, pointsOn } from './figures.ts';
import { DifferenceMark, HandedOut } from './parts.tsx';
import css from './results.module.css';
import { useWithheldText } from './texts.ts';

export const OverviewSide = ({ results }: { results: GroupResults }) => (
  <div className={css['side']}>
    <Response results={results} />
    <Moved results={results} />
    {results.company && <Compared results={results} name={results.company.name} />}
  </div>
);

/**
 * Returns how many people answered in a week, at least: the number of answers to the question with the most, which is shown
 * beside that question. Undefined where that number is below the threshold for distributions.
 */
function answeredIn({ last }: GroupResults, week: ResultWeek): number | undefined {
  const threshold = last?.week.thresholds?.distribution;
  if (last?.week.week !== week.week || threshold === undefined) return undefined;
  const most = Math.max(0, ...last.questions.map(({ answers }) => answers ?? 0));
  return most >= threshold ? most : undefined;
}

/** The response rate, as in the data interface, and only for closed weeks; with the number of people. */
function Response({ results }: { results: GroupResults }) {
  const { weeks, rates, group } = results;
  const t = useText();
  const { number } = useFormat();
  const { label } = useWeekText();
  const hidden = useWithheldText();
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
  const { people = null, handedOut = false } = rates.find((rate) => rate.week === week.week) ?? {};
  const answered = answeredIn(results, week);
  return (
    <Section title={t('results.response')}>
      <div>
        <p className={css['rate']}>
          <span className={css['big']}>{value}</span> % {handedOut && <HandedOut />}
        </p>
        <span className={css['rateTrack']} aria-hidden>
          <span style={{ inlineSize: `${value}%` }} />
        </span>
        <p className={css['soft']}>{t('results.responseText', { week: label(week, weeks.at(-1)) })}</p>
        {answered !== undefined && people !== null && (
          <p>{t('results.responsePeople', { answered: number(answered), count: people })}</p>
        )}
      </div>
    </Section>
  );
}

/** Whether the first or the last figure of a change is partly based on links that the employer handed out. */
const isHandedOutAt = (weeks: readonly ResultWeek[], values: readonly Figure[], { from, to }: Change) =>
  values.some(({ week, handedOut }) => handedOut && (week === weeks[from]?.week || week === weeks[to]?.week));

/** The biggest changes within 13 weeks, at most five. */
function Moved({ results: { weeks, kpis } }: { results: GroupResults }) {
  const t = useText();
  const { label } = useWeekText();
  const changes = kpis
    .flatMap(({ id, name, values }) => {
      const change = changeWithin(pointsOn(weeks, values), 13);
      return change ? [{ id, name, ...change, handedOut: isHandedOutAt(weeks, values, change) }] : [];
    })
    .toSorted((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, 5);
  if (changes.length === 0) return null;
  return (
    <Section title={t('results.moved')}>
      <ul className={css['marks']}>
        {changes.map(({ id, name, by, from, handedOut }) => (
          <li key={id}>
            <span>
              {name} {handedOut && <HandedOut />}
            </span>
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
      const by = difference(last?.value, kpi.company?.value);
      const handedOut = last?.handedOut || kpi.company?.handedOut;
      return by === null ? [] : [{ id: kpi.id, name: kpi.name, by, handedOut }];
    })
    .toSorted((a, b) => b.by - a.by);
  if (differences.length === 0) return null;
  return (
    <Section title={t('results.compared', { name })}>
      <ul className={css['marks']}>
        {differences.map(({ id, name: kpi, by, handedOut }) => (
          <li key={id}>
            <span>
              {kpi} {handedOut && <HandedOut />}
            </span>
            <DifferenceMark by={by} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
