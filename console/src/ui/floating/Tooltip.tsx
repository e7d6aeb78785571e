// A text beside the hovered or focused element. Never the only place for needed information, except for the name of an icon.
import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';
import { Floating, type Side } from './Floating.tsx';

/** The child must accept a ref, like a button. */
export const Tooltip = ({
  text,
  side = 'top',
  children,
}: {
  text: string;
  side?: Side;
  children: ReactElement;
}) => (
  <Base.Root>
    <Base.Trigger delay={400} render={children as ReactElement<Record<string, unknown>>} />
    <Floating of={Base} kind="hint" side={side}>
      {text}
    </Floating>
  </Base.Root>
);
