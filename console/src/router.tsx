// Which page an address shows. Each area lists its own pages; a page's code is loaded when it is first shown.
import type { Role } from '@soundings/contract/organization.ts';
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
import { accessRoutes } from './pages/access/routes.ts';
import { askingRoutes } from './pages/asking/routes.ts';
import { groupsRoutes } from './pages/groups/routes.ts';
import { peopleRoutes } from './pages/people/routes.ts';
import { resultsRoutes } from './pages/results/routes.ts';
import { runsRoutes } from './pages/runs/routes.ts';
import { openRoutes, sessionRoutes } from './pages/session/routes.ts';
import { loadPart } from './plumbing/parts.ts';
import { hasRole, useMaybeSession } from './session.tsx';
import { Shell } from './Shell.tsx';
import { type Area, type Language, loadTexts } from './text/catalogue.ts';
import { AreaTexts } from './text/text.tsx';
import { Broken, NotFound } from './ui/States.tsx';

export type PageRoute = {
  /** As TanStack Router writes it: /people/$userId. */
  path: string;
  /** Who may see it: others are told that there is no such page. */
  least: Role;
  load: () => Promise<Record<string, () => unknown>>;
  /** The name under which the loaded file exports the page. */
  name: string;
};

const signedIn: Partial<Record<Area, PageRoute[]>> = {
  session: sessionRoutes,
  results: resultsRoutes,
  people: peopleRoutes,
  groups: groupsRoutes,
  asking: askingRoutes,
  runs: runsRoutes,
  access: accessRoutes,
};

/** Whoever is not signed in is, after signing in, shown the page that was asked for. */
function Inside() {
  const session = useMaybeSession();
  if (!session) return <ToSignIn />;
  return (
    <Shell>
      <Outlet />
    </Shell>
  );
}

/** An address that is no page's: inside the frame for whoever is signed in. */
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
  // As it was at first: the address changes before this is gone.
  const [asked] = useState(href);
  useEffect(() => {
    void navigate({ to: '/sign-in', search: (asked === '/' ? {} : { to: asked }) as never, replace: true });
  }, [navigate, asked]);
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
 * A page whose code and texts are loaded when it is first shown, or when a link to it is pointed at. Where they are there, it
 * is shown without waiting for anything: what React has once shown as missing it holds back for 300 ms.
 */
function pageIn(area: Area, { load, name }: Pick<PageRoute, 'load' | 'name'>): RouteComponent {
  let Loaded: ComponentType | undefined;
  const loadPage = async () => (Loaded ??= (await loadPart(load))[name] as ComponentType);
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

function guarded(area: Area, { path, least, ...page }: PageRoute): RouteComponent {
  const Page = pageIn(area, page);
  function Guarded() {
    const session = useMaybeSession();
    if (session && hasRole(session, least)) return <Page />;
    // The start page is of results: who sees none begins elsewhere.
    return path === '/' && session ? <ToFirstPage role={session.user.role} /> : <NotFound />;
  }
  // So that the router loads the page's code before it shows it, and when a link to it is about to be followed.
  return Object.assign(Guarded, { preload: (Page as AsyncRouteComponent<unknown>).preload });
}

export function makeRouter() {
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
