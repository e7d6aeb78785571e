// Whether people can answer a question with "not applicable".
import { freeText, type QuestionType } from '@soundings/contract/question-types.ts';
import { useText } from '../../../text/text.tsx';
import { CheckboxField } from '../../../ui/form/Field.tsx';
import type { FormState } from '../../../ui/form/Form.tsx';
import { allowsNotApplicable, type Draft, tickOf } from './question-draft.ts';

export function NotApplicableField({ form, type }: { form: FormState<Draft>; type: QuestionType }) {
  const t = useText();
  if (type === freeText) return null;
  return (
    <CheckboxField
      {...form.field('allowsNotApplicable')}
      value={allowsNotApplicable(form.values, type)}
      onChange={(isOn) => form.set('allowsNotApplicable', tickOf(isOn))}
      label={t('asking.notApplicable')}
      hint={t('asking.notApplicableHint')}
    />
  );
}
