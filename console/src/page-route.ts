// How an area lists its pages.
import type { Role } from '@soundings/contract/people/roles.ts';

export type PageRoute = {
  /** In the syntax of TanStack Router: /people/$userId. */
  path: string;
  /** The minimum role. Users without it see "Page not found". */
  minimumRole: Role;
  load: () => Promise<Record<string, () => unknown>>;
  /** The name of the page's export in the loaded file. */
  name: string;
};
