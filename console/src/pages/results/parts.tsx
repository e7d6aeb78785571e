// Small components that the results pages share.
import { type Comparison, comparisons } from '@soundings/contract/comparisons.ts';
import type { ResultComment, ResultsStart } from '@soundings/contract/console/results.ts';
import { Download, EyeOff, Waves } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { addressOf } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { hasRole } from '@soundings/contract/shared-values.ts';
import { useSession } from '../../session.tsx';
import { useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Badge } from '../../ui/Badge.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Reason } from '../../ui/floating/Reason.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { FirstSteps } from './overview/FirstSteps.tsx';
import css from './results.module.css';

/** The numbers of weeks that pages offer. */
export const spans = ['13', '26', '52'] as const;
export const usualSpan = '26';

/** Returns the span in the URL, or the default if it is invalid. */
export const spanIn = (text: string | undefined): string =>
  (spans as readonly string[]).includes(text ?? '') ? (text as string) : usualSpan;

/** Returns the comparison in the URL; undefined, for the default one, if it is invalid. */
export const comparisonIn = (text: string | undefined): Comparison | undefined =>
  comparisons.find((kind) => kind === text);

export function useSpanOptions() {
  const t = useText();
  return spans.map((value) => ({
    value: value as string,
    label: t('results.weeks', { count: Number(value) }),
  }));
}

/** Loads what every results page needs first. Without a group or a week, shows what to do instead. */
export function Started({
  title,
  children,
}: {
  title: string;
  children: (start: ResultsStart & { group: NonNullable<ResultsStart['group']> }) => ReactNode;
}) {
  const t = useText();
  const language = useLanguage();
  const start = useData('GET /results', { query: { language } });
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { sentence } = useWeekText();
  if (start.data?.group && start.data.weeks.length > 0)
    return children({ ...start.data, group: start.data.group });
  return (
    <Page title={title}>
      <Loaded response={start}>
        {(read) =>
          isAdministrator ? (
            <FirstSteps start={read} />
          ) : read.group ? (
            <Empty
              icon={Waves}
              title={t('results.noneYet')}
              text={
                read.running
                  ? t('results.firstRuns', { week: sentence(read.running, read.running) })
                  : t('results.noneYetText')
              }
            />
          ) : (
            <Empty icon={EyeOff} title={t('results.noGroup')} text={t('results.noGroupText')} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** The mark of a figure that is partly based on links or cards that the employer handed out. */
export function HandedOut() {
  const t = useText();
  return (
    <Reason text={t('results.handedOut')}>
      <Badge tone="warn">{t('results.handedOutShort')}</Badge>
    </Reason>
  );
}

/** The note beside a chart or table with such marks. */
export function HandedOutNote() {
  const t = useText();
  return <p className={css['soft']}>{t('results.handedOutSome')}</p>;
}

/** A link that downloads a table as CSV. */
export function CsvLink({ name, params, query }: { name: CsvName; params?: object; query?: object }) {
  const t = useText();
  const language = useLanguage();
  return (
    <LinkButton href={addressOf(name, { params, query: { ...query, language } })} download icon={Download}>
      {t('results.csv')}
    </LinkButton>
  );
}
type CsvName =
  | 'GET /results/groups/{groupId}/csv'
  | 'GET /results/heat-map/csv'
  | 'GET /results/trends/csv'
  | 'GET /results/drivers/csv'
  | 'GET /results/groups/{groupId}/questions/{questionId}/csv'
  | 'GET /results/comments/csv'
  | 'GET /segments/{kindId}/heat-map/csv'
  | 'GET /segments/{kindId}/trends/csv'
  | 'GET /segments/{kindId}/questions/{questionId}/csv';

/** A list of comments as written, each linked to the results of its question. */
export function CommentList({
  comments,
  groupId,
  hideWeek,
}: {
  comments: readonly ResultComment[];
  groupId: number;
  /** Hides the week, if it is shown above the list. */
  hideWeek?: boolean;
}) {
  return (
    <ul className={css['comments']}>
      {comments.map((comment, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- comments have no id, so that they reveal nothing
        <li key={`${comment.week} ${comment.questionId} ${index}`} className={css['comment']}>
          <p className={css['commentText']} dir="auto">
            {comment.text}
          </p>
          <p className={css['commentSource']}>
            {!hideWeek && <CommentWeek comment={comment} />}
            <Link
              to="/results/questions/$questionId"
              params={{ questionId: String(comment.questionId) } as never}
              search={{ group: groupId, week: comment.week } as never}
            >
              {comment.question}
            </Link>{' '}
            {comment.handedOut && <HandedOut />}
          </p>
        </li>
      ))}
    </ul>
  );
}

function CommentWeek({ comment }: { comment: ResultComment }) {
  const { full } = useWeekText();
  return `${full(comment)} · `;
}
