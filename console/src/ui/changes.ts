// Names and values of changed fields of people and groups, for readers.
import { useText } from '../text/text.tsx';
import type { TextKey } from '../text/catalogue.ts';

/** Returns the name of a field: the catalogue's `change.<field>`, or an attribute's own name. */
export function useFieldText(): (field: string) => string {
  const t = useText();
  return (field) => {
    const key = `change.${field}`;
    const text = t(key as TextKey);
    return text === key ? field.replace(/^externalProperties\./, '') : text;
  };
}

/** Returns a value as text: empty, yes or no, lists with commas. */
export function useValueText(): (value: unknown) => string {
  const t = useText();
  const valueText = (value: unknown): string => {
    if (value === null || value === undefined || value === '') return t('value.empty');
    if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
    if (Array.isArray(value)) return value.length === 0 ? t('value.empty') : value.map(valueText).join(', ');
    if (typeof value === 'object')
      return Object.entries(value)
        .map(([key, one]) => `${key}: ${valueText(one)}`)
        .join(', ');
    return String(value);
  };
  return valueText;
}
