// A reason behind an element: shown when the element is pressed, by pointer, touch or keyboard, or hovered. Screen readers always
// read it.
import { Popover as Base } from '@base-ui/react/popover';
import type { CSSProperties, ReactElement, ReactNode } from 'react';
import { cx } from '../cx.ts';
import { Floating } from './Floating.tsx';
import css from './Reason.module.css';

const Popup = ({ text }: { text: ReactNode }) => (
  <Floating of={Base} kind="hint" side="top">
    <Base.Title render={<p />}>{text}</Base.Title>
  </Floating>
);

/** A button around `children` that shows the reason. */
export function Reason({
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
      <ReasonButton className={className}>{children}</ReasonButton>
      <Popup text={text} />
    </Base.Root>
  );
}

type Reasons = ReturnType<typeof Base.createHandle<string>>;

/** Creates the shared popup for very many reasons, used by `OneReason` and `ManyReasons`. */
export const createReasons = (): Reasons => Base.createHandle<string>();

/** One of many reasons, shown in the popup of `ManyReasons`. */
export const OneReason = (props: {
  reasons: Reasons;
  text: string;
  className?: string | undefined;
  style?: CSSProperties;
  children: ReactNode;
}) => (
  <ReasonButton
    handle={props.reasons}
    payload={props.text}
    className={props.className}
    {...(props.style && { style: props.style })}
  >
    {props.children}
  </ReasonButton>
);

export const ManyReasons = ({ reasons }: { reasons: Reasons }) => (
  <Base.Root handle={reasons}>{({ payload }): ReactElement => <Popup text={payload} />}</Base.Root>
);

function ReasonButton({
  className,
  children,
  ...of
}: {
  handle?: Reasons;
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
      render={<button type="button" className={cx(css['reason'], className)} />}
    >
      {children}
    </Base.Trigger>
  );
}
