// The button that opens a list of options: as a toolbar filter ("Role Any ⌄") or as a form field.
import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../cx.ts';
import css from './TriggerContent.module.css';

export const filterClass = css['filter'];

/** Returns the class of the button in a form field. */
export const fieldClass = (className: string | undefined): string => cx(className, css['field']);

/** The content of a filter. `label`: hidden if undefined. */
export const FilterTriggerContent = ({ label, children }: { label?: ReactNode; children: ReactNode }) => (
  <>
    {label !== undefined && <span className={css['label']}>{label}</span>}
    <span className={css['value']}>{children}</span>
    <Arrows />
  </>
);

/** The content of a form field. */
export const FieldTriggerContent = ({ children }: { children: ReactNode }) => (
  <>
    <span className={css['chosen']}>{children}</span>
    <Arrows />
  </>
);

export const Placeholder = ({ children }: { children: ReactNode }) => (
  <span className={css['placeholder']}>{children}</span>
);

const Arrows = () => <ChevronsUpDown aria-hidden size={14} strokeWidth={1.75} className={css['arrows']} />;
