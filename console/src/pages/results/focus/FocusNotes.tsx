// The focus of a group beside its figures: a section of the overview, and one line at the figure that it is about.
import type { Focus } from '@soundings/contract/console/focus.ts';
import { Target } from 'lucide-react';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { LinkButton } from '../../../ui/Button.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { openFocuses, useFocusState, useGroupFocus } from './focus-data.ts';
import css from './focus.module.css';

/** The open focuses of a group. Without any, a link for those who can choose one. */
export function FocusSection({ groupId }: { groupId: number }) {
  const t = useText();
  const { data } = useGroupFocus(groupId);
  const open = openFocuses(data);
  if (!data || (open.length === 0 && !data.canEdit)) return null;
  return (
    <Section
      title={t('focus.title')}
      description={open.length === 0 ? t('focus.noneText') : undefined}
      actions={
        <LinkButton kind="quiet" to="/focus" search={{ group: groupId }} icon={Target}>
          {t(open.length === 0 ? 'focus.add' : 'focus.show')}
        </LinkButton>
      }
    >
      {open.length > 0 && (
        <ul className={css['lines']}>
          {open.map((focus) => (
            <li key={focus.id}>
              <Line focus={focus} withName />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The focus on one KPI or question of a group, if there is one. */
export function FocusLine({
  groupId,
  kind,
  id,
}: {
  groupId: number;
  kind: 'kpi' | 'question';
  id: number | string;
}) {
  const t = useText();
  const { data } = useGroupFocus(groupId);
  const focus = openFocuses(data).find(({ subject }) => subject.kind === kind && subject.id === String(id));
  if (!focus) return null;
  return (
    <Section
      title={t('focus.title')}
      actions={
        <LinkButton kind="quiet" to="/focus" search={{ group: groupId }} icon={Target}>
          {t('focus.show')}
        </LinkButton>
      }
    >
      <Line focus={focus} />
    </Section>
  );
}

/** A mark on a KPI that is a focus of the group. */
export function FocusMark({ groupId, kpiId }: { groupId: number; kpiId: string }) {
  const t = useText();
  const { data } = useGroupFocus(groupId);
  const isFocus = openFocuses(data).some(({ subject }) => subject.kind === 'kpi' && subject.id === kpiId);
  return isFocus ? <Badge tone="accent">{t('focus.title')}</Badge> : null;
}

function Line({ focus, withName = false }: { focus: Focus; withName?: boolean }) {
  const t = useText();
  const { plainDay } = useFormat();
  const [tone, state] = useFocusState()(focus);
  return (
    <>
      <p className={css['subject']}>
        {withName && <strong>{focus.subject.name}</strong>}
        <Badge tone={tone}>{state}</Badge>
        {focus.isDue && <Badge tone="warn">{t('focus.dueShort')}</Badge>}
      </p>
      <p className={css['action']} dir="auto">
        {focus.action}
      </p>
      <p className={css['soft']}>
        {t('focus.who', { responsible: focus.responsible, day: plainDay(focus.until) })}
      </p>
    </>
  );
}
