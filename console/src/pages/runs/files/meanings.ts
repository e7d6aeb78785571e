// Names of the meanings of columns and values.
import type { ColumnMeaning } from '@soundings/contract/console/runs.ts';
import type { ValueField, ValueMeaning } from '@soundings/contract/people/meanings.ts';
import { useText } from '../../../text/text.tsx';

/** Returns "First name" for `firstName`, and "Attribute: Site" for `attribute:Site`. */
export function useMeaningText(): (meaning: string) => string {
  const t = useText();
  return (meaning) =>
    meaning.startsWith('attribute:')
      ? t('files.attribute', { name: meaning.slice('attribute:'.length) })
      : t(`files.meaning.${meaning as ColumnMeaning | 'ignore'}`);
}

/** Returns "Active" for the meaning `yes` of a status. */
export function useMappedValueText(): (field: ValueField, meaning: ValueMeaning) => string {
  const t = useText();
  return (field, meaning) => {
    if (meaning === 'ignore') return t('files.value.ignore');
    if (meaning === 'yes' || meaning === 'no')
      return t(field === 'active' ? `files.value.active.${meaning}` : `files.value.isManager.${meaning}`);
    return t(`role.${meaning}`);
  };
}
