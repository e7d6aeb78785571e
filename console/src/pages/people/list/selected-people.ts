// Which people of the list are selected: some, or all that match the filters.
import type { Chosen, PersonFilters } from '@soundings/contract/console/people.ts';

/** The maximum number of people selected one by one. */
export const maxSelected = 1000;

/** `key`: the filters that it belongs to. With `isAll`, `ids` is empty. */
export type Selected = { key: string; ids: ReadonlySet<number>; isAll: boolean };

export const noneSelected = (filters: PersonFilters): Selected => ({
  key: JSON.stringify(filters),
  ids: new Set(),
  isAll: false,
});

export const allSelected = (filters: PersonFilters): Selected => ({ ...noneSelected(filters), isAll: true });

/** Returns the selection if it belongs to these filters; with other filters, no one is selected. */
export const selectedUnder = (filters: PersonFilters, before: Selected): Selected =>
  before.key === JSON.stringify(filters) ? before : noneSelected(filters);

export const isSelected = ({ ids, isAll }: Selected, id: number): boolean => isAll || ids.has(id);

/** `total`: how many people match the filters. */
export const countSelected = ({ ids, isAll }: Selected, total: number): number => (isAll ? total : ids.size);

/** Returns the selection with or without a person; undefined if no more can be added. */
export function toggled({ key, ids }: Selected, id: number, isOn: boolean): Selected | undefined {
  const after = new Set(ids);
  if (isOn) after.add(id);
  else after.delete(id);
  return after.size > maxSelected ? undefined : { key, ids: after, isAll: false };
}

/** Returns the selection as the service expects it. */
export const chosenPeople = ({ ids, isAll }: Selected, filters: PersonFilters): Chosen =>
  isAll ? { filters } : { ids: [...ids] };
