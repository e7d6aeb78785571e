// The side column of the overview: the response rate, and the KPIs with the highest and lowest difference from the comparison.
import type { GroupResults } from '@soundings/contract/console/results/results.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Section } from '../../../ui/page/Section.tsx';
import { DifferenceMark } from '../clear.tsx';
import { extremesOf, lastRolling, lastShown, pointsOn, score } from '../figures.ts';
import { HandedOut } from '../HandedOut.tsx';
import { useComparisonName, useWithheldText } from '../texts.ts';
import css from '../results.module.css';

export const OverviewSide = ({ results }: { results: GroupResults }) => (
  <div className={css['side']}>
    <Response results={results} />
    <Extremes results={results} />
  </div>
);

/**
 * How many of the people who were asked have answered. Only for closed weeks. For older weeks, whose numbers are not known, the
 * rate of the data interface.
 */
function Response({ results: { weeks, rates, group } }: { results: GroupResults }) {
  const t = useText();
  const { number, percent } = useFormat();
  const { sentence } = useWeekText();
  const withheld = useWithheldText();
  const points = pointsOn(weeks, rates);
  const last = lastShown(points);
  const week = weeks[last];
  if (!week) {
    return (
      <Section title={t('results.response')}>
        <p className={css['soft']}>
          {rates.length > 0 ? withheld.figure(weeks.at(-1) ?? null, group.people) : t('results.responseNone')}
        </p>
      </Section>
    );
  }
  const value = Math.round(points[last] as number);
  const { asked = null, answered = null, handedOut } = rates.find((rate) => rate.week === week.week) ?? {};
  const name = sentence(week, weeks.at(-1));
  return (
    <Section title={t('results.response')}>
      <div>
        <p className={css['rate']}>
          <span className={css['big']}>{value}</span>
          {percent(value / 100).slice(String(value).length)} {handedOut && <HandedOut />}
        </p>
        <span className={css['rateTrack']} aria-hidden>
          <span style={{ inlineSize: `${value}%` }} />
        </span>
        {asked !== null && answered !== null ? (
          <p>{t('results.responsePeople', { answered: number(answered), count: asked, week: name })}</p>
        ) : (
          <p className={css['soft']}>{t('results.responseText', { week: name })}</p>
        )}
      </div>
    </Section>
  );
}

/** The three highest and the three lowest KPIs. The row of KPIs shows all of them. */
function Extremes({ results: { kpis, comparison } }: { results: GroupResults }) {
  const t = useText();
  const name = useComparisonName()(comparison);
  const { highest, lowest } = extremesOf(kpis);
  if (highest.length === 0) return null;
  const isCompared = name !== undefined && highest.some(({ difference }) => difference !== null);
  return (
    <Section title={isCompared ? t('results.extremesAgainst', { name }) : t('results.extremes')}>
      <Ranked title={t('results.highest')} kpis={highest} />
      <Ranked title={t('results.lowest')} kpis={lowest} />
    </Section>
  );
}

function Ranked({ title, kpis }: { title: string; kpis: GroupResults['kpis'] }) {
  return (
    <div>
      <h3 className={css['rankedTitle']}>{title}</h3>
      <ul className={css['marks']}>
        {kpis.map(({ id, name, rolling, difference }) => {
          const last = lastRolling(rolling);
          return (
            <li key={id}>
              <span>
                {name} {last?.handedOut && <HandedOut />}
              </span>
              <b>{score(last?.value ?? 0)}</b>
              {difference && <DifferenceMark difference={difference} isMarked={last?.handedOut ?? false} />}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
