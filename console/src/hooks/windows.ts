// Long lists: fetches only the windows in view, from operations that take offset and limit and return { total, rows }.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console/operations.ts';
import type { ResultOf } from '@soundings/contract/console/operation.ts';
import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, type ApiError, type Sent } from '../api.ts';
import {
  errorIn,
  type ListState,
  pagesIn,
  rowIn,
  type Shown,
  shownOf,
  stateOf,
  type View,
  viewOf,
} from './window-pages.ts';

type Listed<Row> = { total: number; rows: Row[] };
/** The operations that return windows. */
export type WindowName = {
  [N in ConsoleOperationName]: ResultOf<ConsoleOperations[N]> extends Listed<unknown> ? N : never;
}[ConsoleOperationName];
export type RowOf<N extends WindowName> =
  ResultOf<ConsoleOperations[N]> extends Listed<infer Row> ? Row : never;

export type Windows<Row, Response = Listed<Row>> = ListState<ApiError> & {
  /** How many rows there are in total; undefined before the first response. */
  count: number | undefined;
  rowAt: (index: number) => Row | undefined;
  /** Sets which rows are in view. */
  onVisible: (first: number, last: number) => void;
  retry: () => void;
  /** The complete response of a window, for its fields other than the rows. */
  response: Response | undefined;
};

/** Returns the rows of a list, fetched in windows of `size`. Old rows stay until the first new ones have loaded. */
export function useWindows<N extends WindowName>(
  name: N,
  sent?: Sent<N> | undefined,
  { size = 100, when = true }: { size?: number; when?: boolean } = {},
): Windows<RowOf<N>, ResultOf<ConsoleOperations[N]>> {
  type Response = ResultOf<ConsoleOperations[N]> & Listed<RowOf<N>>;
  const key = JSON.stringify([name, sent]);
  const [view, setView] = useState<View>({ key, first: 0, last: 0 });
  const [before, setBefore] = useState<Shown<Response>>();
  const pages = pagesIn(view, key);

  const { responses, error, refetch } = useQueries({
    queries: pages.map((page) => {
      const query = { ...sent?.query, offset: page * size, limit: size };
      return {
        queryKey: [name, { ...sent, query }],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await (api as (name: string, sent: object) => Promise<unknown>)(name, {
            ...sent,
            query,
            signal,
          })) as Response,
        enabled: when,
        // Don't show the rows of another window as placeholders.
        placeholderData: undefined as never,
      };
    }),
    combine: (results) => ({
      responses: results.map(({ data }) => data as Response | undefined),
      error: errorIn(results) as ApiError | undefined,
      refetch: () => results.forEach((result) => result.error && void result.refetch()),
    }),
  });

  const shown = shownOf(key, pages, responses, before);
  const isLoaded = responses.some((one) => one !== undefined);
  if (isLoaded && (before?.key !== key || before.response !== shown?.response)) setBefore(shown);

  // oxlint-disable react/preserve-manual-memoization -- the rule concerns the React Compiler, which is not used
  const onVisible = useCallback(
    (from: number, to: number) => setView((now) => viewOf(now, key, from, to, size)),
    [key, size],
  );
  // oxlint-enable react/preserve-manual-memoization
  return {
    count: shown?.count,
    rowAt: (index) => rowIn(shown, index, size) as RowOf<N> | undefined,
    onVisible,
    ...stateOf(key, shown, isLoaded, { error, retry: refetch }),
    retry: refetch,
    response: shown?.response,
  };
}
