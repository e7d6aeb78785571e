// Confirms with the provider of the session who the user is, in another tab.
import type { ProviderButton } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import type { Refusal } from '@soundings/contract/console/sign-on/refusals.ts';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useProviderVisit } from '../../hooks/provider-visit.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Failed } from '../../ui/page/States.tsx';
import { RefusedNotice } from './Refused.tsx';
import css from './Outside.module.css';

type Props = {
  provider: ProviderButton;
  /** Returns the address to open. */
  begin: () => Promise<string>;
  onDone: () => void;
};

export function ConfirmWithProvider({ provider, begin, onDone }: Props) {
  const t = useText();
  const [refusal, setRefusal] = useState<Refusal>();
  const { visit, isAway, error } = useProviderVisit({
    begin,
    onReturn: (refused) => {
      if (refused) setRefusal(refused);
      else onDone();
    },
  });
  return (
    <>
      {refusal && <RefusedNotice refusal={refusal} />}
      {error !== undefined && <Failed error={error} />}
      {isAway && (
        <p role="status" className={css['soft']}>
          {t('sso.away', { name: provider.name })}
        </p>
      )}
      <div>
        <Button kind="primary" icon={ExternalLink} autoFocus onClick={() => void visit()}>
          {t('sso.continueWith', { name: provider.name })}
        </Button>
      </div>
    </>
  );
}
