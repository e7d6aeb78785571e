// The dialog to show results by an attribute, or by two open breakdowns together. It shows what would be shown before it is opened.
import type { BreakdownRow } from '@soundings/contract/console/results/segments.ts';
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

/** Returns what the breakdown divides people by. `attribute`: null for a combination. */
const divisionOf = (attribute: string | null, { values, bands, one, other }: Fields) => ({
  attribute,
  bands: attribute !== null && values === 'bands' ? numbersIn(bands) : null,
  crossOf: attribute === null ? [Number(one), Number(other)] : null,
});

const usualBands = '30, 40, 50, 60';

export function OpenBreakdownDialog({
  attribute,
  onClose,
}: {
  attribute: string | null;
  onClose: () => void;
}) {
  const t = useText();
  const refresh = useRefresh();
  const { data } = useData('GET /breakdowns');
  const breakdowns = (data?.breakdowns ?? []).filter(
    ({ closedAt, crossOf }) => closedAt === null && !crossOf,
  );
  const form = useDialogForm<Fields>({
    initial: {
      name:
        attribute ??
        breakdowns
          .slice(0, 2)
          .map(({ name }) => name)
          .join(' · '),
      values: 'each',
      bands: usualBands,
      one: String(breakdowns[0]?.id ?? ''),
      other: String(breakdowns[1]?.id ?? ''),
    },
    submit: (values) =>
      api('POST /breakdowns', { body: { name: values.name.trim(), ...divisionOf(attribute, values) } }),
    done: async (_, { name }) => {
      await refresh('GET /breakdowns');
      return t('breakdowns.openedToast', { name: name.trim() });
    },
    onClose,
  });
  const division = divisionOf(attribute, form.values);
  const rested = useRested(division);
  return (
    <FormDialog form={form} onClose={onClose} {...textsOf(attribute, data?.threshold ?? 5, t)}>
      {attribute === null && <CombinedBreakdowns breakdowns={breakdowns} form={form} />}
      <TextField
        label={t('breakdowns.name')}
        hint={t('breakdowns.nameHint')}
        {...form.field('name')}
        required
        autoComplete="off"
        maxLength={maxNameLength}
      />
      {attribute !== null && (
        <RadioField
          label={t('breakdowns.values')}
          {...form.field('values')}
          options={[
            { value: 'each', label: t('breakdowns.each') },
            { value: 'bands', label: t('breakdowns.bands') },
          ]}
        />
      )}
      {attribute !== null && form.values.values === 'bands' && (
        <TextField
          label={t('breakdowns.limits')}
          hint={t('breakdowns.limitsHint')}
          {...form.field('bands')}
          required
          inputMode="numeric"
        />
      )}
      <Expected division={rested} isOld={JSON.stringify(rested) !== JSON.stringify(division)} />
    </FormDialog>
  );
}

function textsOf(attribute: string | null, minimum: number, t: ReturnType<typeof useText>) {
  return attribute === null
    ? {
        title: t('breakdowns.combineTitle'),
        description: t('breakdowns.combineText', { minimum }),
        confirm: t('breakdowns.combineOpen'),
      }
    : {
        title: t('breakdowns.openTitle', { attribute }),
        description: t('breakdowns.openText', { minimum }),
        confirm: t('breakdowns.open'),
      };
}

type CombinedBreakdownsProps = {
  breakdowns: readonly BreakdownRow[];
  form: ReturnType<typeof useDialogForm<Fields>>;
};

/** The two breakdowns that are combined. */
function CombinedBreakdowns({ breakdowns, form }: CombinedBreakdownsProps) {
  const t = useText();
  const options = breakdowns.map(({ id, name }) => ({ value: String(id), label: name }));
  return (
    <>
      <SelectField label={t('breakdowns.one')} {...form.field('one')} options={options} />
      <SelectField label={t('breakdowns.other')} {...form.field('other')} options={options} />
    </>
  );
}
