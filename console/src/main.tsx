// The console begins: texts, session, router.
import '@fontsource-variable/inter/wght.css';
import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';
import { applyTheme } from './plumbing/theme.ts';
import { makeRouter } from './router.tsx';
import { likelyLanguage, SessionProvider } from './session.tsx';

applyTheme();
document.documentElement.lang = likelyLanguage();

// At once: the page is loaded while the service is asked who is signed in.
const router = makeRouter();
const opened = router.load().catch(() => {}); // what is missing is said in its place

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && [0, 503].includes(error.status),
      // Old rows stay while new ones load.
      placeholderData: (previous: unknown) => previous,
    },
  },
});

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <SessionProvider opened={opened}>
          <RouterProvider router={router} />
        </SessionProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
