// A toggletip: a short text, such as a reason, shown when its element is pressed, by pointer, touch or keyboard, or hovered. Screen
// readers always read it.
import { Popover as Base } from '@base-ui/react/popover';
import type { CSSProperties, ReactElement, ReactNode } from 'react';
import { cx } from '../cx.ts';
import { Floating } from './Floating.tsx';
import css from './Toggletip.module.css';

const Popup = ({ text }: { text: ReactNode }) => (
  <Floating of={Base} kind="hint" side="top">
    <Base.Title render={<p />}>{text}</Base.Title>
  </Floating>
);

/** A button around `children` that shows the text. */
export function Toggletip({
  text,
  className,
  children,
}: {
  text: string;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Base.Root>
      <ToggletipButton className={className}>{children}</ToggletipButton>
      <Popup text={text} />
    </Base.Root>
  );
}

type ToggletipHandle = ReturnType<typeof Base.createHandle<string>>;

/** Creates the handle that connects very many instances of `ToggletipTrigger` to one `SharedToggletip`. */
export const createToggletipHandle = (): ToggletipHandle => Base.createHandle<string>();

/** One of many buttons that show their text in the popup of `SharedToggletip`. */
export const ToggletipTrigger = (props: {
  handle: ToggletipHandle;
  text: string;
  className?: string | undefined;
  style?: CSSProperties;
  children: ReactNode;
}) => (
  <ToggletipButton
    handle={props.handle}
    payload={props.text}
    className={props.className}
    {...(props.style && { style: props.style })}
  >
    {props.children}
  </ToggletipButton>
);

export const SharedToggletip = ({ handle }: { handle: ToggletipHandle }) => (
  <Base.Root handle={handle}>{({ payload }): ReactElement => <Popup text={payload} />}</Base.Root>
);

function ToggletipButton({
  className,
  children,
  ...of
}: {
  handle?: ToggletipHandle;
  payload?: string;
  className: string | undefined;
  style?: CSSProperties;
  children: ReactNode;
}) {
  return (
    <Base.Trigger
      {...of}
      openOnHover
      delay={400}
      // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- its children label it
      render={<button type="button" className={cx(css['trigger'], className)} />}
    >
      {children}
    </Base.Trigger>
  );
}
