// The dialog to show results by an attribute, or by two kinds at once. It shows what would be shown before it is opened.
import type { SegmentKindRow } from '@soundings/contract/console/segments.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useRested } from '../../../hooks/rested.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { RadioField, TextField } from '../../../ui/form/Field.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { Expected } from './Expected.tsx';

type Fields = { name: string; values: 'each' | 'bands'; bands: string; one: string; other: string };

/** Returns the numbers in a text such as "30, 40, 50". Anything that isn't a number becomes 0, which the service refuses. */
const numbersIn = (text: string): number[] =>
  text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : 0));

/** Returns what the kind divides people by. `attribute`: null for a combination. */
const divisionOf = (attribute: string | null, { values, bands, one, other }: Fields) => ({
  attribute,
  bands: attribute !== null && values === 'bands' ? numbersIn(bands) : null,
  crossOf: attribute === null ? [Number(one), Number(other)] : null,
});

const usualBands = '30, 40, 50, 60';

export function OpenKindDialog({ attribute, onClose }: { attribute: string | null; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const { data } = useData('GET /segments');
  const kinds = (data?.kinds ?? []).filter(({ closedAt, crossOf }) => closedAt === null && !crossOf);
  const form = useDialogForm<Fields>({
    initial: {
      name:
        attribute ??
        kinds
          .slice(0, 2)
          .map(({ name }) => name)
          .join(' · '),
      values: 'each',
      bands: usualBands,
      one: String(kinds[0]?.id ?? ''),
      other: String(kinds[1]?.id ?? ''),
    },
    submit: (values) =>
      api('POST /segments', { body: { name: values.name.trim(), ...divisionOf(attribute, values) } }),
    done: async (_, { name }) => {
      await refresh('GET /segments');
      return t('segments.openedToast', { name: name.trim() });
    },
    onClose,
  });
  const division = divisionOf(attribute, form.values);
  const rested = useRested(division);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={attribute === null ? t('segments.combineTitle') : t('segments.openTitle', { attribute })}
      description={t('segments.openText', { minimum: data?.threshold ?? 5 })}
      confirm={t('segments.open')}
    >
      {attribute === null && <CombinedKinds kinds={kinds} form={form} />}
      <TextField
        label={t('segments.name')}
        hint={t('segments.nameHint')}
        {...form.field('name')}
        required
        autoComplete="off"
        maxLength={maxNameLength}
      />
      {attribute !== null && (
        <RadioField
          label={t('segments.values')}
          {...form.field('values')}
          options={[
            { value: 'each', label: t('segments.each') },
            { value: 'bands', label: t('segments.bands') },
          ]}
        />
      )}
      {attribute !== null && form.values.values === 'bands' && (
        <TextField
          label={t('segments.limits')}
          hint={t('segments.limitsHint')}
          {...form.field('bands')}
          required
          inputMode="numeric"
        />
      )}
      <Expected division={rested} isOld={JSON.stringify(rested) !== JSON.stringify(division)} />
    </FormDialog>
  );
}

type CombinedKindsProps = {
  kinds: readonly SegmentKindRow[];
  form: ReturnType<typeof useDialogForm<Fields>>;
};

/** The two kinds that are combined. */
function CombinedKinds({ kinds, form }: CombinedKindsProps) {
  const t = useText();
  const options = kinds.map(({ id, name }) => ({ value: String(id), label: name }));
  return (
    <>
      <SelectField label={t('segments.one')} {...form.field('one')} options={options} />
      <SelectField label={t('segments.other')} {...form.field('other')} options={options} />
    </>
  );
}
