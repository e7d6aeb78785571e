// Who is signed in, for every page; the language of the texts; and the dialog by which somebody signs in again when the session
// has ended, over the page as it is, so that nothing that was typed is lost.
import type { Session } from '@soundings/contract/console.session.ts';
import { hasRole as isOfRole, type Role } from '@soundings/contract/words.ts';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { api, ApiError, onPasswordNeeded, onSessionEnd } from './api.ts';
import { keeping } from './plumbing/keeping.ts';
import { loadAnewOnce, loadPart } from './plumbing/parts.ts';
import { type Catalogue, type Language, loadFirstTexts } from './text/catalogue.ts';
import { TextProvider } from './text/text.tsx';
import { Failed } from './ui/States.tsx';
import { ToastProvider } from './ui/Toast.tsx';

// Hardly ever needed: its dialog and form are loaded after everything else, so that they are there also when the service has
// been updated meanwhile. Throws PartMissing.
const loadSignInAgain = async () =>
  (await loadPart(() => import('./pages/session/SignInAgain.tsx'))).SignInAgain;
const loadGivePassword = async () =>
  (await loadPart(() => import('./pages/session/GivePassword.tsx'))).GivePassword;
const msBeforeLoading = 10_000;
const msBetweenTries = 5000;

const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in; on pages for nobody in particular it is undefined. */
export const useMaybeSession = (): Session | undefined => useContext(SessionContext);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('Nobody is signed in.');
  return session;
}

export const hasRole = ({ user }: Session, least: Role): boolean => isOfRole(user, least);

const isSamePerson = (one: Session, other: Session) =>
  one.user.id === other.user.id && one.account.id === other.account.id;

/** The language before anybody has signed in. */
const browserLanguage = (): Language => (navigator.language.startsWith('sv') ? 'sv' : 'en');

const languageKey = 'soundings.language';

/** The language while nobody is signed in: that of whoever was last. */
export function likelyLanguage(): Language {
  const last = keeping(() => localStorage.getItem(languageKey));
  return last === 'sv' || last === 'en' ? last : browserLanguage();
}

/**
 * Asks who is signed in, and goes on asking. When a session has ended whose page is open, it waits until somebody has signed
 * in again; when meanwhile somebody else has signed in, in another tab, the page is loaded anew: nothing of one is shown to
 * the other.
 */
async function askSession(queries: QueryClient, again: () => Promise<void>): Promise<Session | null> {
  const before = queries.getQueryData<Session | null>(['GET /session']);
  try {
    const session = await api('GET /session');
    if (before && !isSamePerson(before, session)) location.reload();
    return session;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    if (!before) return null;
    await again();
    return askSession(queries, again);
  }
}

/**
 * Whoever has to wait until somebody signs in again; all wait for the same dialog. When it cannot be loaded, their requests
 * fail with that, and what was typed stays.
 */
function useSigningInAgain() {
  const [SignInAgain, setSignInAgain] = useState<Awaited<ReturnType<typeof loadSignInAgain>>>();
  const waiting = useRef<PromiseWithResolvers<void>>(undefined);
  const [ask] = useState(() => async () => {
    const loaded = await loadSignInAgain();
    waiting.current ??= Promise.withResolvers<void>();
    setSignInAgain(() => loaded);
    return waiting.current.promise;
  });
  useEffect(() => onSessionEnd(ask), [ask]);
  function goOn() {
    setSignInAgain(undefined);
    waiting.current?.resolve();
    waiting.current = undefined;
  }
  return { SignInAgain, ask, goOn };
}

/** An act that needs the password again waits until it is given, or not; all that wait share the dialog. */
function useGivingPassword() {
  const [GivePassword, setGivePassword] = useState<Awaited<ReturnType<typeof loadGivePassword>>>();
  const waiting = useRef<PromiseWithResolvers<boolean>>(undefined);
  useEffect(
    () =>
      onPasswordNeeded(async () => {
        const loaded = await loadGivePassword();
        waiting.current ??= Promise.withResolvers<boolean>();
        setGivePassword(() => loaded);
        return waiting.current.promise;
      }),
    [],
  );
  function given(isGiven: boolean) {
    setGivePassword(undefined);
    waiting.current?.resolve(isGiven);
    waiting.current = undefined;
  }
  return { GivePassword, given };
}

function useLoadingSignInAgain(isSignedIn: boolean) {
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const timer = setTimeout(() => void loadSignInAgain().catch(() => {}), msBeforeLoading);
    return () => clearTimeout(timer);
  }, [isSignedIn]);
}

/** `opened`: the first texts come when the page that is asked for can be shown. */
function useCatalogue(language: Language, opened: Promise<unknown>) {
  const [catalogue, setCatalogue] = useState<{ language: Language; texts: Catalogue }>();
  const hasTexts = useRef(false);
  useEffect(() => {
    let isCurrent = true;
    async function load(): Promise<void> {
      try {
        const [texts] = await Promise.all([loadFirstTexts(language), opened]);
        // As a transition: the page stays as it is until its own texts, too, are there in another language.
        startTransition(() => {
          if (isCurrent) setCatalogue({ language, texts });
        });
        hasTexts.current = true;
      } catch {
        if (!isCurrent) return;
        // Nothing has been typed on a page without texts.
        if (!hasTexts.current) await loadAnewOnce();
        setTimeout(() => isCurrent && void load(), msBetweenTries);
      }
    }
    void load();
    document.documentElement.lang = language;
    return () => {
      isCurrent = false;
    };
  }, [language, opened]);
  return catalogue;
}

/** `opened`: fulfilled when the page that is asked for can be shown. */
export function SessionProvider({ opened, children }: { opened: Promise<unknown>; children: ReactNode }) {
  const queries = useQueryClient();
  const { SignInAgain, ask, goOn } = useSigningInAgain();
  const { GivePassword, given } = useGivingPassword();
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: ['GET /session'],
    queryFn: () => askSession(queries, ask),
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
  const catalogue = useCatalogue(session?.language ?? likelyLanguage(), opened);
  useEffect(() => {
    if (session) keeping(() => localStorage.setItem(languageKey, session.language));
  }, [session]);
  useLoadingSignInAgain(!!session);
  if (!catalogue || (session === undefined && !error)) return null;
  return (
    <TextProvider language={catalogue.language} catalogue={catalogue.texts}>
      <ToastProvider>
        {session === undefined ? (
          // Who asks is not known: that is not the same as nobody.
          <main>
            <Failed error={error} onRetry={() => void refetch()} />
          </main>
        ) : (
          <SessionContext value={session ?? undefined}>{children}</SessionContext>
        )}
        {GivePassword && session && <GivePassword session={session} onDone={given} />}
        {SignInAgain && session && (
          <SignInAgain
            session={session}
            onDone={(made) => {
              if (!isSamePerson(session, made)) return location.reload();
              queries.setQueryData(['GET /session'], made);
              goOn();
            }}
          />
        )}
      </ToastProvider>
    </TextProvider>
  );
}
