// Fields of people and groups and their values before and after, as people read them.
import { type TextKey, useText } from '../text/text.tsx';

/** A field in words: those of the catalogue's `change.<field>`; an attribute has its own name. */
export function useFieldWords(): (field: string) => string {
  const t = useText();
  return (field) => {
    const key = `change.${field}`;
    const words = t(key as TextKey);
    return words === key ? field.replace(/^externalProperties\./, '') : words;
  };
}

/** A value in words: nothing, yes and no, lists with commas. */
export function useValueWords(): (value: unknown) => string {
  const t = useText();
  const words = (value: unknown): string => {
    if (value === null || value === undefined || value === '') return t('value.empty');
    if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
    if (Array.isArray(value)) return value.length === 0 ? t('value.empty') : value.map(words).join(', ');
    if (typeof value === 'object')
      return Object.entries(value)
        .map(([key, one]) => `${key}: ${words(one)}`)
        .join(', ');
    return String(value);
  };
  return words;
}
