// One entry of the audit log: who did it, what it is about, and a dialog with all of it.
import { type SubjectKind, subjectKindOf } from '@soundings/contract/audit-actions.ts';
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import { Link } from '@tanstack/react-router';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import css from './access.module.css';
import { useAuditText } from './audit-texts.ts';

/** The path of the page for each kind of subject. A token or KPI has no page, so the path is that of the list. */
const pages: Record<SubjectKind, (id: string) => string> = {
  person: (id) => `/people/${id}`,
  group: (id) => `/groups/${id}`,
  token: () => '/tokens',
  schedule: (id) => `/schedules/${id}`,
  question: (id) => `/questions/${id}`,
  kpi: () => '/kpis',
  run: (id) => `/runs/${id}`,
  file: (id) => `/files/${id}`,
  pull: (id) => `/pulls/${id}`,
  webhook: (id) => `/webhooks/${id}`,
};

/** The subject of an entry, linked to its page if that still exists. */
export function AuditSubject(entry: AuditEntry) {
  const subject = useAuditText().subject(entry);
  const { action, about } = entry;
  const kind = subjectKindOf(action);
  const isLink = kind !== null && about !== null;
  return (
    <span className={css['soft']} title={subject}>
      {isLink ? <Link to={pages[kind](about.id)}>{subject}</Link> : subject}
    </span>
  );
}

export function AuditWho({ who, userId, origin }: AuditEntry) {
  const t = useText();
  const name = who ?? (userId === null ? undefined : t('audit.removedUser', { id: String(userId) }));
  if (origin === 'console') return <span className={css['name']}>{name ?? t('audit.noOne')}</span>;
  return (
    <span className={css['who']}>
      <Badge>{t(`audit.origin.${origin}`)}</Badge>
      {name !== undefined && <span className={css['name']}>{name}</span>}
    </span>
  );
}

/** The whole entry. In the table, long texts are cut off, and on phones some columns are hidden. */
export function AuditEntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const t = useText();
  const { time } = useFormat();
  const texts = useAuditText();
  const details = texts.details(entry.details);
  const when = <time dateTime={entry.at}>{time(entry.at)}</time>;
  const who = <AuditWho {...entry} />;
  const subject = <AuditSubject {...entry} />;
  const lines = <Lines texts={details} />;
  const address = <code>{entry.address}</code>;
  return (
    <Dialog open wide onClose={onClose} title={texts.action(entry.action)}>
      <div className={css['entry']}>
        <DescriptionList
          items={[
            [t('audit.when'), when],
            [t('audit.who'), who],
            [t('audit.subject'), entry.subject === null ? undefined : subject],
            [t('audit.details'), details.length === 0 ? undefined : lines],
            [t('audit.address'), entry.address === null ? undefined : address],
          ]}
        />
      </div>
    </Dialog>
  );
}

const Lines = ({ texts }: { texts: string[] }) => (
  <ul>
    {texts.map((text) => (
      <li key={text}>{text}</li>
    ))}
  </ul>
);
