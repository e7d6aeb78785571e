// What the service answers, kept and asked for again by TanStack Query; and what a page keeps in its address.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console.ts';
import type { AnswerOf } from '@soundings/contract/console.operation.ts';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
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

/** What the address says after `?`, as texts; setting a value to undefined or '' takes it out. Replaces the entry of the history. */
export function useAddress<Key extends string>(): [
  Partial<Record<Key, string>>,
  (changes: Partial<Record<Key, string | undefined>>) => void,
] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
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
