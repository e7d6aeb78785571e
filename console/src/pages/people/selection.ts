// The selection in the people list: some people, or all that match the filters. A change of filters clears it.
import type { Chosen, PersonFilters } from '@soundings/contract/console/people.ts';
import { useState } from 'react';
import { useFormat, useText } from '../../text/text.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';

/** The maximum number of people selected one by one. */
const mostSingly = 1000;

export type Choice = {
  count: number;
  isAll: boolean;
  has: (id: number) => boolean;
  toggle: (id: number, isOn: boolean) => void;
  all: () => void;
  none: () => void;
  /** The selection as the service expects it. */
  chosen: Chosen;
};

/** `total`: how many people match the filters. */
export function useChoice(filters: PersonFilters, total: number): Choice {
  const t = useText();
  const { number } = useFormat();
  const toast = useToast();
  const key = JSON.stringify(filters);
  const [kept, setKept] = useState({ key, ids: new Set<number>(), isAll: false });
  const now = kept.key === key ? kept : { key, ids: new Set<number>(), isAll: false };
  return {
    count: now.isAll ? total : now.ids.size,
    isAll: now.isAll,
    has: (id) => now.isAll || now.ids.has(id),
    toggle(id, isOn) {
      const ids = new Set(now.ids);
      if (!isOn) ids.delete(id);
      else if (ids.size < mostSingly) ids.add(id);
      else toast({ text: t('people.chosenMost', { most: number(mostSingly) }), tone: 'bad' });
      setKept({ key, ids, isAll: false });
    },
    all: () => setKept({ key, ids: new Set(), isAll: true }),
    none: () => setKept({ key, ids: new Set(), isAll: false }),
    chosen: now.isAll ? { filters } : { ids: [...now.ids] },
  };
}
