// A long list of options with a search field above it, as the popup of a Base UI Combobox.
import { Combobox as Base } from '@base-ui/react/combobox';
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { Floating } from './Floating.tsx';
import css from './ComboboxPopup.module.css';

type ComboboxPopupProps<Item> = {
  label: string;
  /** The placeholder of the search field. */
  search: string;
  onSearchFocus?: () => void;
  /** Shown if nothing is found. */
  empty: string;
  /** The text that says how many more options are found than shown. */
  more?: string | undefined;
  children: (item: Item) => ReactNode;
};

export const ComboboxPopup = <Item,>({
  label,
  search,
  onSearchFocus,
  empty,
  more,
  children,
}: ComboboxPopupProps<Item>) => (
  <Floating of={Base} kind="search" align="start" label={label}>
    <div className={css['search']}>
      <Search aria-hidden size={16} strokeWidth={1.75} />
      <Base.Input
        className={css['input']}
        aria-label={search}
        placeholder={search}
        {...(onSearchFocus && { onFocus: onSearchFocus })}
      />
    </div>
    <Base.Empty className={css['empty']}>{empty}</Base.Empty>
    <Base.List className={css['list']}>{children}</Base.List>
    {more !== undefined && <p className={css['more']}>{more}</p>}
  </Floating>
);
