// The settings of the weekly digest: the email that managers and administrators get after a week has closed.
import { workingHours } from '@soundings/contract/limits.ts';
import { useText } from '../../text/text.tsx';
import { NumberField, SwitchField } from '../../ui/form/Field.tsx';
import { FieldRow } from '../../ui/form/Form.tsx';
import { SelectField } from '../../ui/form/Select.tsx';
import type { SettingsForm } from './settings-form.ts';

const { first, last } = workingHours;
const hours = Array.from({ length: last - first + 1 }, (_, i) => String(first + i));

export function DigestFields({ form }: { form: SettingsForm }) {
  const t = useText();
  const days = form.field('digestDays');
  const hour = form.field('digestHour');
  return (
    <>
      <SwitchField label={t('settings.digest')} hint={t('settings.digestHint')} {...form.field('digest')} />
      {form.values.digest && (
        <>
          <FieldRow>
            <NumberField
              label={t('settings.digestDays')}
              hint={t('settings.digestDaysHint')}
              required
              min={0}
              max={6}
              unit={(count) => t('settings.days', { count })}
              {...days}
              onChange={(value) => days.onChange(value as number)}
            />
            <SelectField
              label={t('settings.digestHour')}
              hint={t('settings.digestHourHint')}
              options={hours.map((value) => ({ value, label: `${value.padStart(2, '0')}:00` }))}
              {...hour}
              value={String(hour.value)}
              onChange={(value) => hour.onChange(Number(value))}
            />
          </FieldRow>
          <SwitchField
            label={t('settings.digestComments')}
            hint={t('settings.digestCommentsHint')}
            {...form.field('digestComments')}
          />
        </>
      )}
    </>
  );
}
