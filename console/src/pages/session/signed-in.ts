// What follows signing in: who it is becomes known, and the page that was asked for is shown.
import type { Session } from '@soundings/contract/console.session.ts';
import { hasRole } from '@soundings/contract/words.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { firstPageOf } from '../../navigation.ts';

/** A page of ours that an address names; the first page for anything else: nobody is led elsewhere. */
export function ownPath(to: string | undefined): string {
  const own = to !== undefined && /^\/(?![/\\])/.test(to) ? URL.parse(to, location.origin) : null;
  if (!own || own.origin !== location.origin || own.pathname === '/sign-in') return '/';
  return `${own.pathname}${own.search}${own.hash}`;
}

/** What is done when somebody has signed in: who it is becomes known, and a page is shown. */
export function useSignedIn(): (session: Session, to?: string) => void {
  const queries = useQueryClient();
  const router = useRouter();
  return (session, to) => {
    queries.setQueryData(['GET /session'], session);
    const seesResults = hasRole(session.user, 'Manager');
    router.history.replace(to === undefined && !seesResults ? firstPageOf(session.user.role) : ownPath(to));
  };
}
