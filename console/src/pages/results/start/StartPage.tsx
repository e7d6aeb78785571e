// The page with the first steps, which administrators can return to until they dismiss it.
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../../api.ts';
import { useErrorToast } from '../../../hooks/error-toast.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { StartSteps } from './StartSteps.tsx';

export function StartPage() {
  const t = useText();
  const { isStarting } = useSession();
  const toast = useToast();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const showErrorOf = useErrorToast();
  const { busy, once } = useOnce();
  const dismiss = async (isDismissed: boolean) => {
    await api('PUT /start/dismissed', { body: { isDismissed } });
    await refresh('GET /session', 'GET /start');
    if (isDismissed) {
      await navigate({ to: '/' });
      toast({ text: t('start.dismissed'), undo: () => showErrorOf(dismiss(false)) });
    }
  };
  return (
    <Page
      title={t('nav.start')}
      actions={
        <Button busy={busy} onClick={() => once(() => dismiss(isStarting))}>
          {t(isStarting ? 'start.dismiss' : 'start.keep')}
        </Button>
      }
    >
      <StartSteps />
    </Page>
  );
}
