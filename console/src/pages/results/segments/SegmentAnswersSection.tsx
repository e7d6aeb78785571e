// The answers to a question by segment of a breakdown, in a week.
import type { ResultQuestion, ResultWeek } from '@soundings/contract/console/results/results.ts';
import type { SegmentAnswers } from '@soundings/contract/console/results/segments.ts';
import { freeText, isChoice, singleChoice } from '@soundings/contract/question-types.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Toggletip } from '../../../ui/floating/Toggletip.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { Margin } from '../clear.tsx';
import { score } from '../figures.ts';
import { CsvLink } from '../CsvLink.tsx';
import { HandedOut } from '../HandedOut.tsx';
import css from '../results.module.css';
import { useBreakdowns, useSegmentReason } from './breakdowns.tsx';

type Row = SegmentAnswers['rows'][number];

/**
 * A section for administrators of an account with segments. Renders nothing for other users and accounts. `week`: the week that the
 * page shows.
 */
export function SegmentAnswersSection({ question, week }: { question: ResultQuestion; week: ResultWeek }) {
  const breakdowns = useBreakdowns();
  const [address, setAddress] = useAddress<'breakdown'>();
  const breakdown = breakdowns.find(({ id }) => String(id) === address.breakdown) ?? breakdowns[0];
  // Free text has no figures of segments. Weeks with live results have none until they close.
  if (!breakdown || question.type === freeText || week.state !== 'final') return null;
  return (
    <OfBreakdown
      question={question}
      week={week}
      breakdown={breakdown}
      breakdowns={breakdowns}
      onBreakdown={setAddress}
    />
  );
}

type OfBreakdownProps = {
  question: ResultQuestion;
  week: ResultWeek;
  breakdown: { id: number; name: string };
  breakdowns: readonly { id: number; name: string }[];
  onBreakdown: (changes: { breakdown: string }) => void;
};

function OfBreakdown({ question, week, breakdown, breakdowns, onBreakdown }: OfBreakdownProps) {
  const t = useText();
  const language = useLanguage();
  const { sentence } = useWeekText();
  const params = { breakdownId: breakdown.id, questionId: question.id };
  const query = { week: week.week, language };
  const read = useData('GET /breakdowns/{breakdownId}/questions/{questionId}', { params, query } as never);
  return (
    <Section
      title={t('results.bySegment', { week: sentence(week) })}
      description={t('results.bySegmentText')}
      actions={
        <>
          <Select
            label={t('results.rows')}
            value={String(breakdown.id)}
            onChange={(id) => onBreakdown({ breakdown: id })}
            options={breakdowns.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
          <CsvLink
            name="GET /breakdowns/{breakdownId}/questions/{questionId}/csv"
            params={params}
            query={{ week: week.week }}
          />
        </>
      }
      flush
    >
      <Loaded response={read}>{(found) => <Rows found={found} />}</Loaded>
    </Section>
  );
}

function Rows({ found }: { found: SegmentAnswers }) {
  const t = useText();
  const { number } = useFormat();
  const { breakdown, question, rows } = found;
  const columns: Column<Row>[] = [
    {
      key: 'segment',
      title: breakdown.name,
      width: 'minmax(120px, 2fr)',
      cell: ({ name, figures }) => (
        <span>
          {name} {figures.handedOut && <HandedOut />}
        </span>
      ),
    },
    isChoice(question.type)
      ? {
          key: 'chosen',
          title: t('results.mostChosen'),
          width: 'minmax(0, 3fr)',
          cell: ({ figures }) => <Chosen found={found} figures={figures} />,
        }
      : {
          key: 'score',
          title: t('results.scoreLong'),
          width: 'minmax(110px, 1fr)',
          align: 'end',
          cell: ({ figures: { value, margin } }) =>
            value === null ? (
              <Withheld found={found} />
            ) : (
              <span>
                {score(value)} <Margin margin={margin} />
              </span>
            ),
        },
    {
      key: 'answers',
      title: t('results.answersLong'),
      width: 90,
      align: 'end',
      cell: ({ figures: { answers } }) => (answers === null ? '' : number(answers)),
    },
  ];
  return (
    <DataTable
      label={t('results.bySegmentLabel', { name: breakdown.name })}
      rowHeight={36}
      rows={rows}
      rowKey={({ id }) => id}
      columns={columns}
      empty={<p className={css['soft']}>{t('results.noSegmentAnswers')}</p>}
    />
  );
}

function Withheld({ found }: { found: SegmentAnswers }) {
  const t = useText();
  const reason = useSegmentReason();
  return (
    <Toggletip text={reason(found.week)} className={css['hiddenWord']}>
      {t('results.withheldShort')}
    </Toggletip>
  );
}

/** The three most frequent options with their shares. */
function Chosen({ found, figures }: { found: SegmentAnswers; figures: Row['figures'] }) {
  const { percent } = useFormat();
  const { question } = found;
  const { distribution, answers } = figures;
  if (!distribution) return <Withheld found={found} />;
  const given =
    question.type === singleChoice ? distribution.reduce((sum, { count }) => sum + count, 0) : (answers ?? 0);
  const textOf = (key: string) => question.options.find(({ id }) => id === key)?.text ?? key;
  return distribution
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 3)
    .filter(({ count }) => count > 0)
    .map(({ key, count }) => `${textOf(key)} ${percent(Math.min(1, count / Math.max(1, given)))}`)
    .join(' · ');
}
