// The meanings of a column's values, such as "Leave" as a status, each with its number of rows.
import type { MappedValue, SheetColumn } from '@soundings/contract/console/runs.ts';
import {
  type ValueField,
  valueFields,
  type ValueMeaning,
  valueMeanings,
} from '@soundings/contract/people/meanings.ts';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { useMappedValueText } from './meanings.ts';
import css from './files.module.css';

/** The chosen meanings by `choiceKey`. */
export type ValueChoices = ReadonlyMap<string, ValueMeaning>;
export const choiceKey = (field: ValueField, value: string): string => `${field} ${value.toLowerCase()}`;

/** Returns the field of a column's meaning, if its values can be mapped. */
export const valueFieldOf = (meaning: string | undefined): ValueField | undefined =>
  valueFields.find((field) => field === meaning);

type Value = SheetColumn['values'][number];

/** Returns the chosen meaning of a value, or else its known meaning; null: unknown. */
const meaningOf = (value: Value, field: ValueField, choices: ValueChoices): ValueMeaning | null =>
  choices.get(choiceKey(field, value.value)) ?? value.meaning[field];

/**
 * Returns the chosen meanings of a column's values that differ from the known ones. Suggestions don't count until they are chosen,
 * because a role gives a person access.
 */
export function changedMeanings(
  column: SheetColumn,
  field: ValueField,
  choices: ValueChoices,
): MappedValue[] {
  return column.values.flatMap((value) => {
    const meaning = meaningOf(value, field, choices);
    return meaning === null || meaning === value.meaning[field]
      ? []
      : [{ field, value: value.value, meaning }];
  });
}

/** How many values are shown for a column with too many: the most frequent unknown ones. */
const mostShown = 40;

function shownOf({ values, valueCount }: SheetColumn, field: ValueField): Value[] {
  return values.length === valueCount
    ? values
    : values.filter(({ meaning }) => meaning[field] === null).slice(0, mostShown);
}

type Props = {
  column: SheetColumn;
  field: ValueField;
  choices: ValueChoices;
  onChoose: (value: string, meaning: ValueMeaning) => void;
};

export function ValueTable({ column, field, choices, onChoose }: Props) {
  const t = useText();
  const valueText = useMappedValueText();
  const options = valueMeanings[field].map((value) => ({
    value: value as ValueMeaning | 'unset',
    label: valueText(field, value),
  }));
  const unset = { value: 'unset' as const, label: t('files.value.unset') };
  const values = shownOf(column, field);
  const suggested = values.filter(
    (value) => meaningOf(value, field, choices) === null && value.proposed[field] !== null,
  );
  return (
    <div className={css['values']} role="group" aria-label={t('files.valuesOf', { header: column.header })}>
      <p className={css['soft']}>{t('files.valuesText')}</p>
      <Omitted column={column} shown={values.length} />
      {suggested.length > 0 && (
        <Button
          onClick={() => {
            for (const { value, proposed } of suggested) onChoose(value, proposed[field] as ValueMeaning);
          }}
        >
          {t('files.useSuggestions', { count: suggested.length })}
        </Button>
      )}
      <ul>
        {values.map((value) => {
          const meaning = meaningOf(value, field, choices);
          const proposed = value.proposed[field];
          return (
            <li key={value.value} className={css['value']}>
              <span className={css['valueName']}>
                <code>{value.value}</code>{' '}
                <span className={css['soft']}>{t('files.rows', { count: value.count })}</span>
              </span>
              <span className={css['chosen']}>
                <Select
                  label={t('files.meaningOfValue', { value: value.value })}
                  hideLabel
                  value={meaning ?? 'unset'}
                  onChange={(to) => to !== 'unset' && onChoose(value.value, to)}
                  // The options are the same before and after the choice, because the list is still open at that moment.
                  options={value.meaning[field] === null ? [unset, ...options] : options}
                />
                {meaning === null && (
                  <Badge tone="warn">
                    {proposed === null
                      ? t('files.unknownValue')
                      : t('files.proposed', { meaning: valueText(field, proposed) })}
                  </Badge>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Explains that a column has more values than are shown, and what to do about the others. */
function Omitted({ column: { valueCount, values }, shown }: { column: SheetColumn; shown: number }) {
  const t = useText();
  if (valueCount === null) return <p>{t('files.valuesUncounted')}</p>;
  if (values.length === valueCount) return null;
  return (
    <p>{t(shown === 0 ? 'files.valuesAllKnown' : 'files.valuesOmitted', { count: valueCount, shown })}</p>
  );
}
