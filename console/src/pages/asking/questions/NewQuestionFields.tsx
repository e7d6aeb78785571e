// The fields of a new question besides its texts: type, language, key and KPI. They can't be changed later.
import type { Library } from '@soundings/contract/console/asking.ts';
import { isScaled, questionTypes } from '@soundings/contract/question-types.ts';
import { useEffect, useState } from 'react';
import { useText } from '../../../text/text.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { FieldRow, type FormState } from '../../../ui/form/Form.tsx';
import { useKpiName } from '../texts.ts';
import { questionKeyOf } from './question-key.ts';
import { type Draft, type DraftShape, typeOf, withBase } from './question-draft.ts';
import { useLanguageNames } from '../../../text/languages.ts';

type Props = {
  form: FormState<Draft>;
  shape: DraftShape;
  setShape: (shape: DraftShape) => void;
  library: Library;
};

export function TypeFields({ form, shape, setShape }: Omit<Props, 'library'>) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  return (
    <FieldRow>
      <SelectField
        {...form.field('type')}
        value={String(typeOf(form.values))}
        label={t('asking.type')}
        hint={t('asking.typeFixed')}
        options={questionTypes.map((one) => ({
          value: String(one),
          label: t(`questionType.${one}`),
          hint: t(`asking.typeText.${one}`),
        }))}
      />
      <SelectField
        label={t('asking.baseLanguage')}
        hint={t('asking.baseLanguageText')}
        value={shape.base}
        onChange={(base) => {
          for (const [name, text] of Object.entries(withBase(form.values, shape, base))) form.set(name, text);
          setShape({ ...shape, base });
        }}
        options={shape.languages.map((code) => ({ value: code, label: nameOf(code) }))}
      />
    </FieldRow>
  );
}

export function KeyFields({ form, library }: Pick<Props, 'form' | 'library'>) {
  const t = useText();
  const kpiName = useKpiName();
  const { value: kpi = '', ...kpiField } = form.field('kpi');
  return (
    <FieldRow>
      <KeyField form={form} />
      {isScaled(typeOf(form.values)) && (
        <SelectField
          {...kpiField}
          value={kpi}
          label={t('asking.kpi')}
          hint={t('asking.kpiText')}
          options={[
            { value: '', label: t('asking.noKpi') },
            ...library.kpis.map((one) => ({ value: one.id, label: kpiName(one) })),
          ]}
        />
      )}
    </FieldRow>
  );
}

/** The field for the key. A key is suggested from the text until the user types another. */
function KeyField({ form }: { form: FormState<Draft> }) {
  const t = useText();
  const [suggested, setSuggested] = useState('');
  const { value = '', ...field } = form.field('key');
  const fromText = questionKeyOf(form.values['text'] ?? '');
  const { set } = form;
  useEffect(() => {
    setSuggested(fromText);
    if (value === suggested && value !== fromText) set('key', fromText);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a change of the text suggests another key
  }, [fromText]);
  return <TextField {...field} value={value} label={t('asking.keyLabel')} hint={t('asking.keyText')} mono />;
}
