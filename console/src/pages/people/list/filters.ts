// The filters and the order of the people list, stored in the URL so that a list can be shared with a colleague.
import { useMemo } from 'react';
import { useAddress } from '../../../hooks/data.ts';
import { type FilterKey, filtersIn } from './filters-in-address.ts';

/** Returns the filters from the URL, ignoring unknown values, and functions to change them. */
export function usePeopleFilters() {
  const [address, setAddress] = useAddress<FilterKey>();
  const said = JSON.stringify(address);
  return useMemo(() => {
    const read = filtersIn(JSON.parse(said) as Partial<Record<FilterKey, string>>);
    const clear = () => setAddress({ q: '', group: '', role: '', source: '', status: '', mail: '', run: '' });
    return { ...read, set: setAddress, clear };
  }, [said, setAddress]);
}
export type PeopleFilters = ReturnType<typeof usePeopleFilters>;
