// A popup with details beside its button.
import { Popover as Base } from '@base-ui/react/popover';
import type { ReactElement, ReactNode } from 'react';
import { type Align, Floating } from './Floating.tsx';
import css from './Popover.module.css';

export const Popover = ({
  trigger,
  title,
  children,
  align = 'start',
}: {
  /** A button, such as `<Button>`. */
  trigger: ReactElement;
  title?: string;
  children: ReactNode;
  align?: Align;
}) => (
  <Base.Root>
    <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
    <Floating of={Base} kind="details" align={align}>
      {title !== undefined && <Base.Title className={css['title']}>{title}</Base.Title>}
      {children}
    </Floating>
  </Base.Root>
);
