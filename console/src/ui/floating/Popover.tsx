// A popup with details beside its button. Esc or a press elsewhere closes it.
import { Popover as Base } from '@base-ui/react/popover';
import type { ReactElement, ReactNode } from 'react';
import css from './Popover.module.css';

export function Popover({
  trigger,
  title,
  children,
  align = 'start',
}: {
  /** A button, such as `<Button>`. */
  trigger: ReactElement;
  title?: string;
  children: ReactNode;
  align?: 'start' | 'center' | 'end';
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} align={align} className={css['positioner']}>
          <Base.Popup className={css['popup']}>
            {title !== undefined && <Base.Title className={css['title']}>{title}</Base.Title>}
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
