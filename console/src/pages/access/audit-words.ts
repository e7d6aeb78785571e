// The audit log in the reader's words: what was done, and what else is told of it. What is not known is shown as it is.
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import { type TextKey, useText } from '../../text/text.tsx';

export function useAuditWords() {
  const t = useText();
  const or = (key: TextKey, otherwise: string) => {
    const words = t(key);
    return words === key ? otherwise : words;
  };
  const nameOf = (name: string) => or(`audit.detail.${name}` as TextKey, name);
  const valueOf = (value: unknown): string => {
    if (value === null || value === undefined) return '–';
    if (typeof value === 'boolean') return t(value ? 'access.on' : 'access.off');
    if (Array.isArray(value)) return value.map(valueOf).join(' ') || '–';
    if (typeof value !== 'object') return String(value);
    return Object.entries(value)
      .map(([name, one]) => `${nameOf(name)} ${valueOf(one)}`)
      .join(' ');
  };
  return {
    action: (name: string) => or(`audit.action.${name as AuditAction}`, name),
    /** In one line: "name: Reports, scopes: data"; of a change: "threshold: 5 → 7". */
    details: (details: Record<string, unknown>) =>
      Object.entries(details)
        .map(([name, value]) => {
          const change = value as { from?: unknown; to?: unknown } | null;
          const isChange = typeof value === 'object' && change !== null && 'to' in change;
          const words = isChange ? `${valueOf(change.from)} → ${valueOf(change.to)}` : valueOf(value);
          return words === '' ? nameOf(name) : `${nameOf(name)}: ${words}`;
        })
        .join(', '),
  };
}
