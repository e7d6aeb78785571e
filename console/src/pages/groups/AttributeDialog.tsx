// The dialog to define an attribute or change its allowed values. It shows how many people have values that would not be allowed.
import type { AttributeRow } from '@soundings/contract/console/groups.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import { Plus } from 'lucide-react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useRested } from '../../hooks/rested.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../ui/dialog/FormDialog.tsx';
import { RadioField, TextField } from '../../ui/form/Field.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import css from './GroupPage.module.css';

/** Returns the values in a text, one per line. */
const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

type Fields = { name: string; kind: 'any' | 'some'; allowedValues: string };

const bodyOf = ({ name, kind, allowedValues }: Fields) => ({
  name: name.trim(),
  allowedValues: kind === 'any' ? null : linesOf(allowedValues),
});

type DialogProps = { attribute: AttributeRow | undefined; onClose: () => void };

function useAttributeForm({ attribute, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  return useDialogForm<Fields>({
    initial: {
      name: attribute?.name ?? '',
      kind: attribute && attribute.allowedValues === null ? 'any' : 'some',
      allowedValues: attribute?.allowedValues?.join('\n') ?? '',
    },
    submit: (values) => api(attribute ? 'PATCH /attributes' : 'POST /attributes', { body: bodyOf(values) }),
    done: async (_, { name }) => {
      await refresh('GET /attributes', 'POST /attributes/strays');
      return t(attribute ? 'attributes.changed' : 'attributes.added', { name: name.trim() });
    },
    onClose,
  });
}

export function AttributeDialog({ attribute, onClose }: DialogProps) {
  const t = useText();
  const form = useAttributeForm({ attribute, onClose });
  const { kind, allowedValues } = form.values;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={attribute ? attribute.name : t('attributes.add')}
      description={t(attribute ? 'attributes.noRename' : 'attributes.addText')}
      confirm={t(attribute ? 'action.save' : 'attributes.add')}
    >
      {!attribute && (
        <TextField
          label={t('attributes.name')}
          hint={t('attributes.nameHint')}
          {...form.field('name')}
          required
          autoFocus
          autoComplete="off"
          maxLength={maxNameLength}
        />
      )}
      <RadioField
        label={t('attributes.values')}
        {...form.field('kind')}
        options={[
          { value: 'some', label: t('attributes.some') },
          { value: 'any', label: t('attributes.any') },
        ]}
      />
      {kind === 'some' && (
        <TextField
          label={t('attributes.allowed')}
          hint={t('attributes.allowedHint')}
          {...form.field('allowedValues')}
          multiline={6}
          required
        />
      )}
      {attribute && attribute.people > 0 && (
        <Effect
          attribute={attribute}
          kind={kind}
          wanted={linesOf(allowedValues)}
          onAdd={(value) => form.set('allowedValues', [...linesOf(allowedValues), value].join('\n'))}
        />
      )}
    </FormDialog>
  );
}

type EffectProps = {
  attribute: AttributeRow;
  kind: 'any' | 'some';
  wanted: string[];
  onAdd: (value: string) => void;
};

/** Shows how many people have values that would not be allowed. Each of these values can be added. */
function Effect({ attribute: { name }, kind, wanted, onAdd }: EffectProps) {
  const t = useText();
  const { number } = useFormat();
  const allowedValues = useRested(kind === 'some' ? wanted : []);
  const { data } = useData(
    'POST /attributes/strays',
    { body: { name, allowedValues } },
    { when: kind === 'some' },
  );
  if (kind === 'any' || !data || data.people === 0) return null;
  return (
    <Notice tone="warn" title={t('attributes.wouldStray', { count: data.people })}>
      <div className={css['used']}>
        <span>{t('attributes.strayText')}</span>
        <ul>
          {data.values
            .filter(({ value }) => !wanted.includes(value))
            .map(({ value, people }) => (
              <li key={value}>
                <button type="button" className={css['allow']} onClick={() => onAdd(value)}>
                  <Plus aria-hidden size={13} /> {value} ({number(people)})
                </button>
              </li>
            ))}
        </ul>
      </div>
    </Notice>
  );
}
