// The details of a change: each field before and after.
import type { Run, RunChange } from '@soundings/contract/console/runs.ts';
import { useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { useFieldText, useValueText } from '../../ui/changes.ts';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import css from './runs.module.css';

type Props = { change: RunChange | undefined; run: Run; onClose: () => void };

export function ChangeDialog({ change, run, onClose }: Props) {
  const t = useText();
  if (!change) return null;
  const { name, externalId, entity, action, fields = {} } = change;
  const isDone = run.outcome === 'applied';
  return (
    <Dialog
      open
      onClose={onClose}
      wide={Object.keys(fields).length > 0}
      title={name ?? externalId}
      description={
        <span className={css['subtitle']}>
          <code>{externalId}</code>
          {entity === 'group' && <Badge>{t('runs.group')}</Badge>}
          <span>{isDone ? t(`runs.was.${action}`) : t(`runs.would.${action}`)}</span>
        </span>
      }
    >
      {Object.keys(fields).length > 0 && <FieldTable fields={fields} />}
    </Dialog>
  );
}

function FieldTable({ fields }: { fields: NonNullable<RunChange['fields']> }) {
  const t = useText();
  const fieldTextOf = useFieldText();
  const valueTextOf = useValueText();
  return (
    <table className={css['fieldTable']}>
      <thead>
        <tr>
          <th scope="col">{t('runs.field')}</th>
          <th scope="col">{t('runs.before')}</th>
          <th scope="col">{t('runs.after')}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(fields).map(([field, { from, to }]) => (
          <tr key={field}>
            <th scope="row">{fieldTextOf(field)}</th>
            <td>
              <del className={css['before']}>{valueTextOf(from)}</del>
            </td>
            <td>
              <ins className={css['after']}>{valueTextOf(to)}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
