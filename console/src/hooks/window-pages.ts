// Which windows of a long list are fetched, and which rows are shown until these have loaded.

/** The windows in view: the numbers of the first and the last. `key`: the list and its filters. */
export type View = { key: string; first: number; last: number };

/** Returns the windows that have the rows `from` to `to`. Returns `now` itself if nothing has changed, so that nothing renders. */
export function viewOf(now: View, key: string, from: number, to: number, size: number): View {
  const next = { key, first: Math.floor(from / size), last: Math.floor(to / size) };
  return now.key === key && now.first === next.first && now.last === next.last ? now : next;
}

/** Returns the numbers of the windows to fetch. A list with other filters begins at its top. */
export function pagesIn({ key: shown, first, last }: View, key: string): number[] {
  if (shown !== key) return [0];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

type ListResponse = { total: number; rows: readonly unknown[] };
export type Shown<One extends ListResponse> = {
  key: string;
  count: number;
  pages: Map<number, One>;
  response: One;
};

/** Returns what is shown: the loaded windows, or what was shown before as long as none has loaded. */
export function shownOf<One extends ListResponse>(
  key: string,
  pages: readonly number[],
  responses: readonly (One | undefined)[],
  before: Shown<One> | undefined,
): Shown<One> | undefined {
  const response = responses.find((one) => one !== undefined);
  if (!response) return before;
  const loaded = new Map<number, One>();
  for (const [index, page] of pages.entries()) {
    const one = responses[index];
    if (one) loaded.set(page, one);
  }
  return { key, count: response.total, response, pages: loaded };
}

/** Returns the row at an index of the whole list, if its window has loaded. */
export const rowIn = <One extends ListResponse>(
  shown: Shown<One> | undefined,
  index: number,
  size: number,
): One['rows'][number] | undefined => shown?.pages.get(Math.floor(index / size))?.rows[index % size];

/**
 * Returns the error of a window in view that has never loaded. The error of a window that has loaded before is ignored, because the
 * window is refetched.
 */
export const errorIn = <Failure>(
  results: readonly { data?: unknown; error: Failure | null }[],
): Failure | undefined =>
  results.find(({ data, error }) => error !== null && data === undefined)?.error ?? undefined;

export type Gap<Failure> = { error: Failure; retry: () => void };
export type ListState<Failure> = {
  /** Whether there has been no response yet. */
  isFirst: boolean;
  /** Whether the rows still belong to the previous filters, while the new ones are loading. */
  isOld: boolean;
  /** The error, if no rows could be loaded. */
  error: Failure | undefined;
  /** The error, if some of the rows in view could not be loaded. */
  gap: Gap<Failure> | undefined;
};

/**
 * Returns the state of a list: whether it is loading, its rows are old, or some rows could not be loaded. `isLoaded`: whether any
 * window in view has loaded.
 */
export const stateOf = <Failure>(
  key: string,
  shown: Pick<Shown<ListResponse>, 'key'> | undefined,
  isLoaded: boolean,
  { error, retry }: { error: Failure | undefined; retry: () => void },
): ListState<Failure> => ({
  isFirst: shown === undefined && error === undefined,
  isOld: shown !== undefined && shown.key !== key,
  error: isLoaded ? undefined : error,
  gap: isLoaded && error !== undefined ? { error, retry } : undefined,
});
