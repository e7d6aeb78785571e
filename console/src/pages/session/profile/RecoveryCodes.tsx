// Shows the recovery codes once.
import { Copy as CopyIcon, Download } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { useCopying } from '../../../ui/Copy.tsx';
import { CheckboxField } from '../../../ui/form/Field.tsx';
import { ShownOnceDialog } from '../../../ui/dialog/ShownOnceDialog.tsx';
import { save } from '../../../ui/downloads.ts';
import css from './Profile.module.css';

export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const t = useText();
  const [isKept, setIsKept] = useState(false);
  const { isCopied, copy } = useCopying(codes.join('\n'));
  const text = `${t('profile.codesFile')}\n\n${codes.join('\n')}\n`;
  return (
    <ShownOnceDialog
      onClose={onDone}
      title={t('profile.codesTitle')}
      description={t('profile.codesText')}
      done={t('profile.codesDone')}
      canClose={isKept}
    >
      <div className={css['stack']}>
        <ul className={css['codes']}>
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className={css['actions']}>
          <Button icon={CopyIcon} onClick={copy}>
            {t('action.copy')}
          </Button>
          <Button icon={Download} onClick={() => save('soundings-recovery-codes.txt', new Blob([text]))}>
            {t('action.download')}
          </Button>
          <span role="status" className={css['soft']}>
            {isCopied && t('action.copied')}
          </span>
        </div>
        <CheckboxField label={t('profile.codesKept')} value={isKept} onChange={setIsKept} />
      </div>
    </ShownOnceDialog>
  );
}
