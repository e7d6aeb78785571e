// Everything that opens beside its button: menus, lists of options, details and hints. They share one surface, one fade and the
// layers of styles.css. Base UI places them, closes them on Esc or a press elsewhere, and returns the focus to the button.
import type { ComponentType, ReactNode } from 'react';
import { cx } from '../cx.ts';
import css from './floating.module.css';

export type Side = 'top' | 'bottom';
export type Align = 'start' | 'center' | 'end';

/** The components with which Base UI makes something float, such as those of its Menu or Select. */
type FloatingComponents = {
  Portal: ComponentType<{ children?: ReactNode }>;
  Positioner: ComponentType<{
    sideOffset: number;
    side?: Side;
    align?: Align;
    className: string | undefined;
    children?: ReactNode;
  }>;
  Popup: ComponentType<{ className: string; 'aria-label'?: string; children?: ReactNode }>;
};

/** The distance of each kind from its button, in pixels. */
const distances = { menu: 4, options: 4, search: 4, details: 6, hint: 6 };

type FloatingProps = {
  of: FloatingComponents;
  /** A menu of actions, a list of options, such a list with a search field, details with a title, or a short text. */
  kind: keyof typeof distances;
  side?: Side | undefined;
  align?: Align;
  /** Names the popup, if nothing in it does. */
  label?: string;
  children: ReactNode;
};

export const Floating = ({ of, kind, side, align, label, children }: FloatingProps) => (
  <of.Portal>
    <of.Positioner
      sideOffset={distances[kind]}
      {...(side && { side })}
      {...(align && { align })}
      className={css[kind === 'hint' ? 'aboveAll' : 'above']}
    >
      <of.Popup
        className={cx(css['popup'], kind !== 'hint' && css['surface'], css[kind])}
        {...(label !== undefined && { 'aria-label': label })}
      >
        {children}
      </of.Popup>
    </of.Positioner>
  </of.Portal>
);
