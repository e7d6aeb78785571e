// What the pages about a group's focus share: the data, and how states and check-ins are called.
import type { Focus, GroupFocus } from '@soundings/contract/console/focus.ts';
import { useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import type { Tone } from '../../../ui/Badge.tsx';

/** The operations whose responses change with a focus. */
export const focusResponses = ['GET /focus', 'GET /focus/groups/{groupId}'] as const;

/** Loads the focus of a group. */
export function useGroupFocus(groupId: number | string) {
  const language = useLanguage();
  return useData('GET /focus/groups/{groupId}', {
    params: { groupId: String(groupId) },
    query: { language },
  } as never);
}

export const openFocuses = (data: GroupFocus | undefined): Focus[] =>
  data?.focuses.filter(({ state }) => state === 'open') ?? [];

/** Returns a function that says how a focus goes, in one or two words with a tone. */
export function useFocusState() {
  const t = useText();
  return ({ state, outlook, isLate }: Pick<Focus, 'state' | 'outlook' | 'isLate'>): [Tone, string] => {
    if (state === 'done') return ['good', t('focus.state.done')];
    if (state === 'stopped') return ['neutral', t('focus.state.stopped')];
    if (outlook === 'needsHelp') return ['warn', t('focus.outlook.needsHelp')];
    if (isLate) return ['warn', t('focus.late')];
    if (outlook === 'onTrack') return ['good', t('focus.outlook.onTrack')];
    return ['accent', t('focus.state.open')];
  };
}
