// Provides the signed-in user and the language of texts to every page. When the session has ended, shows a dialog to sign in again
// over the page, so that nothing typed is lost.
import type { Session } from '@soundings/contract/console/session.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { api, onPasswordNeeded, onSessionEnd } from './api.ts';
import { withStorage } from './hooks/browser-storage.ts';
import { dialogWait } from './hooks/dialog-wait.ts';
import { reloadOnce, loadOnDemand } from './hooks/load-on-demand.ts';
import { checkSession, isSamePerson } from './session-check.ts';
import { type Catalogue, type Language, loadFirstTexts } from './text/catalogue.ts';
import { TextProvider } from './text/text.tsx';
import { Failed } from './ui/page/States.tsx';
import { ToastProvider } from './ui/floating/Toast.tsx';

// The dialog and its form are rarely needed, so they are loaded after everything else. But they are loaded before they are needed,
// because their files may no longer exist once the service has been updated. Throws NotLoaded.
const loadSignInAgain = async () =>
  (await loadOnDemand(() => import('./pages/session/SignInAgain.tsx'))).SignInAgain;
const loadGivePassword = async () =>
  (await loadOnDemand(() => import('./pages/session/GivePassword.tsx'))).GivePassword;
const msBeforeLoading = 10_000;
const msBetweenTries = 5000;

const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session; undefined on pages for users who are not signed in. */
export const useMaybeSession = (): Session | undefined => useContext(SessionContext);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('No user is signed in.');
  return session;
}

/** Returns the browser's language, for users who have never signed in here. */
const browserLanguage = (): Language => (navigator.language.startsWith('sv') ? 'sv' : 'en');

const languageKey = 'soundings.language';

/** Returns the language to use before signing in: that of the last user, or else the browser's. */
export function likelyLanguage(): Language {
  const last = withStorage(() => localStorage.getItem(languageKey));
  return last === 'sv' || last === 'en' ? last : browserLanguage();
}

type SignInAgainDialog = Awaited<ReturnType<typeof loadSignInAgain>>;

/**
 * Lets requests wait until the user has signed in again. If the dialog can't be loaded, the requests fail with that error, and the
 * page keeps what was typed.
 */
function useSigningInAgain() {
  const [SignInAgain, setSignInAgain] = useState<SignInAgainDialog>();
  const [{ wait, settle }] = useState(() =>
    dialogWait<SignInAgainDialog, void>(loadSignInAgain, (dialog) => setSignInAgain(() => dialog)),
  );
  useEffect(() => onSessionEnd(wait), [wait]);
  return { SignInAgain, waitForSignIn: wait, resume: settle };
}

type GivePasswordDialog = Awaited<ReturnType<typeof loadGivePassword>>;

/** Lets requests wait until the password is given or the dialog is closed. */
function useGivingPassword() {
  const [GivePassword, setGivePassword] = useState<GivePasswordDialog>();
  const [{ wait, settle }] = useState(() =>
    dialogWait<GivePasswordDialog, boolean>(loadGivePassword, (dialog) => setGivePassword(() => dialog)),
  );
  useEffect(() => onPasswordNeeded(wait), [wait]);
  return { GivePassword, settle };
}

function useLoadingSignInAgain(isSignedIn: boolean) {
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const timer = setTimeout(() => void loadSignInAgain().catch(() => {}), msBeforeLoading);
    return () => clearTimeout(timer);
  }, [isSignedIn]);
}

/**
 * Returns the texts of a language. Until it is known (undefined), only loads those of the likely one: a page that was shown in another
 * language would request everything twice. `opened`: fulfilled when the requested page can be shown; the first texts wait for it.
 */
function useCatalogue(language: Language | undefined, opened: Promise<unknown>) {
  const [catalogue, setCatalogue] = useState<{ language: Language; texts: Catalogue }>();
  const hasTexts = useRef(false);
  useEffect(() => {
    if (language === undefined) return void loadFirstTexts(likelyLanguage()).catch(() => {});
    let isCurrent = true;
    async function load(wanted: Language): Promise<void> {
      try {
        const [texts] = await Promise.all([loadFirstTexts(wanted), opened]);
        // As a transition, so that the page stays unchanged until its own texts are loaded in the new language.
        startTransition(() => {
          if (isCurrent) setCatalogue({ language: wanted, texts });
        });
        hasTexts.current = true;
      } catch {
        if (!isCurrent) return;
        // A page without texts has no input that could be lost.
        if (!hasTexts.current) await reloadOnce();
        setTimeout(() => isCurrent && void load(wanted), msBetweenTries);
      }
    }
    void load(language);
    document.documentElement.lang = language;
    return () => {
      isCurrent = false;
    };
  }, [language, opened]);
  return catalogue;
}

/** `opened`: fulfilled when the requested page can be shown. */
export function SessionProvider({ opened, children }: { opened: Promise<unknown>; children: ReactNode }) {
  const queries = useQueryClient();
  const { SignInAgain, waitForSignIn, resume } = useSigningInAgain();
  const { GivePassword, settle } = useGivingPassword();
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: ['GET /session'],
    queryFn: () =>
      checkSession({
        request: () => api('GET /session'),
        shown: () => queries.getQueryData<Session | null>(['GET /session']),
        signInAgain: waitForSignIn,
        reload: () => location.reload(),
      }),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
  const isKnown = session !== undefined || error !== null;
  const catalogue = useCatalogue(isKnown ? (session?.language ?? likelyLanguage()) : undefined, opened);
  useEffect(() => {
    if (session) withStorage(() => localStorage.setItem(languageKey, session.language));
  }, [session]);
  useLoadingSignInAgain(!!session);
  if (!catalogue || !isKnown) return null;
  return (
    <TextProvider language={catalogue.language} catalogue={catalogue.texts}>
      <ToastProvider>
        {session === undefined ? (
          // It is unknown whether a user is signed in, which is not the same as no user.
          <main>
            <Failed error={error} onRetry={() => void refetch()} />
          </main>
        ) : (
          <SessionContext value={session ?? undefined}>{children}</SessionContext>
        )}
        {GivePassword && session && <GivePassword session={session} onDone={settle} />}
        {SignInAgain && session && (
          <SignInAgain
            session={session}
            onDone={(next) => {
              if (!isSamePerson(session, next)) return location.reload();
              queries.setQueryData(['GET /session'], next);
              resume();
            }}
          />
        )}
      </ToastProvider>
    </TextProvider>
  );
}
