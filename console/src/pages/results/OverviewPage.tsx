// The overview of a group: its KPIs and their trend, the answers of its last week, its response rate and changes.
import type { GroupResults, ResultsStart } from '@soundings/contract/console/results.ts';
import { EyeOff } from 'lucide-react';
import { useAddress, useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Badge } from '../../ui/Badge.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { GroupFinder } from '../../ui/form/GroupFinder.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { isTooFew } from './figures.ts';
import { KpiStrip } from './KpiStrip.tsx';
import { OverviewSide } from './OverviewSide.tsx';
import { OverviewTrend, useChosenKpis } from './OverviewTrend.tsx';
import { CommentList, CsvLink, spanIn, Started, useSpanOptions } from './parts.tsx';
import css from './results.module.css';
import { WeekAnswers } from './WeekAnswers.tsx';

export function OverviewPage() {
  const t = useText();
  return <Started title={t('nav.overview')}>{(start) => <Overview start={start} />}</Started>;
}

type Start = ResultsStart & { group: { id: number; name: string } };

function Overview({ start }: { start: Start }) {
  const t = useText();
  const language = useLanguage();
  const [{ group = String(start.group.id), weeks }, setAddress] = useAddress<'group' | 'weeks'>();
  const span = spanIn(weeks);
  const results = useData('GET /results/groups/{groupId}', {
    params: { groupId: group },
    query: { weeks: span, language },
  } as never);
  const spanOptions = useSpanOptions();
  const isGone = results.error?.status === 404;
  const about = isGone ? undefined : results.data;
  return (
    <Page
      title={about?.group.name ?? (group === String(start.group.id) ? start.group.name : t('nav.overview'))}
      waits={!results.data && !isGone}
      subtitle={about && <About results={about} />}
      actions={
        <>
          {start.groups > 1 && (
            <GroupFinder
              filter
              label={t('results.group')}
              value={Number(group)}
              onChange={(id) => setAddress({ group: id === undefined ? undefined : String(id) })}
            />
          )}
          <Select
            label={t('results.span')}
            hideLabel
            value={span}
            onChange={(value) => setAddress({ weeks: value })}
            options={spanOptions}
          />
          {about && (
            <CsvLink
              name="GET /results/groups/{groupId}/csv"
              params={{ groupId: about.group.id }}
              query={{ weeks: span }}
            />
          )}
        </>
      }
    >
      {isGone ? <GroupGone /> : <Loaded response={results}>{(read) => <Content results={read} />}</Loaded>}
    </Page>
  );
}

function GroupGone() {
  const t = useText();
  return (
    <Empty
      icon={EyeOff}
      title={t('results.groupGone')}
      text={t('results.groupGoneText')}
      action={<LinkButton to="/">{t('results.toStart')}</LinkButton>}
    />
  );
}

/** "511 people · results up to w. 46, final". */
function About({ results: { group, weeks, running } }: { results: GroupResults }) {
  const t = useText();
  const { number } = useFormat();
  const { short } = useWeekText();
  const last = weeks.at(-1);
  return (
    <span className={css['about']}>
      <span>
        {t('results.people', { count: group.people, number: number(group.people) })}
        {last && ` · ${t('results.upTo', { week: short(last) })}`}
        {last?.state === 'final' && `, ${t('results.final')}`}
      </span>
      {last?.state === 'live' && <Badge tone="warn">{t('results.live', { week: short(last) })}</Badge>}
      {running && <Badge>{t('results.running', { week: short(running) })}</Badge>}
    </span>
  );
}

function Content({ results }: { results: GroupResults }) {
  const t = useText();
  const chosen = useChosenKpis(results.kpis);
  if (isTooFew(results)) return <TooFew results={results} />;
  if (results.kpis.length === 0 && results.last === null)
    return <Empty icon={EyeOff} title={t('results.neverAsked')} text={t('results.neverAskedText')} />;
  return (
    <>
      {results.kpis.length > 0 && (
        <>
          <KpiStrip results={results} colourOf={chosen.colourOf} />
          <OverviewTrend results={results} chosen={chosen} />
        </>
      )}
      <div className={css['split']}>
        <WeekAnswers results={results} />
        <OverviewSide results={results} />
      </div>
      {results.comments.total > 0 && (
        <Section
          title={t('results.newestComments')}
          actions={
            <LinkButton kind="quiet" to="/comments" search={{ group: results.group.id }}>
              {t('results.allComments', { count: results.comments.total })}
            </LinkButton>
          }
        >
          <CommentList comments={results.comments.newest} groupId={results.group.id} />
        </Section>
      )}
    </>
  );
}

/** An explanation instead of empty charts, with a link to the group where the answers count. */
function TooFew({ results: { group, path, weeks } }: { results: GroupResults }) {
  const t = useText();
  const threshold = weeks.findLast(({ thresholds }) => thresholds !== null)?.thresholds?.figures ?? 5;
  const above = path.at(-1);
  return (
    <Empty
      icon={EyeOff}
      title={t('results.tooFew')}
      text={
        <>
          <p>{t('results.tooFewText', { least: threshold })}</p>
          <p>
            {group.people < threshold
              ? t('results.tooFewPeople', { count: group.people })
              : t('results.tooFewEither')}{' '}
            {t('results.countAbove')}
          </p>
        </>
      }
      action={
        above && (
          <LinkButton to="/" search={{ group: above.id }}>
            {t('results.toGroup', { name: above.name })}
          </LinkButton>
        )
      }
    />
  );
}
