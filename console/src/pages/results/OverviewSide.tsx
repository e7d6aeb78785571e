// Beside the answers of the week: the response rate, what moved most, and the difference to the company.
import type { GroupResults, ResultWeek } from '@soundings/contract/console.results.ts';
import { useFormat, useText } from '../../text/text.tsx';
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

/**
 * How many people have answered in a week, at least: as many as answered the question that the most have, which is shown with that
 * question. Undefined where a question of the week says too little, or the group is by now smaller than that.
 */
function peopleWho({ last, group }: GroupResults, week: ResultWeek): number | undefined {
  const least = last?.week.thresholds?.spread;
  if (last?.week.week !== week.week || least === undefined) return undefined;
  const most = Math.max(0, ...last.questions.map(({ answers }) => answers ?? 0));
  return most >= least && most <= group.people ? most : undefined;
}

/** The response rate is that of the interface, and only of weeks that have closed; the people stand beside it. */
function Response({ results }: { results: GroupResults }) {
  const { weeks, rates, group } = results;
  const t = useText();
  const { number } = useFormat();
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
  const people = peopleWho(results, week);
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
        {people !== undefined && (
          <p>{t('results.responsePeople', { answered: number(people), count: group.people })}</p>
        )}
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
