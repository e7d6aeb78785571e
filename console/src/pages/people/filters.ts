// The filters and the order of the people list, stored in the URL so that a list can be shared with a colleague.
import type { PersonFilters } from '@soundings/contract/console/people.ts';
import { personSorts, type PersonSort } from '@soundings/contract/console/person-sorts.ts';
import { type Role, roles } from '@soundings/contract/roles.ts';
import { useMemo } from 'react';
import { useAddress } from '../../hooks/data.ts';

type Key = 'q' | 'group' | 'role' | 'source' | 'status' | 'mail' | 'sort';

/** Returns the filters from the URL, ignoring unknown values, and functions to change them. */
export function usePeopleFilters() {
  const [address, setAddress] = useAddress<Key>();
  const said = JSON.stringify(address);
  return useMemo(() => {
    const read = readAddress(JSON.parse(said) as Partial<Record<Key, string>>);
    const clear = () => setAddress({ q: '', group: '', role: '', source: '', status: '', mail: '' });
    return { ...read, set: setAddress, clear };
  }, [said, setAddress]);
}
export type PeopleFilters = ReturnType<typeof usePeopleFilters>;

function readAddress(address: Partial<Record<Key, string>>) {
  const { q = '', group, role, source, status, mail, sort = 'name' } = address;
  const filters: PersonFilters = {
    ...(q !== '' && { search: q.slice(0, 200) }),
    ...(group !== undefined && /^[1-9]\d{0,8}$/.test(group) && { group }),
    ...((roles as readonly (string | undefined)[]).includes(role) && { role: role as Role }),
    ...((source === 'managed' || source === 'manual') && {
      managed: source === 'managed' ? 'true' : 'false',
    }),
    ...((status === 'active' || status === 'inactive') && {
      active: status === 'active' ? 'true' : 'false',
    }),
    ...((mail === 'none' || mail === 'rejected') && { mail }),
  };
  const isDown = sort.startsWith('-');
  const named = isDown ? sort.slice(1) : sort;
  const by = (personSorts as readonly string[]).includes(named) ? (named as PersonSort) : 'name';
  return {
    search: q,
    filters,
    /** The sort order in the format of the table. */
    sort: isDown ? `-${by}` : by,
    sorting: { sort: by, direction: isDown ? ('down' as const) : ('up' as const) },
    isFiltered: Object.keys(filters).length > 0,
  };
}
