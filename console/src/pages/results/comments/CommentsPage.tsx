// The comments of a group by question, with a search, filters for question and week, and the words that stand out.
import type { FoundComment, FoundComments } from '@soundings/contract/console/results/comments.ts';
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { MessageSquareText } from 'lucide-react';
import { api, type ApiError } from '../../../api.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { GroupFilter } from '../GroupFilter.tsx';
import { Page, ToolbarGap, ToolbarText } from '../../../ui/page/Page.tsx';
import { SearchField } from '../../../ui/form/SearchField.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Failed, Skeleton } from '../../../ui/page/States.tsx';
import { CommentCards } from './CommentCards.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { Started } from '../Started.tsx';
import { CommentWordsSection } from './CommentWordsSection.tsx';
import css from '../results.module.css';

export function CommentsPage() {
  const t = useText();
  return <Started title={t('nav.comments')}>{(start) => <Comments start={start} />}</Started>;
}

type Start = ResultsStart & { group: { id: number; name: string } };
type Key = 'group' | 'question' | 'week' | 'search' | 'word';
const size = 100;

type Filters = {
  groupId: string;
  questionId?: string;
  week?: string;
  search?: string;
  word?: string;
  language: string;
};

/** Fetches the comments in windows, each when the user asks for more. */
function useComments(filters: Filters) {
  return useInfiniteQuery({
    queryKey: ['GET /results/comments', filters],
    queryFn: ({ pageParam, signal }) =>
      api('GET /results/comments', {
        query: { ...filters, offset: pageParam, limit: size },
        signal,
      } as never),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => (pages.length * size < total ? pages.length * size : undefined),
  });
}

function Comments({ start }: { start: Start }) {
  const t = useText();
  const { number } = useFormat();
  const language = useLanguage();
  const [address, setAddress] = useAddress<Key>();
  const groupId = address.group ?? String(start.group.id);
  const filters: Filters = {
    groupId,
    questionId: address.question,
    week: address.week,
    search: address.search,
    word: address.word,
    language,
  };
  const read = useComments(filters);
  const total = read.data?.pages[0]?.total;
  return (
    <Page
      title={t('nav.comments')}
      subtitle={t('results.commentsText', { minimum: start.weeks[0]?.thresholds?.comments ?? 10 })}
      actions={<CsvLink name="GET /results/comments/csv" query={{ ...filters, language: undefined }} />}
      toolbar={
        <>
          <Filter start={start} groupId={groupId} address={address} setAddress={setAddress} />
          <ToolbarGap />
          {total !== undefined && (
            <ToolbarText>{t('results.commentsFound', { count: total, number: number(total) })}</ToolbarText>
          )}
        </>
      }
    >
      <CommentWordsSection
        scope={{ groupId, questionId: address.question, week: address.week }}
        chosen={address.word}
        onChoose={(word) => setAddress({ word })}
        hasGroups={start.groups > 1}
      />
      {read.data ? (
        <List
          questions={read.data.pages[0]!.questions}
          comments={read.data.pages.flatMap(({ rows }) => rows)}
          groupId={Number(groupId)}
          isFiltered={Boolean(address.question ?? address.week ?? address.search ?? address.word)}
          onClear={() =>
            setAddress({ question: undefined, week: undefined, search: undefined, word: undefined })
          }
        />
      ) : read.error ? (
        <Failed error={read.error as unknown as ApiError} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton />
      )}
      {read.hasNextPage && (
        <div className={css['more']}>
          <Button busy={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
            {t('results.moreComments')}
          </Button>
        </div>
      )}
    </Page>
  );
}

type FilterProps = {
  start: Start;
  groupId: string;
  address: Partial<Record<Key, string>>;
  setAddress: (changes: Partial<Record<Key, string | undefined>>) => void;
};

function Filter({ start, groupId, address, setAddress }: FilterProps) {
  const t = useText();
  const language = useLanguage();
  const { full } = useWeekText();
  const questions = useData('GET /results/groups/{groupId}/questions', {
    params: { groupId },
    query: { language },
  } as never);
  return (
    <>
      <SearchField
        label={t('results.searchComments')}
        value={address.search ?? ''}
        onChange={(search) => setAddress({ search })}
      />
      <GroupFilter
        among={start.groups}
        group={groupId}
        onChange={(id) => setAddress({ group: id, question: undefined })}
      />
      <Select
        label={t('results.question')}
        value={address.question ?? ''}
        onChange={(question) => setAddress({ question })}
        options={[
          { value: '', label: t('results.any') },
          ...(questions.data ?? []).map(({ id, text }) => ({ value: String(id), label: text })),
        ]}
      />
      <Select
        label={t('results.weekName')}
        value={address.week ?? ''}
        onChange={(week) => setAddress({ week })}
        options={[
          { value: '', label: t('results.any') },
          ...start.weeks.map((week) => ({ value: week.week, label: full(week) })),
        ]}
      />
    </>
  );
}

type ListProps = {
  questions: FoundComments['questions'];
  comments: readonly FoundComment[];
  groupId: number;
  isFiltered: boolean;
  onClear: () => void;
};

/** The comments by question, or why there are none. */
function List({ questions, comments, groupId, isFiltered, onClear }: ListProps) {
  const t = useText();
  if (comments.length === 0 && isFiltered)
    return (
      <Empty
        icon={MessageSquareText}
        title={t('state.noMatch')}
        action={<Button onClick={onClear}>{t('action.clearFilters')}</Button>}
      />
    );
  if (comments.length === 0)
    return (
      <Empty icon={MessageSquareText} title={t('results.noComments')} text={t('results.noCommentsText')} />
    );
  return <CommentCards questions={questions} comments={comments} groupId={groupId} />;
}
