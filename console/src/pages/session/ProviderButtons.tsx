// The buttons of the sign-in page with which users sign in at their company's provider.
import type { ProviderButton } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { KeyRound } from 'lucide-react';
import { useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Stacked } from './Outside.tsx';

/** Returns the address that leads to a provider and back to a page. */
export const startAddress = (key: string, to: string): string =>
  `/sso/${key}/start?to=${encodeURIComponent(to)}`;

type Props = { providers: readonly ProviderButton[]; to: string; onClick: () => void };

export function ProviderButtons({ providers, to, onClick }: Props) {
  const t = useText();
  return (
    <Stacked>
      {providers.map(({ key, name }) => (
        <LinkButton key={key} href={startAddress(key, to)} icon={KeyRound} onClick={onClick}>
          {t('sso.signInWith', { name })}
        </LinkButton>
      ))}
    </Stacked>
  );
}
