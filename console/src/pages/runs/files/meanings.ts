// Names of the meanings of columns and values.
import type { ColumnMeaning } from '@soundings/contract/console/runs.ts';
import type { ValueField, ValueMeaning } from '@soundings/contract/shared-values.ts';
import { useText } from '../../../text/text.tsx';

/** Returns "First name" for `firstName`, and "Attribute: Site" for `attribute:Site`. */
export function useMeaningText(): (means: string) => string {
  const t = useText();
  return (means) =>
    means.startsWith('attribute:')
      ? t('files.attribute', { name: means.slice('attribute:'.length) })
      : t(`files.means.${means as ColumnMeaning | 'ignore'}`);
}

/** Returns "Active" for `yes` of a status. */
export function useMappedValueText(): (field: ValueField, means: ValueMeaning) => string {
  const t = useText();
  return (field, means) => {
    if (means === 'ignore') return t('files.value.ignore');
    if (means === 'yes' || means === 'no')
      return t(field === 'active' ? `files.value.active.${means}` : `files.value.isManager.${means}`);
    return t(`role.${means}`);
  };
}
