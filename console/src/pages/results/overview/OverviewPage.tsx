// The overview of a group: its findings, KPIs and their trends, the answers of its last week, its response rate and comments.
import type { GroupResults, ResultsStart } from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { EyeOff, FileText } from 'lucide-react';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useSession } from '../../../session.tsx';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { LinkButton } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { GroupFilter } from '../GroupFilter.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { Toggletip } from '../../../ui/floating/Toggletip.tsx';
import { ComparisonSelect } from '../clear.tsx';
import { isTooFew, lastComments } from '../figures.ts';
import { useGroupFocus } from '../focus/focus-data.ts';
import { FocusSection } from '../focus/FocusNotes.tsx';
import { Findings } from './Findings.tsx';
import { KpiStrip } from './KpiStrip.tsx';
import { OverviewSide } from './OverviewSide.tsx';
import { OverviewTrend } from './OverviewTrend.tsx';
import { CommentList } from '../comments/CommentList.tsx';
import { comparisonIn, spanIn, useSpanOptions } from '../url-choices.ts';
import { CsvLink } from '../CsvLink.tsx';
import { Started } from '../Started.tsx';
import { WeekAnswers } from './WeekAnswers.tsx';
import css from '../results.module.css';

export function OverviewPage() {
  const t = useText();
  return <Started title={t('nav.overview')}>{(start) => <Overview start={start} />}</Started>;
}

type Start = ResultsStart & { group: { id: number; name: string } };

function Overview({ start }: { start: Start }) {
  const t = useText();
  const language = useLanguage();
  const [{ group = String(start.group.id), weeks, compare }, setAddress] = useAddress<
    'group' | 'weeks' | 'compare'
  >();
  const comparison = comparisonIn(compare);
  const span = spanIn(weeks);
  const results = useData('GET /results/groups/{groupId}', {
    params: { groupId: group },
    query: { weeks: span, compare: comparison, language },
  } as never);
  useGroupFocus(group); // Requested together with the results, so that its section doesn't move them later.
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
          <GroupFilter among={start.groups} group={group} onChange={(id) => setAddress({ group: id })} />
          <ComparisonSelect
            comparison={about?.comparison}
            wanted={comparison}
            onChange={(kind) => setAddress({ compare: kind })}
          />
          <Select
            label={t('results.span')}
            hideLabel
            value={span}
            onChange={(value) => setAddress({ weeks: value })}
            options={spanOptions}
          />
          {about && about.weeks.length > 0 && (
            <LinkButton
              to="/report"
              search={{ group: about.group.id, ...(comparison !== undefined && { compare: comparison }) }}
              icon={FileText}
            >
              {t('results.report')}
            </LinkButton>
          )}
          {about && (
            <CsvLink
              name="GET /results/groups/{groupId}/csv"
              params={{ groupId: about.group.id }}
              query={{ weeks: span, compare: comparison }}
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

/** "511 people · results up to week 46, final". */
function About({ results: { group, weeks, running } }: { results: GroupResults }) {
  const t = useText();
  const { number } = useFormat();
  const { short, sentence } = useWeekText();
  const last = weeks.at(-1);
  return (
    <span className={css['about']}>
      <span>
        <Link to={`/groups/${group.id}`}>
          {t('results.people', { count: group.people, number: number(group.people) })}
        </Link>
        {last && ` · ${t('results.upTo', { week: sentence(last, last) })}`}
        {last?.state === 'final' && `, ${t('results.final')}`}
      </span>
      {last?.state === 'live' && <Badge tone="warn">{t('results.live', { week: short(last) })}</Badge>}
      {running && (
        <Toggletip text={t('results.runningHelp')}>
          <Badge>{t('results.running', { week: short(running) })}</Badge>
        </Toggletip>
      )}
    </span>
  );
}

function Content({ results }: { results: GroupResults }) {
  const t = useText();
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  if (isTooFew(results)) return <TooFew results={results} />;
  if (results.kpis.length === 0 && results.last === null)
    return <Empty icon={EyeOff} title={t('results.neverAsked')} text={t('results.neverAskedText')} />;
  const hasKpis = results.kpis.length > 0;
  const trend = hasKpis && <OverviewTrend results={results} />;
  const comments = results.comments.total > 0 && <LastComments results={results} />;
  return (
    <>
      <Findings results={results} />
      {hasKpis && <KpiStrip results={results} />}
      <FocusSection groupId={results.group.id} />
      {isAdministrator && trend}
      <div className={css['split']}>
        <div>
          {/* Managers start with what people wrote. */}
          {!isAdministrator && comments}
          <WeekAnswers results={results} />
        </div>
        <OverviewSide results={results} />
      </div>
      {isAdministrator ? comments : trend}
    </>
  );
}

/** The comments of the last week; if there are none, the newest ones. */
function LastComments({ results }: { results: GroupResults }) {
  const t = useText();
  const { sentence } = useWeekText();
  const { comments, group, last, weeks } = results;
  const { week, rows } = lastComments(results);
  const title =
    week !== undefined && last
      ? t('results.commentsIn', { week: sentence(last.week, weeks.at(-1)) })
      : t('results.newestComments');
  return (
    <Section
      title={title}
      description={
        week !== undefined && rows.length < comments.ofLastWeek
          ? t('results.commentsShown', { shown: rows.length, count: comments.ofLastWeek })
          : undefined
      }
      actions={
        <LinkButton kind="quiet" to="/comments" search={{ group: group.id }}>
          {t('results.allComments', { count: comments.total })}
        </LinkButton>
      }
    >
      <CommentList comments={rows} groupId={group.id} hideWeek={week !== undefined} />
    </Section>
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
          <p>{t('results.tooFewText', { minimum: threshold })}</p>
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
