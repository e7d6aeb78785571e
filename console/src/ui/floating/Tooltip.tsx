// A text beside the hovered or focused element. Never the only place for needed information, except for the name of an icon.
import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';
import css from './Tooltip.module.css';

/** The child must accept a ref, like a button. */
export function Tooltip({
  text,
  side = 'top',
  children,
}: {
  text: string;
  side?: 'top' | 'bottom';
  children: ReactElement;
}) {
  return (
    <Base.Root>
      <Base.Trigger delay={400} render={children as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} side={side} className={css['positioner']}>
          <Base.Popup className={css['tooltip']}>{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
