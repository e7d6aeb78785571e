// A button that opens a menu of actions or choices.
import { Menu as Base } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import { Ellipsis, type LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { Button, IconButton } from '../Button.tsx';
import { useDownload } from '../downloads.ts';
import { type Align, Floating, type Side } from './Floating.tsx';
import { itemClass, ItemText, tick } from './Item.tsx';
import css from './Menu.module.css';

type Action = {
  label: string;
  icon?: LucideIcon;
  /** Text below the label, such as why the item is disabled. */
  hint?: ReactNode;
  onSelect?: () => void;
  /** Links to a page. */
  to?: string;
  /** The URL of a file from the service to save. */
  download?: string;
  danger?: boolean;
  disabled?: boolean;
};
/** A choice between several options, such as the theme. */
type Choices = {
  choice: string;
  value: string;
  onChange: (value: never) => void;
  options: readonly { value: string; label: string; icon?: LucideIcon }[];
};
export type MenuItem = Action | Choices | 'line' | false | undefined;

type MenuProps = {
  label: string;
  items: readonly MenuItem[];
  icon?: LucideIcon;
  /** Shows the label on the button instead of only an icon. */
  showsLabel?: boolean;
  /** A custom button. It must accept a ref and the properties of a button. */
  trigger?: ReactElement;
  side?: Side;
  align?: Align;
  disabled?: boolean;
};

export function Menu({
  label,
  items,
  icon = Ellipsis,
  showsLabel,
  trigger,
  side,
  align = 'end',
  disabled,
}: MenuProps) {
  const button =
    trigger ?? (showsLabel ? <Button icon={icon}>{label}</Button> : <IconButton icon={icon} label={label} />);
  return (
    <Base.Root modal={false}>
      <Base.Trigger disabled={disabled} render={button as ReactElement<Record<string, unknown>>} />
      <Floating of={Base} kind="menu" side={side} align={align}>
        {items.map((item, index) =>
          !item ? null : item === 'line' ? (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other key
            <Base.Separator key={`line ${index}`} className={css['line']} />
          ) : 'choice' in item ? (
            <ChoiceItems key={item.choice} {...item} />
          ) : (
            <ActionItem key={item.label} {...item} />
          ),
        )}
      </Floating>
    </Base.Root>
  );
}

function ActionItem({ label, icon: Icon, hint, onSelect, to, download, danger, disabled }: Action) {
  const { start } = useDownload();
  const content = (
    <>
      {Icon && <Icon aria-hidden size={16} strokeWidth={1.75} />}
      <ItemText hint={hint}>{label}</ItemText>
    </>
  );
  const className = itemClass(danger);
  if (!disabled && to !== undefined)
    return (
      <Base.LinkItem className={className} closeOnClick render={<Link to={to} />}>
        {content}
      </Base.LinkItem>
    );
  return (
    <Base.Item
      className={className}
      disabled={disabled}
      onClick={download === undefined ? onSelect : () => void start(download)}
    >
      {content}
    </Base.Item>
  );
}

const ChoiceItems = ({ choice, value, onChange, options }: Choices) => (
  <Base.RadioGroup value={value} onValueChange={onChange as (value: string) => void} aria-label={choice}>
    {options.map(({ value: each, label, icon: Icon }) => (
      <Base.RadioItem key={each} value={each} className={itemClass()} closeOnClick={false}>
        {Icon && <Icon aria-hidden size={16} strokeWidth={1.75} />}
        <ItemText>{label}</ItemText>
        <Base.RadioItemIndicator {...tick} />
      </Base.RadioItem>
    ))}
  </Base.RadioGroup>
);
