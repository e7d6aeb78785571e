// Error messages for the reader: from the catalogue, or else from the service.
import { ApiError } from '../api.ts';
import { NotLoaded } from '../hooks/load-on-demand.ts';
import { useText } from '../text/text.tsx';
import type { TextKey } from '../text/catalogue.ts';

/**
 * Returns the message for a fault: the catalogue's `fault.<type>`, or else the service's own. A catalogue text can include the
 * service's message with `{message}`, and its value with `{value}`. If one of several values is wrong, the message begins with that value.
 */
export function useFaultText(): (fault: { type: string; message: string; value?: string }) => string {
  const t = useText();
  return ({ type, message, value }) => {
    const key = `fault.${type}`;
    const facts = { message, value: value ?? '' };
    const text = t(key as TextKey, facts);
    if (text === key) return message || t('error.title');
    return value === undefined || text.includes(value) ? text : `${value}: ${text}`;
  };
}

/** Returns the message for an error: the connection failed, or what the service reported, with the id for bug reports. */
export function useErrorText(): (error: unknown) => string {
  const t = useText();
  const faultText = useFaultText();
  return (error) => {
    if (error instanceof NotLoaded) return t('error.updated');
    if (!(error instanceof ApiError)) return t('error.unexpected');
    if (error.status === 0) return t('error.offline');
    const first = error.problem.details[0];
    const text = first ? faultText(first) : error.message;
    return error.status >= 500 && error.problem.id && first?.type !== 'unavailable'
      ? `${t('error.unexpected')} ${t('error.id', { id: error.problem.id })}`
      : text;
  };
}
