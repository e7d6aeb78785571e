// The error of a field with several parts: read out, and scrolled into view.
import { useEffect, useRef } from 'react';
import css from './asking.module.css';

export function FieldError({ error }: { error: string | undefined }) {
  const element = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (error !== undefined) element.current?.scrollIntoView({ block: 'center' });
  }, [error]);
  if (error === undefined) return null;
  return (
    <p ref={element} className={css['error']} role="alert">
      {error}
    </p>
  );
}
