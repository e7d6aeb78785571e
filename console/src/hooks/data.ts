// Responses of the service, cached and refetched by TanStack Query, and the state that a page keeps in its URL.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console/operations.ts';
import type { ResultOf } from '@soundings/contract/console/operation.ts';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useMatch, useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { api, type ApiError, type Sent } from '../api.ts';

type Name = ConsoleOperationName;

/**
 * Returns the response of an operation. `when: false` postpones the request. `once`: the response is never refetched automatically.
 * The query key is `[name, sent]`; to invalidate all responses of an operation, use `[name]`.
 */
export function useData<N extends Name>(
  name: N,
  sent?: Sent<N> | undefined,
  { when = true, everyMs, once = false }: { when?: boolean; everyMs?: number; once?: boolean } = {},
): UseQueryResult<ResultOf<ConsoleOperations[N]>, ApiError> {
  return useQuery({
    queryKey: [name, sent],
    queryFn: async ({ signal }) =>
      ((await (api as (name: Name, sent: object) => Promise<unknown>)(name, { ...sent, signal })) ??
        null) as never,
    enabled: when,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(once && { staleTime: Infinity }),
  });
}

/** Returns a function that marks responses of operations as out of date. Those on screen are refetched. */
export function useRefresh(): (...names: Name[]) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (...names) => {
      await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })));
    },
    [queries],
  );
}

/**
 * Returns the query string of this page. It is read from the history, because the router reports a change only after it has loaded
 * the page. Until then React would reset a radio button that was just pressed.
 */
function useSearchNow(): Record<string, unknown> {
  const { history, options } = useRouter();
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  const [last, setLast] = useState('');
  // Once another page is loading, the URL is that page's, so this page keeps its last one.
  const read = () => (history.location.pathname === pathname ? history.location.search : last);
  const search = useSyncExternalStore(history.subscribe, read);
  if (search !== last) setLast(search);
  return useMemo(() => options.parseSearch(search), [options, search]);
}

/**
 * Returns the query parameters of the page as texts, and a setter. Setting a value to undefined or '' removes it. Changes apply
 * immediately and replace the history entry. Once another page is loading, they are ignored: the URL is that page's.
 */
export function useAddress<Key extends string>(): [
  Partial<Record<Key, string>>,
  (changes: Partial<Record<Key, string | undefined>>) => void,
] {
  const search = useSearchNow();
  const navigate = useNavigate();
  const { history } = useRouter();
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  const texts = Object.fromEntries(Object.entries(search).map(([key, value]) => [key, String(value)]));
  const change = useCallback(
    (changes: Partial<Record<Key, string | undefined>>) => {
      if (history.location.pathname !== pathname) return;
      void navigate({
        to: '.',
        replace: true,
        search: ((before: Record<string, unknown>) =>
          Object.fromEntries(
            Object.entries({ ...before, ...changes }).filter(
              ([, value]) => value !== undefined && value !== '',
            ),
          )) as never,
      });
    },
    [navigate, history, pathname],
  );
  return [texts as Partial<Record<Key, string>>, change];
}
