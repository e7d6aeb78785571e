// The entry point of the console: texts, session, router.
import '@fontsource-variable/inter/wght.css';
import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';
import { applyTheme } from './hooks/theme.ts';
import { buildRouter } from './router.tsx';
import { likelyLanguage, SessionProvider } from './session.tsx';

applyTheme();
document.documentElement.lang = likelyLanguage();

// Started immediately, so that the page loads while the session is fetched.
const router = buildRouter();
const opened = router.load().catch(() => {}); // a missing page shows its own error

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && [0, 503].includes(error.status),
      // Keep the old rows while new ones load.
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
