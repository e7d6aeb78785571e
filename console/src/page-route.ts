// How an area lists its pages.
import type { Role } from '@soundings/contract/people/roles.ts';

export type PageRoute = {
  /** In the syntax of TanStack Router: /people/$userId. */
  path: string;
  /** The minimum role. Other users see that there is no such page. */
  minimumRole: Role;
  load: () => Promise<Record<string, () => unknown>>;
  /** The name of the page's export in the loaded file. */
  name: string;
};
