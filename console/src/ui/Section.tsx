// A part of a page, divided from the next by a hairline.
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { cx } from './cx.ts';
import css from './Section.module.css';

type SectionProps = {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Without padding at the sides of the content, such as around a table. */
  flush?: boolean;
  /** So that an address can lead to it. */
  id?: string;
  children?: ReactNode;
};

/** The router leads to what is there when the page is: a section that waits for an answer comes later. */
function useLedTo(id: string | undefined) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (id !== undefined && location.hash === `#${id}`) section.current?.scrollIntoView();
  }, [id]);
  return section;
}

export function Section({ title, description, actions, flush, id, children }: SectionProps) {
  const heading = useId();
  const section = useLedTo(id);
  return (
    <section
      ref={section}
      id={id}
      className={cx(css['section'], flush && css['flush'])}
      aria-labelledby={heading}
    >
      <div className={css['head']}>
        <div>
          <h2 id={heading} className={css['title']}>
            {title}
          </h2>
          {description !== undefined && <div className={css['description']}>{description}</div>}
        </div>
        {actions && <div className={css['actions']}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** What stands in a page without a heading, padded like a section. */
export const Padded = ({ children }: { children: ReactNode }) => (
  <div className={css['section']}>{children}</div>
);
