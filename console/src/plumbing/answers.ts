// What the service answers, kept and asked for again by TanStack Query; and what a page keeps in its address.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console.ts';
import type { AnswerOf } from '@soundings/contract/console.operation.ts';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useMatch, useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { api, type ApiError, type Sent } from '../api.ts';

type Name = ConsoleOperationName;

/**
 * An operation's answer. `when: false` waits with asking; `once`: an answer that is there is not asked for again by itself.
 * Its key is `[name, sent]`: invalidate by `[name]`.
 */
export function useAnswer<N extends Name>(
  name: N,
  sent?: Sent<N> | undefined,
  { when = true, everyMs, once = false }: { when?: boolean; everyMs?: number; once?: boolean } = {},
): UseQueryResult<AnswerOf<ConsoleOperations[N]>, ApiError> {
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

/** Says that the answers of operations are out of date: those that are shown are asked for again. */
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
 * What the address of this page says after `?`. Read from the history itself: the router tells of a change only when it has
 * loaded the page for it, and until then React would put a radio button that was just pressed back to what it was.
 */
function useSearchNow(): Record<string, unknown> {
  const { history, options } = useRouter();
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  const [last, setLast] = useState('');
  // Once another page is on its way the address is that page's: this one stays as it was.
  const read = () => (history.location.pathname === pathname ? history.location.search : last);
  const search = useSyncExternalStore(history.subscribe, read);
  if (search !== last) setLast(search);
  return useMemo(() => options.parseSearch(search), [options, search]);
}

/**
 * What the address says after `?`, as texts; setting a value to undefined or '' takes it out, and is seen at once. Replaces the
 * entry of the history.
 */
export function useAddress<Key extends string>(): [
  Partial<Record<Key, string>>,
  (changes: Partial<Record<Key, string | undefined>>) => void,
] {
  const search = useSearchNow();
  const navigate = useNavigate();
  const texts = Object.fromEntries(Object.entries(search).map(([key, value]) => [key, String(value)]));
  const change = useCallback(
    (changes: Partial<Record<Key, string | undefined>>) => {
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
    [navigate],
  );
  return [texts as Partial<Record<Key, string>>, change];
}
