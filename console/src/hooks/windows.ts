// Long lists: fetches only the windows in view, from operations that take offset and limit and return { total, rows }.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console.ts';
import type { ResultOf } from '@soundings/contract/console.operation.ts';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, type ApiError, type Sent } from '../api.ts';

type Listed<Row> = { total: number; rows: Row[] };
/** The operations that return windows. */
export type WindowName = {
  [N in ConsoleOperationName]: ResultOf<ConsoleOperations[N]> extends Listed<unknown> ? N : never;
}[ConsoleOperationName];
export type RowOf<N extends WindowName> =
  ResultOf<ConsoleOperations[N]> extends Listed<infer Row> ? Row : never;

export type Gap = { error: ApiError; retry: () => void };

export type Windows<Row, Answer = Listed<Row>> = {
  /** How many rows there are in total; undefined before the first response. */
  count: number | undefined;
  rowAt: (index: number) => Row | undefined;
  /** Sets which rows are in view. */
  onVisible: (first: number, last: number) => void;
  /** Whether there has been no response yet. */
  isFirst: boolean;
  /** Whether the rows still belong to the previous filters, while the new ones are loading. */
  isOld: boolean;
  /** The error, if no rows could be loaded. */
  error: ApiError | undefined;
  retry: () => void;
  /** The error, if some of the rows in view could not be loaded. */
  gap: Gap | undefined;
  /** A complete response, for its fields besides the rows. */
  answer: Answer | undefined;
};

type Shown<Answer> = { key: string; count: number; pages: Map<number, Answer>; answer: Answer };

/** Returns the rows of a list, fetched in windows of `size`. Old rows stay until the first new ones have loaded. */
export function useWindows<N extends WindowName>(
  name: N,
  sent?: Sent<N> | undefined,
  { size = 100, when = true }: { size?: number; when?: boolean } = {},
): Windows<RowOf<N>, ResultOf<ConsoleOperations[N]>> {
  type Answer = ResultOf<ConsoleOperations[N]> & Listed<RowOf<N>>;
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
        // Don't show the rows of another window as placeholders.
        placeholderData: undefined as never,
      };
    }),
    combine: (results) => ({
      answers: results.map(({ data }) => data as Answer | undefined),
      // An error of rows that have already loaded is ignored, because they are refetched.
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
