// One focus of a group: what it is about, what the group does, how it goes, and its history.
import type { Focus, FocusEvent, GroupFocus } from '@soundings/contract/console/focus.ts';
import { maxOpenFocuses } from '@soundings/contract/limits.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { FocusDialog } from './FocusDialog.tsx';
import { CheckInDialog, NoteDialog } from './NoteDialogs.tsx';
import { openFocuses, useFocusState } from './focus-data.ts';
import css from './focus.module.css';

type CardProps = { focus: Focus; data: GroupFocus };

export function FocusCard({ focus, data }: CardProps) {
  const t = useText();
  const { plainDay } = useFormat();
  const stateOf = useFocusState();
  const [tone, state] = stateOf(focus);
  const { subject, action, responsible, until, isDue } = focus;
  return (
    <li className={css['card']}>
      <p className={css['subject']}>
        <SubjectLink focus={focus} groupId={data.group.id} />
        <Badge tone={tone}>{state}</Badge>
        {subject.isRetired && <Badge>{t('focus.retired')}</Badge>}
      </p>
      <p className={css['action']} dir="auto">
        {action}
      </p>
      <p className={css['soft']}>{t('focus.who', { responsible, day: plainDay(until) })}</p>
      {isDue && data.canEdit && <Notice tone="warn">{t('focus.due')}</Notice>}
      {data.canEdit && <Actions focus={focus} data={data} />}
      <History events={focus.history} />
    </li>
  );
}

/** The subject, which leads to its figure. */
function SubjectLink({ focus: { subject }, groupId }: { focus: Focus; groupId: number }) {
  return subject.kind === 'kpi' ? (
    <Link className={css['name']} to="/trends" search={{ kpi: subject.id, groups: groupId } as never}>
      {subject.name}
    </Link>
  ) : (
    <Link
      className={css['name']}
      to="/results/questions/$questionId"
      params={{ questionId: subject.id } as never}
      search={{ group: groupId } as never}
    >
      {subject.name}
    </Link>
  );
}

function Actions({ focus, data }: CardProps) {
  const t = useText();
  const [dialog, setDialog] = useState<'checkIn' | 'change' | 'stop' | 'reopen'>();
  const close = () => setDialog(undefined);
  const isFull = openFocuses(data).length >= maxOpenFocuses;
  return (
    <div className={css['actions']}>
      {focus.state === 'open' ? (
        <>
          <Button kind={focus.isDue ? 'primary' : 'secondary'} onClick={() => setDialog('checkIn')}>
            {t('focus.checkIn')}
          </Button>
          <Button onClick={() => setDialog('change')}>{t('focus.change')}</Button>
          <Button kind="quiet" onClick={() => setDialog('stop')}>
            {t('focus.stop')}
          </Button>
        </>
      ) : (
        !isFull && (
          <Button kind="quiet" onClick={() => setDialog('reopen')}>
            {t('focus.reopen')}
          </Button>
        )
      )}
      {dialog === 'checkIn' && <CheckInDialog focus={focus} onClose={close} />}
      {dialog === 'change' && <FocusDialog data={data} focus={focus} onClose={close} />}
      {(dialog === 'stop' || dialog === 'reopen') && (
        <NoteDialog focus={focus} kind={dialog} onClose={close} />
      )}
    </div>
  );
}

function History({ events }: { events: readonly FocusEvent[] }) {
  const t = useText();
  const { time } = useFormat();
  return (
    <details className={css['history']}>
      <summary>{t('focus.history', { count: events.length })}</summary>
      <ul>
        {events.map(({ id, kind, at, who, note, terms }) => (
          <li key={id}>
            <span className={css['soft']}>{time(at)}</span> {t(`focus.event.${kind}`)}
            {who !== null && <span className={css['soft']}> · {who}</span>}
            {note !== '' && (
              <p dir="auto" className={css['note']}>
                {note}
              </p>
            )}
            {kind === 'changed' && terms && (
              <p dir="auto" className={css['note']}>
                {terms.action}
              </p>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
