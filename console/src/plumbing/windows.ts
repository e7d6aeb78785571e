// Long lists: of an operation that answers { total, rows } and takes offset and limit, only the windows in view are fetched.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console.ts';
import type { AnswerOf } from '@soundings/contract/console.operation.ts';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, type ApiError, type Sent } from '../api.ts';

type Listed<Row> = { total: number; rows: Row[] };
/** The operations that answer in windows. */
export type WindowName = {
  [N in ConsoleOperationName]: AnswerOf<ConsoleOperations[N]> extends Listed<unknown> ? N : never;
}[ConsoleOperationName];
export type RowOf<N extends WindowName> =
  AnswerOf<ConsoleOperations[N]> extends Listed<infer Row> ? Row : never;

export type Gap = { error: ApiError; retry: () => void };

export type Windows<Row, Answer = Listed<Row>> = {
  /** How many rows there are in all, of a complete answer; undefined before the first. */
  count: number | undefined;
  rowAt: (index: number) => Row | undefined;
  /** Says which rows are in view. */
  onVisible: (first: number, last: number) => void;
  /** Nothing has been answered yet. */
  isFirst: boolean;
  /** What is shown is of the filters before; the new rows are on their way. */
  isOld: boolean;
  /** Why nothing is there of what is asked for. */
  error: ApiError | undefined;
  retry: () => void;
  /** Why some of the rows in view are not there, while others are. */
  gap: Gap | undefined;
  /** A whole answer, for what it says besides its rows. */
  answer: Answer | undefined;
};

type Shown<Answer> = { key: string; count: number; pages: Map<number, Answer>; answer: Answer };

/** The rows of a list, fetched in windows of `size`. Old rows stay until the first of the new ones are there. */
export function useWindows<N extends WindowName>(
  name: N,
  sent?: Sent<N> | undefined,
  { size = 100, when = true }: { size?: number; when?: boolean } = {},
): Windows<RowOf<N>, AnswerOf<ConsoleOperations[N]>> {
  type Answer = AnswerOf<ConsoleOperations[N]> & Listed<RowOf<N>>;
  const key = JSON.stringify([name, sent]);
  const [view, setView] = useState({ key, first: 0, last: 0 });
  const [before, setBefore] = useState<Shown<Answer>>();
  const { first, last } = view.key === key ? view : { first: 0, last: 0 };
  const pages = Array.from({ length: last - first + 1 }, (_, index) => first + index);

  const { answers, error, refetch } = useQueries({
    queries: pages.map((page) => {
      const query = { ...sent?.query, offset: page * size, limit: size };
      return {
        queryKey: [name, { ...sent, query }],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await (api as (name: string, sent: object) => Promise<unknown>)(name, {
            ...sent,
            query,
            signal,
          })) as Answer,
        enabled: when,
        // Another window's rows are not these rows.
        placeholderData: undefined as never,
      };
    }),
    combine: (results) => ({
      answers: results.map(({ data }) => data as Answer | undefined),
      // Of rows that are there already, an error says nothing: they are asked for again.
      error: results.find((result) => result.error && !result.data)?.error as ApiError | undefined,
      refetch: () => results.forEach((result) => result.error && void result.refetch()),
    }),
  });

  const complete = answers.find((answer) => answer !== undefined);
  const shown: Shown<Answer> | undefined = complete
    ? {
        key,
        count: complete.total,
        answer: complete,
        pages: new Map(
          pages.flatMap((page, index) => {
            const answer = answers[index];
            return answer ? [[page, answer] as const] : [];
          }),
        ),
      }
    : before;
  if (complete && (before?.key !== key || before.answer !== complete)) setBefore(shown);

  const onVisible = useCallback(
    (from: number, to: number) => {
      const next = { key, first: Math.floor(from / size), last: Math.floor(to / size) };
      setView((now) => (now.key === key && now.first === next.first && now.last === next.last ? now : next));
    },
    [key, size],
  );
  return {
    count: shown?.count,
    rowAt: (index) => shown?.pages.get(Math.floor(index / size))?.rows[index % size],
    onVisible,
    isFirst: shown === undefined && error === undefined,
    isOld: shown !== undefined && shown.key !== key,
    error: complete ? undefined : error,
    retry: refetch,
    gap: complete && error && { error, retry: refetch },
    answer: shown?.answer,
  };
}
