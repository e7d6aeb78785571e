// The appearance of an item in a menu or a list of options: an icon or a tick, and a text with a hint below.
import { Check } from 'lucide-react';
import type { ComponentType, ReactNode } from 'react';
import { cx } from '../cx.ts';
import css from './Item.module.css';

export const itemClass = (isDanger?: boolean): string => cx(css['item'], isDanger && css['danger']);

export const ItemText = ({ hint, children }: { hint?: ReactNode; children: ReactNode }) => (
  <span className={css['text']}>
    {children}
    {hint !== undefined && <span className={css['hint']}>{hint}</span>}
  </span>
);

/** The mark of the chosen item, inside the indicator of a Base UI component. */
export const tick = { className: css['tick'], children: <Check aria-hidden size={16} /> };

/** The components with which Base UI shows an option, such as those of its Select or Combobox. */
type OptionComponents<Value> = {
  Item: ComponentType<{ value: Value; disabled?: boolean; className: string; children?: ReactNode }>;
  ItemIndicator: ComponentType<{ className: string | undefined; children?: ReactNode }>;
};

type OptionProps<Value> = {
  of: OptionComponents<Value>;
  value: Value;
  hint?: ReactNode;
  disabled?: boolean | undefined;
  children: ReactNode;
};

/** An option in a list. The chosen one has a tick. */
export const OptionItem = <Value,>({ of, value, hint, disabled, children }: OptionProps<Value>) => (
  <of.Item value={value} {...(disabled !== undefined && { disabled })} className={itemClass()}>
    <of.ItemIndicator {...tick} />
    <ItemText hint={hint}>{children}</ItemText>
  </of.Item>
);
