// Which people of the groups a schedule asks: everyone, or those whose date in an attribute is a certain number of days away.
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { NumberField, RadioField } from '../../../ui/form/Field.tsx';
import { FieldRow, type FormState } from '../../../ui/form/Form.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import type { ScheduleDraft } from './schedule-draft.ts';

type Props = { form: FormState<ScheduleDraft> };

export function ByDateFields({ form }: Props) {
  const t = useText();
  const chooses = form.field('chooses');
  return (
    <>
      <RadioField
        {...chooses}
        label={t('asking.chooses')}
        options={(['everyone', 'byDate'] as const).map((one) => ({
          value: one,
          label: t(`asking.chooses.${one}`),
          hint: t(`asking.choosesText.${one}`),
        }))}
      />
      {chooses.value === 'byDate' && <DateFields form={form} />}
    </>
  );
}

function DateFields({ form }: Props) {
  const t = useText();
  const attribute = form.field('byDate/attribute');
  const names = (useData('GET /attributes').data?.attributes ?? []).map(({ name }) => name);
  const offered = names.includes(attribute.value) ? names : [attribute.value, ...names];
  return (
    <>
      <FieldRow>
        <SelectField
          {...attribute}
          label={t('asking.dateAttribute')}
          hint={t('asking.dateAttributeText')}
          options={offered.map((name) => ({ value: name, label: name || t('asking.chooseAttribute') }))}
        />
        <SelectField
          {...form.field('byDate/side')}
          label={t('asking.dateSide')}
          options={(['after', 'before'] as const).map((one) => ({
            value: one,
            label: t(`asking.dateSide.${one}`),
          }))}
        />
      </FieldRow>
      <FieldRow>
        <NumberField
          {...form.field('byDate/fromDays')}
          label={t('asking.fromDays')}
          min={0}
          max={1095}
          unit={(count) => t('asking.daysUnit', { count })}
        />
        <NumberField
          {...form.field('byDate/untilDays')}
          label={t('asking.untilDays')}
          min={0}
          max={1095}
          unit={(count) => t('asking.daysUnit', { count })}
        />
      </FieldRow>
      <NumberField
        {...form.field('byDate/minPeople')}
        label={t('asking.minPeople')}
        hint={t('asking.minPeopleText')}
        min={1}
        max={1000}
        unit={(count) => t('asking.peopleUnit', { count })}
      />
    </>
  );
}
