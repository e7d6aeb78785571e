// What the service refused, in the reader's words where the catalogue has them.
import { ApiError } from '../api.ts';
import { PartMissing } from '../plumbing/parts.ts';
import { type TextKey, useText } from '../text/text.tsx';

/**
 * Words for one fault: those of the catalogue's `fault.<type>`, else the server's own. A text may hold both: `{message}`. Where
 * it is one of several values that is wrong, the words begin with it.
 */
export function useFaultWords(): (fault: { type: string; message: string; value?: string }) => string {
  const t = useText();
  return ({ type, message, value }) => {
    const key = `fault.${type}`;
    const words = t(key as TextKey, { message });
    if (words === key) return message || t('error.title');
    return value === undefined || words.includes(value) ? words : `${value}: ${words}`;
  };
}

/** Words for a whole error: what could not be reached, or what the service said, with the id to report it by. */
export function useErrorWords(): (error: unknown) => string {
  const t = useText();
  const words = useFaultWords();
  return (error) => {
    if (error instanceof PartMissing) return t('error.updated');
    if (!(error instanceof ApiError)) return t('error.unexpected');
    if (error.status === 0) return t('error.offline');
    const first = error.problem.details[0];
    const text = first ? words(first) : error.message;
    return error.status >= 500 && error.problem.id && first?.type !== 'unavailable'
      ? `${t('error.unexpected')} ${t('error.id', { id: error.problem.id })}`
      : text;
  };
}
