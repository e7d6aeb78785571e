// The fields of a schedule: questions, audience, timing and reminder.
import type { Library } from '@soundings/contract/console/asking.ts';
import { useText } from '../../../text/text.tsx';
import {
  CheckboxField,
  DateField,
  NumberField,
  RadioField,
  SwitchField,
  TextField,
} from '../../../ui/form/Field.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { FieldRow, type FormState } from '../../../ui/form/Form.tsx';
import { GroupCombobox } from '../../../ui/form/group-combobox/GroupCombobox.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { FieldError } from '../FieldError.tsx';
import { QuestionPicker } from '../questions/QuestionPicker.tsx';
import { ByDateFields } from './ByDateFields.tsx';
import type { ScheduleDraft } from './schedule-draft.ts';
import { useDays, useKpiName } from '../texts.ts';
import css from '../asking.module.css';

type Props = { form: FormState<ScheduleDraft>; library: Library };

export function ScheduleFields({ form, library }: Props) {
  const t = useText();
  return (
    <>
      <Section title={t('asking.what')}>
        <TextField {...form.field('name')} label={t('asking.name')} hint={t('asking.nameText')} required />
        <What form={form} library={library} />
      </Section>
      <Section title={t('asking.audience')}>
        <GroupCombobox
          multiple
          {...form.field('groupIds')}
          label={t('asking.groups')}
          hint={t('asking.groupsText')}
        />
        <GroupCombobox
          multiple
          optional
          {...form.field('withoutGroupIds')}
          label={t('asking.without')}
          hint={t('asking.withoutText')}
        />
        <ByDateFields form={form} />
      </Section>
      <Section title={t('asking.when')} description={t('asking.whenText')}>
        <When form={form} />
      </Section>
      <Section title={t('asking.reminder')} description={t('asking.reminderText')}>
        <Reminder form={form} />
      </Section>
    </>
  );
}

function What({ form, library }: Props) {
  const t = useText();
  const kind = form.field('kind');
  return (
    <>
      <RadioField
        {...kind}
        label={t('asking.asks')}
        options={(['kpis', 'fixed'] as const).map((one) => ({
          value: one,
          label: t(`asking.kind.${one}`),
          hint: t(`asking.kindText.${one}`),
        }))}
      />
      {kind.value === 'fixed' ? (
        <QuestionPicker
          {...form.field('questionIds')}
          label={t('asking.questionsLabel')}
          questions={library.questions}
          isOrdered
        />
      ) : (
        <FromKpis form={form} library={library} />
      )}
    </>
  );
}

function FromKpis({ form, library }: Props) {
  const t = useText();
  const { value, onChange, error } = form.field('kpiIds');
  const none = form.field('questionIds').error;
  const kpiName = useKpiName();
  const live = (id: string) =>
    library.questions.filter(({ kpiIds, isRetired }) => !isRetired && kpiIds.includes(id)).length;
  return (
    <>
      <fieldset className={css['choices']}>
        <legend className={css['label']}>{t('asking.kpis')}</legend>
        {library.kpis.map(({ id, ...kpi }) => (
          <CheckboxField
            key={id}
            label={`${kpiName({ id, ...kpi })} (${live(id)})`}
            value={value.includes(id)}
            onChange={(isOn) => onChange(isOn ? [...value, id] : value.filter((one) => one !== id))}
          />
        ))}
        <FieldError error={error ?? none} />
      </fieldset>
      <FieldRow>
        <NumberField
          {...form.field('perWeek')}
          label={t('asking.perWeek')}
          min={1}
          max={50}
          unit={(count) => t('asking.questionsUnit', { count })}
        />
        <NumberField
          {...form.field('everyWeeks')}
          label={t('asking.everyWeeksLabel')}
          hint={t('asking.everyWeeksText')}
          min={1}
          max={104}
          unit={(count) => t('asking.weeksUnit', { count })}
        />
      </FieldRow>
    </>
  );
}

const hours = Array.from({ length: 24 }, (_, hour) => hour);
const weekdays = [1, 2, 3, 4, 5, 6, 7];

/**
 * Returns the hours and weekdays to offer. Nights and weekends are offered only if any hour is allowed, or if they are already
 * chosen.
 */
function useTimes(form: Props['form']) {
  const days = useDays();
  const { anyHour, weekday, hour, reminderHour } = form.values;
  const isOffered = (one: number, chosen: number) => anyHour || one === chosen || (one >= 8 && one <= 19);
  return {
    weekdays: weekdays
      .filter((one) => anyHour || one <= 5 || one === weekday)
      .map((one) => ({ value: String(one), label: days.weekday(one) })),
    hours: (chosen: number) =>
      hours
        .filter((one) => isOffered(one, chosen))
        .map((one) => ({ value: String(one), label: days.hour(one) })),
    hour,
    reminderHour,
  };
}

function When({ form }: { form: Props['form'] }) {
  const t = useText();
  const times = useTimes(form);
  const weekday = form.field('weekday');
  const hour = form.field('hour');
  const repeat = form.field('repeat');
  return (
    <>
      <FieldRow>
        <SelectField
          {...repeat}
          label={t('asking.repeat')}
          options={(['weeks', 'monthly', 'once'] as const).map((one) => ({
            value: one,
            label: t(`asking.repeat.${one}`),
          }))}
        />
        {repeat.value === 'weeks' && (
          <NumberField
            {...form.field('repeatWeeks')}
            label={t('asking.repeatEvery')}
            min={1}
            max={52}
            unit={(count) => t('asking.weeksUnit', { count })}
          />
        )}
      </FieldRow>
      <FieldRow>
        <SelectField
          {...weekday}
          value={String(weekday.value)}
          onChange={(value) => weekday.onChange(Number(value))}
          label={t('asking.weekday')}
          options={times.weekdays}
        />
        <SelectField
          {...hour}
          value={String(hour.value)}
          onChange={(value) => hour.onChange(Number(value))}
          label={t('asking.hour')}
          options={times.hours(hour.value)}
        />
      </FieldRow>
      <SwitchField {...form.field('anyHour')} label={t('asking.anyHour')} hint={t('asking.anyHourText')} />
      <FieldRow>
        <DateField {...form.field('fromDay')} label={t('asking.from')} required />
        <DateField
          {...form.field('untilDay')}
          label={t('asking.until')}
          optional
          hint={t('asking.untilText')}
        />
      </FieldRow>
    </>
  );
}

function Reminder({ form }: { form: Props['form'] }) {
  const t = useText();
  const times = useTimes(form);
  const days = form.field('reminderDays');
  const hour = form.field('reminderHour');
  const has = form.field('hasReminder');
  return (
    <>
      <SwitchField {...has} label={t('asking.remind')} />
      {has.value && (
        <FieldRow>
          <SelectField
            {...days}
            value={String(days.value)}
            onChange={(value) => days.onChange(Number(value))}
            label={t('asking.reminderDays')}
            options={[0, 1, 2, 3, 4, 5, 6].map((one) => ({
              value: String(one),
              label: one === 0 ? t('asking.sameDay') : t('asking.daysLater', { count: one }),
            }))}
          />
          <SelectField
            {...hour}
            value={String(hour.value)}
            onChange={(value) => hour.onChange(Number(value))}
            label={t('asking.hour')}
            options={times.hours(hour.value)}
          />
        </FieldRow>
      )}
    </>
  );
}
