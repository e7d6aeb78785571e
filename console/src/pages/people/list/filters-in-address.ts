// Reads the filters and the order of the people list from the query parameters of its page. Unknown values are ignored, because
// users edit and share addresses.
import type { PersonFilters } from '@soundings/contract/console/people.ts';
import { type PersonSort, personSorts } from '@soundings/contract/console/person-sorts.ts';
import { type SignInState, signInStates } from '@soundings/contract/people/sign-in-states.ts';
import { type Role, roles } from '@soundings/contract/people/roles.ts';

export type FilterKey = 'q' | 'group' | 'role' | 'source' | 'status' | 'mail' | 'run' | 'sort';

const runForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function filtersIn(address: Partial<Record<FilterKey, string>>) {
  const { q = '', group, role, source, status, mail, run, sort = 'name' } = address;
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
    ...((mail === 'none' || mail === 'rejected' || mail === 'stopped') && { mail }),
    ...((signInStates as readonly (string | undefined)[]).includes(status) && {
      signIn: status as SignInState,
    }),
    ...(run !== undefined && runForm.test(run) && { run }),
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
