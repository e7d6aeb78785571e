// The results of a question in a group: the answers of a week, the mean over time, and comments.
import type { QuestionResults, ResultsStart } from '@soundings/contract/console/results/results.ts';
import { freeText, isScaled } from '@soundings/contract/question-types.ts';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Select } from '../../../ui/form/Select.tsx';
import { GroupFilter } from '../GroupFilter.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page, ToolbarGap } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import {
  ChangeMark,
  ClearHelp,
  ComparisonSelect,
  DifferenceMark,
  Margin,
  useBestEstimate,
} from '../clear.tsx';
import { score } from '../figures.ts';
import { FocusLine } from '../focus/FocusNotes.tsx';
import { CommentList } from '../comments/CommentList.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { Started } from '../Started.tsx';
import { comparisonIn, spanIn, useSpanOptions } from '../url-choices.ts';
import { QuestionHistory } from './QuestionHistory.tsx';
import { SegmentAnswersSection } from '../segments/SegmentAnswersSection.tsx';
import { QuestionDistribution } from './QuestionDistribution.tsx';
import { useComparisonName, useNotApplicable, useSigned, useSince, useWithheldText } from '../texts.ts';
import css from '../results.module.css';

export function QuestionResultsPage() {
  const t = useText();
  return <Started title={t('results.question')}>{(start) => <Question start={start} />}</Started>;
}

type Start = ResultsStart & { group: { id: number; name: string } };

function Question({ start }: { start: Start }) {
  const t = useText();
  const language = useLanguage();
  const { full } = useWeekText();
  const { questionId = '' } = useParams({ strict: false }) as { questionId?: string };
  const [address, setAddress] = useAddress<'group' | 'week' | 'weeks' | 'compare'>();
  const groupId = address.group ?? String(start.group.id);
  const span = spanIn(address.weeks);
  const params = { groupId, questionId };
  const comparison = comparisonIn(address.compare);
  const query = { week: address.week, weeks: span, compare: comparison, language };
  const read = useData('GET /results/groups/{groupId}/questions/{questionId}', { params, query } as never);
  const spanOptions = useSpanOptions();
  const { data } = read;
  const asked = data ? data.weeks.filter(({ week }) => data.figures.some((one) => one.week === week)) : [];
  return (
    <Page
      title={data?.question.text ?? t('results.question')}
      waits={!data}
      subtitle={data && t(`questionType.${data.question.type}`)}
      crumbs={[{ label: t('nav.overview'), to: '/', search: { group: groupId } }]}
      actions={
        <CsvLink
          name="GET /results/groups/{groupId}/questions/{questionId}/csv"
          params={params}
          query={query}
        />
      }
      toolbar={
        <>
          <GroupFilter
            among={start.groups}
            group={groupId}
            onChange={(id) => setAddress({ group: id, week: undefined })}
          />
          {data?.chosen && (
            <Select
              label={t('results.weekName')}
              // Shown even while its answers are loading.
              value={asked.find(({ week }) => week === address.week)?.week ?? data.chosen.week}
              onChange={(week) => setAddress({ week })}
              options={asked.toReversed().map((one) => ({ value: one.week, label: full(one) }))}
            />
          )}
          <Select
            label={t('results.span')}
            hideLabel
            value={span}
            onChange={(value) => setAddress({ weeks: value, week: undefined })}
            options={spanOptions}
          />
          <ComparisonSelect
            comparison={data?.comparison}
            wanted={comparison}
            onChange={(kind) => setAddress({ compare: kind })}
          />
          <ToolbarGap />
          <ClearHelp />
        </>
      }
    >
      <Loaded response={read}>{(results) => <Content results={results} />}</Loaded>
    </Page>
  );
}

function Content({ results }: { results: QuestionResults }) {
  const t = useText();
  const { chosen, question, group, comments, figures } = results;
  if (!chosen)
    return (
      <Empty
        title={t('results.neverAskedThis')}
        text={t('results.neverAskedThisText', { name: group.name })}
      />
    );
  const threshold = chosen.thresholds?.comments ?? 10;
  const isEnough = (figures.find(({ week }) => week === chosen.week)?.answers ?? 0) >= threshold;
  return (
    <>
      <Chosen results={results} />
      <FocusLine groupId={group.id} kind="question" id={question.id} />
      {isScaled(question.type) && <QuestionHistory results={results} />}
      {/* Segments divide the whole company, so they are shown only for the company. */}
      {results.company === null && <SegmentAnswersSection question={question} week={chosen} />}
      {comments.length > 0 ? (
        <Section title={t('results.commentsOf', { count: comments.length })}>
          <CommentList comments={comments} groupId={group.id} hideWeek hideQuestion />
        </Section>
      ) : (
        <Section title={t('nav.comments')}>
          <p className={css['soft']}>
            {isEnough ? t('results.noneWritten') : t('results.noCommentsShown', { minimum: threshold })}
          </p>
        </Section>
      )}
    </>
  );
}

function Chosen({ results }: { results: QuestionResults }) {
  const t = useText();
  const { sentence } = useWeekText();
  const withheld = useWithheldText();
  const notApplicable = useNotApplicable();
  const { chosen, figures, group } = results;
  const own = figures.find(({ week }) => week === chosen?.week);
  if (!chosen || !own) return null;
  const title = t('results.answeredIn', { week: sentence(chosen) });
  if (own.answers === null) {
    return (
      <Section title={title}>
        <p className={css['hiddenBar']}>
          <span>{withheld.figure(chosen, group.people)}</span>
        </p>
        {own.notApplicable && (
          <dl className={css['averages']}>
            <div>
              <dt>{t('results.notApplicable')}</dt>
              <dd>{notApplicable(own.notApplicable)}</dd>
            </div>
          </dl>
        )}
      </Section>
    );
  }
  return (
    <Section title={title}>
      <Averages results={results} own={own} />
      {own.handedOut && <p className={css['soft']}>{t('results.handedOut')}</p>}
      {results.question.type !== freeText && <QuestionDistribution results={results} own={own} />}
    </Section>
  );
}

type Own = QuestionResults['figures'][number];

/** The figures of the week as text: the mean with its interval, its change, the comparison, and the best estimate. */
function Averages({ results, own }: { results: QuestionResults; own: Own }) {
  const t = useText();
  const { number } = useFormat();
  const signed = useSigned();
  const sinceOf = useSince(results.weeks.at(-1));
  const estimateOf = useBestEstimate();
  const notApplicable = useNotApplicable();
  const name = useComparisonName()(results.comparison);
  const items: [string, ReactNode][] = [];
  if (own.value !== null)
    items.push([
      t('results.scoreLong'),
      <span key="score">
        {score(own.value)} <Margin margin={own.margin} />
      </span>,
    ]);
  if (own.enps !== null) items.push(['eNPS', signed(Math.round(own.enps))]);
  items.push([t('results.answersLong'), number(own.answers ?? 0)]);
  if (own.notApplicable)
    items.push([
      t('results.notApplicable'),
      <span key="none" className={css['averagesSmall']}>
        {notApplicable(own.notApplicable)}
      </span>,
    ]);
  if (own.change) {
    const since = sinceOf(own.change);
    items.push([
      `${t('results.change')} ${since}`,
      <span key="change" className={css['averagesSmall']}>
        <ChangeMark change={own.change} since={since} isMarked={own.handedOut} />
      </span>,
    ]);
  }
  if (own.difference && name !== undefined)
    items.push([
      t('results.compared', { name }),
      <span key="by" className={css['averagesSmall']}>
        {score(own.difference.value)} <DifferenceMark difference={own.difference} isMarked={own.handedOut} />
      </span>,
    ]);
  if (own.bestEstimate)
    items.push([
      t('results.bestEstimate'),
      <span key="estimate" className={css['averagesSmall']}>
        {estimateOf(own.bestEstimate)}
      </span>,
    ]);
  return (
    <dl className={css['averages']}>
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
