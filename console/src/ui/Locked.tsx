// A lock icon, which shows that a value can't be changed here, and why.
import { Lock } from 'lucide-react';
import css from './Locked.module.css';
import { Toggletip } from './floating/Toggletip.tsx';

/** Screen readers read the reason; it is shown when the lock is pressed or hovered. */
export const Locked = ({ reason }: { reason: string }) => (
  <Toggletip text={reason} className={css['locked']}>
    <span className="visually-hidden">{reason}</span>
    <Lock aria-hidden size={13} strokeWidth={1.75} />
  </Toggletip>
);
