// Transfers the secret to an authenticator app, as a QR code or text, and confirms it with a first code.
import type { TwoFactorSetup } from '@soundings/contract/console/session.ts';
import { api } from '../../../api.ts';
import { useText } from '../../../text/text.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { DialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import { useForm } from '../../../ui/form/Form.tsx';
import css from './Profile.module.css';

type Props = { setup: TwoFactorSetup; onCodes: (codes: string[]) => void; onClose: () => void };

export function SetUpTwoFactor({ setup, onCodes, onClose }: Props) {
  const t = useText();
  const form = useForm({
    initial: { code: '' },
    submit: (body) => api('POST /profile/two-factor/on', { body }),
    onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
    warn: false,
  });
  const { error, ...code } = form.field('code');
  return (
    <div className={css['setup']}>
      <Qr matrix={setup.matrix} label={t('profile.qr')} />
      <div className={css['steps']}>
        <p>{t('profile.scan')}</p>
        <Copy text={setup.secret} label={t('profile.secret')} />
        <p>{t('profile.confirm')}</p>
        <DialogForm form={form} confirm={t('profile.turnOn')} onClose={onClose}>
          <TextField
            {...code}
            {...(error !== undefined && { error })}
            label={t('session.code')}
            autoComplete="one-time-code"
            inputMode="numeric"
            maxLength={10}
            mono
            required
            autoFocus
          />
        </DialogForm>
      </div>
    </div>
  );
}

/** A QR code: draws each 1 as a dark square, black on white in both themes, as cameras need it. */
function Qr({ matrix, label }: { matrix: string[]; label: string }) {
  const path = matrix
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`),
    )
    .join('');
  return (
    <svg
      className={css['qr']}
      viewBox={`0 0 ${matrix.length} ${matrix.length}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
