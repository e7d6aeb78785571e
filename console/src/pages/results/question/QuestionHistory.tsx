// The mean of a question over time, as a chart and as a table.
import type { QuestionFigures, QuestionResults } from '@soundings/contract/console/results/results.ts';
import { recommendation } from '@soundings/contract/question-types.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Section } from '../../../ui/page/Section.tsx';
import { LineChart } from '../../../ui/charts/LineChart.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import { ChangeMark, Margin } from '../clear.tsx';
import { intervalOf, pointsOn, score } from '../figures.ts';
import { HandedOut } from '../HandedOut.tsx';
import {
  useHandedOutNotes,
  useInterval,
  usePointText,
  useSigned,
  useSince,
  useWithheldText,
} from '../texts.ts';

export function QuestionHistory({ results }: { results: QuestionResults }) {
  const t = useText();
  const { axis } = useWeekText();
  const textOf = usePointText();
  const notesOn = useHandedOutNotes();
  const interval = useInterval();
  const { weeks, figures } = results;
  return (
    <>
      {figures.length > 1 && (
        <Section title={t('results.overTime')} description={t('results.intervalHelp')}>
          <LineChart
            label={t('results.trendByWeek')}
            weeks={axis(weeks)}
            series={[
              {
                key: 1,
                name: t('results.scoreLong'),
                colour: 1,
                points: pointsOn(weeks, figures),
                band: weeks.map(({ week }) => intervalOf(figures.find((one) => one.week === week))),
                notes: notesOn(weeks, figures).map((note, i) =>
                  [interval(figures.find(({ week }) => week === weeks[i]?.week)), note]
                    .filter(Boolean)
                    .join(' · '),
                ),
              },
            ]}
            textOf={textOf}
            height={220}
          />
        </Section>
      )}
      <Section title={t('results.byWeek')} flush>
        <FigureTable results={results} />
      </Section>
    </>
  );
}

function FigureTable({ results }: { results: QuestionResults }) {
  const t = useText();
  const { number } = useFormat();
  const signed = useSigned();
  const { full } = useWeekText();
  const withheld = useWithheldText();
  const { weeks, figures, question, group } = results;
  const since = useSince(weeks.at(-1));
  const byWeek = new Map(weeks.map((one) => [one.week, one]));
  const withheldTextOf = ({ week }: QuestionFigures) =>
    withheld.figure(byWeek.get(week) ?? null, group.people);
  return (
    <DataTable<QuestionFigures>
      label={t('results.byWeek')}
      rowHeight={36}
      rows={figures.toReversed()}
      rowKey={({ week }) => week}
      columns={[
        {
          key: 'week',
          title: t('results.weekName'),
          width: 'minmax(116px, 1fr)',
          cell: ({ week }) => {
            const known = byWeek.get(week);
            return known ? full(known) : week;
          },
        },
        {
          key: 'score',
          title: t('results.scoreLong'),
          align: 'end',
          width: 'minmax(90px, 3fr)',
          cell: (one) => (
            <>
              {one.handedOut && <HandedOut />} {one.value === null ? withheldTextOf(one) : score(one.value)}{' '}
              {one.value !== null && <Margin margin={one.margin} />}
            </>
          ),
        },
        {
          key: 'change',
          title: t('results.change'),
          align: 'end',
          wideOnly: true,
          cell: ({ change, handedOut }) =>
            change && <ChangeMark change={change} since={since(change)} isMarked={handedOut} />,
        },
        ...(question.type === recommendation
          ? [
              {
                key: 'enps',
                title: 'eNPS',
                align: 'end' as const,
                cell: ({ enps }: QuestionFigures) =>
                  enps === null ? t('results.withheldShort') : signed(Math.round(enps)),
              },
            ]
          : []),
        {
          key: 'answers',
          title: t('results.answersLong'),
          align: 'end',
          width: 'minmax(72px, 1fr)',
          cell: ({ answers }) => (answers === null ? t('results.withheldShort') : number(answers)),
        },
      ]}
    />
  );
}
