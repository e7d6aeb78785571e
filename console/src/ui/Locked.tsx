// A lock: this cannot be changed here, and why.
import { Lock } from 'lucide-react';
import css from './Locked.module.css';
import { Tooltip } from './Tooltip.tsx';

/** The reason is read out, and shown when the pointer or the focus is on the lock. */
export const Locked = ({ reason }: { reason: string }) => (
  <Tooltip text={reason}>
    <button type="button" className={css['locked']} aria-label={reason}>
      <Lock aria-hidden size={13} strokeWidth={1.75} />
    </button>
  </Tooltip>
);
