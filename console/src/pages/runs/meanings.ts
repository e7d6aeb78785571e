// What columns can be read as, in words.
import type { ColumnMeaning } from '@soundings/contract/console.runs.ts';
import { useText } from '../../text/text.tsx';

/** `firstName` is "First name", `attribute:Site` is "Attribute: Site". */
export function useMeaningWords(): (means: string) => string {
  const t = useText();
  return (means) =>
    means.startsWith('attribute:')
      ? t('files.attribute', { name: means.slice('attribute:'.length) })
      : t(`files.means.${means as ColumnMeaning | 'ignore'}`);
}
