// Why a provider did not sign a user in, and what to do about it.
import { type Refusal, refusals } from '@soundings/contract/console/sign-on/refusals.ts';
import { useText } from '../../text/text.tsx';
import { Notice } from '../../ui/page/Notice.tsx';

/** Returns the refusal in an address; undefined if there is none. */
export const refusalIn = (text: string | undefined): Refusal | undefined =>
  refusals.find((one) => one === text);

export function RefusedNotice({ refusal }: { refusal: Refusal }) {
  const t = useText();
  return (
    <Notice tone="warn" live title={t('sso.refusedTitle')}>
      {t(`sso.refused.${refusal}`)}
    </Notice>
  );
}
