// What happens after signing in: stores the session, and shows the requested page.
import type { Session } from '@soundings/contract/console/session.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { firstPageOf } from '../../navigation.ts';

/** Returns the path if it is a page of the console, else the start page. Never redirects to another website. */
export function ownPath(to: string | undefined): string {
  const own = to !== undefined && /^\/(?![/\\])/.test(to) ? URL.parse(to, location.origin) : null;
  if (!own || own.origin !== location.origin || own.pathname === '/sign-in') return '/';
  return `${own.pathname}${own.search}${own.hash}`;
}

/** Returns a function to call after signing in: it stores the session and shows a page. */
export function useSignedIn(): (session: Session, to?: string) => void {
  const queries = useQueryClient();
  const router = useRouter();
  return (session, to) => {
    queries.setQueryData(['GET /session'], session);
    const seesResults = hasRole(session.user, 'Manager');
    router.history.replace(to === undefined && !seesResults ? firstPageOf(session.user.role) : ownPath(to));
  };
}
