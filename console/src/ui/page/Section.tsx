// A section of a page, separated from the next by a thin line.
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { cx } from '../cx.ts';
import css from './Section.module.css';

type SectionProps = {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Omits the side padding of the content, for example around a table. */
  flush?: boolean;
  /** The id that URLs can link to. */
  id?: string;
  children?: ReactNode;
};

/** Scrolls to a section that renders later than the page. The router only scrolls to sections that already exist. */
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

/** Content without a heading, padded like a section. */
export const Padded = ({ children }: { children: ReactNode }) => (
  <div className={css['section']}>{children}</div>
);
