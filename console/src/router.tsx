// Maps paths to pages. Each area lists its own pages; the code of a page is loaded when it is first shown.
import { hasRole, type Role } from '@soundings/contract/people/roles.ts';
import {
  type AnyRoute,
  type AsyncRouteComponent,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouteComponent,
  useLocation,
  useNavigate,
} from '@tanstack/react-router';
import { type ComponentType, lazy, useEffect, useState } from 'react';
import { firstPageOf } from './navigation.ts';
import type { PageRoute } from './page-route.ts';
import { accessRoutes } from './pages/access/routes.ts';
import { askingRoutes } from './pages/asking/routes.ts';
import { groupsRoutes } from './pages/groups/routes.ts';
import { peopleRoutes } from './pages/people/routes.ts';
import { reportsRoutes } from './pages/reports/routes.ts';
import { resultsRoutes } from './pages/results/routes.ts';
import { runsRoutes } from './pages/runs/routes.ts';
import { openRoutes, sessionRoutes } from './pages/session/routes.ts';
import { loadOnDemand } from './hooks/load-on-demand.ts';
import { useMaybeSession } from './session.tsx';
import { Shell } from './Shell.tsx';
import { type Area, type Language, loadTexts } from './text/catalogue.ts';
import { AreaTexts } from './text/text.tsx';
import { Broken, NotFound } from './ui/page/States.tsx';

const signedIn: Partial<Record<Area, PageRoute[]>> = {
  session: sessionRoutes,
  results: resultsRoutes,
  reports: reportsRoutes,
  people: peopleRoutes,
  groups: groupsRoutes,
  asking: askingRoutes,
  runs: runsRoutes,
  access: accessRoutes,
};

/** Sends users who are not signed in to the sign-in page, and to the requested page afterwards. */
function Inside() {
  const session = useMaybeSession();
  if (!session) return <ToSignIn />;
  return (
    <Shell>
      <Outlet />
    </Shell>
  );
}

/** Shown for a path without a page, inside the frame for users who are signed in. */
function Missing() {
  const session = useMaybeSession();
  if (!session) return <NotFound />;
  return (
    <Shell>
      <NotFound />
    </Shell>
  );
}

function ToSignIn() {
  const navigate = useNavigate();
  const { href } = useLocation();
  // Kept from the first render, because the path changes before this component is removed.
  const [requested] = useState(href);
  useEffect(() => {
    void navigate({
      to: '/sign-in',
      search: (requested === '/' ? {} : { to: requested }) as never,
      replace: true,
    });
  }, [navigate, requested]);
  return null;
}

function ToFirstPage({ role }: { role: Role }) {
  const navigate = useNavigate();
  useEffect(() => {
    void navigate({ to: firstPageOf(role), replace: true });
  }, [navigate, role]);
  return null;
}

/**
 * Returns a page whose code and texts are loaded when it is first shown, or when the pointer is on a link to it. Once loaded, it
 * renders without suspending, because React delays a component that has suspended by 300 ms.
 */
function pageIn(area: Area, { load, name }: Pick<PageRoute, 'load' | 'name'>): RouteComponent {
  let Loaded: ComponentType | undefined;
  const loadPage = async () => (Loaded ??= (await loadOnDemand(load))[name] as ComponentType);
  const Late = lazy(async () => ({ default: await loadPage() }));
  function WithTexts() {
    const [Page] = useState(() => Loaded ?? Late);
    return (
      <AreaTexts area={area}>
        <Page />
      </AreaTexts>
    );
  }
  const preload = () => Promise.all([loadPage(), loadTexts(document.documentElement.lang as Language, area)]);
  return Object.assign(WithTexts, { preload }) as unknown as RouteComponent;
}

function guarded(area: Area, { path, minimumRole, ...page }: PageRoute): RouteComponent {
  const Page = pageIn(area, page);
  function Guarded() {
    const session = useMaybeSession();
    if (session && hasRole(session.user, minimumRole)) return <Page />;
    // The start page shows results. Users who see none start elsewhere.
    return path === '/' && session ? <ToFirstPage role={session.user.role} /> : <NotFound />;
  }
  // The router preloads the page's code before it shows the page, and when a link to it is about to be followed.
  return Object.assign(Guarded, { preload: (Page as AsyncRouteComponent<unknown>).preload });
}

export function buildRouter() {
  const root = createRootRoute({ component: Outlet, notFoundComponent: Missing });
  const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Inside });
  const outside = openRoutes.map((page) =>
    createRoute({
      getParentRoute: () => root as unknown as AnyRoute,
      path: page.path,
      component: pageIn('session', page),
    }),
  );
  const pages = Object.entries(signedIn).flatMap(([area, list]) =>
    list.map((page) =>
      createRoute({
        getParentRoute: () => inside as unknown as AnyRoute,
        path: page.path,
        component: guarded(area as Area, page),
      }),
    ),
  );
  return createRouter({
    routeTree: root.addChildren([
      inside.addChildren(pages as never),
      ...outside,
    ] as never) as unknown as AnyRoute,
    defaultPreload: 'intent',
    defaultErrorComponent: Broken,
    scrollRestoration: true,
    scrollToTopSelectors: ['#content'],
  });
}
