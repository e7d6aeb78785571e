// Texts for the audit log: actions, subjects and details. Unknown names are shown unchanged.
import { type AuditAction, auditActions, subjectKindOf } from '@soundings/contract/audit-actions.ts';
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import type { Summary } from '@soundings/contract/organization.ts';
import { useText } from '../../text/text.tsx';
import type { TextKey } from '../../text/catalogue.ts';
import { useFieldText } from '../../ui/changes.ts';

export function useAuditText() {
  const t = useText();
  const fieldTextOf = useFieldText();
  const or = (key: TextKey, otherwise: string) => {
    const text = t(key);
    return text === key ? otherwise : text;
  };
  const nameOf = (name: string) => or(`audit.detail.${name}` as TextKey, name);
  /** The summary of a run: "people: 3 created, 1 removed; groups: 2 updated". */
  const summaryOf = (summary: Summary): string =>
    (['users', 'groups'] as const)
      .map((entity) => {
        const counts = (['created', 'updated', 'deleted'] as const)
          .map((verb) => ({ verb, count: summary[entity]?.[verb] ?? 0 }))
          .filter(({ count }) => count > 0)
          .map(({ verb, count }) => t(`audit.counted.${verb}`, { count }));
        return counts.length === 0 ? '' : `${nameOf(entity)}: ${counts.join(', ')}`;
      })
      .filter((text) => text !== '')
      .join('; ') || t('audit.nothingChanged');
  /** `name`: the name of the detail, which decides how the value is shown. */
  const valueOf = (name: string, value: unknown): string => {
    if (value === null || value === undefined) return '–';
    if (typeof value === 'boolean') return t(value ? 'access.on' : 'access.off');
    if (Array.isArray(value)) return value.map((one) => valueOf(name, one)).join(', ') || '–';
    if (typeof value === 'object')
      return Object.entries(value)
        .map(([inner, one]) => `${nameOf(inner)} ${valueOf(inner, one)}`)
        .join(' ');
    if (name === 'fields') return fieldTextOf(String(value).replace(/^attributes\./, 'externalProperties.'));
    return or(`audit.value.${name}.${String(value)}` as TextKey, String(value));
  };
  const detailOf = (name: string, value: unknown): string => {
    if (name === 'summary' && typeof value === 'object' && value !== null) return summaryOf(value as Summary);
    const change = value as { from?: unknown; to?: unknown } | null;
    const isChange = typeof value === 'object' && change !== null && 'to' in change;
    const text = isChange
      ? `${valueOf(name, change.from)} → ${valueOf(name, change.to)}`
      : valueOf(name, value);
    return text === '' ? nameOf(name) : `${nameOf(name)}: ${text}`;
  };
  const actionName = (name: string) => or(`audit.action.${name as AuditAction}`, name);
  return {
    action: actionName,
    /** Returns the actions whose names in the reader's language contain a text, ignoring case. */
    actionsNamed: (part: string): string[] => {
      const wanted = part.trim().toLowerCase();
      const contains = (name: string) => actionName(name).toLowerCase().includes(wanted);
      return wanted === '' ? [] : Object.keys(auditActions).filter(contains);
    },
    /** The subject with its current name, or with its id if it no longer exists. */
    subject: ({ action, subject, about }: Pick<AuditEntry, 'action' | 'subject' | 'about'>): string => {
      if (about !== null || subject === null) return about?.name ?? '';
      const kind = subjectKindOf(action);
      if (kind === null) return subject;
      if (kind === 'person') return t('audit.removedUser', { id: subject });
      return t('audit.gone', { id: kind === 'run' ? subject.slice(-8) : subject });
    },
    /** Each detail as a text, such as "name: Reports" and "scopes: read results", or "threshold: 5 → 7" for a change. */
    details: (details: Record<string, unknown>): string[] =>
      Object.entries(details).map(([name, value]) => detailOf(name, value)),
  };
}
