// The selection in the people list, with a message when no more people can be selected.
import type { Chosen, PersonFilters } from '@soundings/contract/console/people.ts';
import { useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import {
  allSelected,
  chosenPeople,
  countSelected,
  isSelected,
  maxSelected,
  noneSelected,
  selectedUnder,
  toggled,
} from './selected-people.ts';

export type PeopleSelection = {
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
export function usePeopleSelection(filters: PersonFilters, total: number): PeopleSelection {
  const t = useText();
  const { number } = useFormat();
  const toast = useToast();
  const [kept, setKept] = useState(() => noneSelected(filters));
  const now = selectedUnder(filters, kept);
  return {
    count: countSelected(now, total),
    isAll: now.isAll,
    has: (id) => isSelected(now, id),
    toggle(id, isOn) {
      const next = toggled(now, id, isOn);
      if (!next) toast({ text: t('people.chosenMost', { most: number(maxSelected) }), tone: 'bad' });
      setKept(next ?? now);
    },
    all: () => setKept(allSelected(filters)),
    none: () => setKept(noneSelected(filters)),
    chosen: chosenPeople(now, filters),
  };
}
