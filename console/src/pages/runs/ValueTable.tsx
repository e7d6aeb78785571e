// What the values of a column mean, such as "Leave" as a status: each with how many rows have it.
import type { MappedValue, SheetColumn } from '@soundings/contract/console.runs.ts';
import { type ValueField, valueFields, type ValueMeaning, valueMeanings } from '@soundings/contract/words.ts';
import { useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Select } from '../../ui/Select.tsx';
import css from './files.module.css';
import { useValueWords } from './meanings.ts';

/** What was chosen of values, by `choiceKey`. */
export type ValueChoices = ReadonlyMap<string, ValueMeaning>;
export const choiceKey = (field: ValueField, value: string): string => `${field} ${value.toLowerCase()}`;

/** The field of a meaning of columns, where its values are words. */
export const valueFieldOf = (means: string | undefined): ValueField | undefined =>
  valueFields.find((field) => field === means);

/** What is shown of a value at first: what it means, else what it probably means. */
const firstMeaning = (value: SheetColumn['values'][number], field: ValueField) =>
  value.means[field] ?? value.proposed[field];

/** What the values of a column mean that is not known without saying it. */
export function saidOf(column: SheetColumn, field: ValueField, choices: ValueChoices): MappedValue[] {
  return column.values.flatMap((value) => {
    const means = choices.get(choiceKey(field, value.value)) ?? firstMeaning(value, field);
    return means === null || means === value.means[field] ? [] : [{ field, value: value.value, means }];
  });
}

type Props = {
  column: SheetColumn;
  field: ValueField;
  choices: ValueChoices;
  onChoose: (value: string, means: ValueMeaning) => void;
};

export function ValueTable({ column, field, choices, onChoose }: Props) {
  const t = useText();
  const words = useValueWords();
  const options = valueMeanings[field].map((value) => ({
    value: value as ValueMeaning | 'unset',
    label: words(field, value),
  }));
  const unset = { value: 'unset' as const, label: t('files.value.unset') };
  return (
    <div className={css['values']} role="group" aria-label={t('files.valuesOf', { header: column.header })}>
      <p className={css['soft']}>{t('files.valuesText')}</p>
      <ul>
        {column.values.map((value) => {
          const chosen = choices.get(choiceKey(field, value.value));
          const means = chosen ?? firstMeaning(value, field);
          const isUnknown = value.means[field] === null && chosen === undefined;
          return (
            <li key={value.value} className={css['value']}>
              <span className={css['valueName']}>
                <code>{value.value}</code>{' '}
                <span className={css['soft']}>{t('files.rows', { count: value.count })}</span>
              </span>
              <span className={css['chosen']}>
                <Select
                  label={t('files.valueMeans', { value: value.value })}
                  hideLabel
                  value={means ?? 'unset'}
                  onChange={(to) => to !== 'unset' && onChoose(value.value, to)}
                  options={firstMeaning(value, field) === null ? [unset, ...options] : options}
                />
                {isUnknown && (
                  <Badge tone="warn">{t(means === null ? 'files.unknownValue' : 'files.proposed')}</Badge>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
