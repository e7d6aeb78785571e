// What a gateway says about a message, in a form that can be logged and shown: gateways quote the number, the text with its secret link,
// and sometimes the login. Pure.
import type { SmsGateway } from '../base/messages/sms.ts';
import { withoutAddresses } from '../sending/reasons.ts';
import type { Sms } from './sms.ts';

/** Anything that may be a phone number, however it is written. */
const numbers = /\+?\d(?:[\s().\-/]{0,3}\d){6,}/g;
/** Anything that may be a link, a token or an id, also if it is encoded. */
const tokens = /[\w+=-]{20,}/g;

/** Returns a reason as one line of at most 300 characters without phone numbers, addresses, links and secrets. */
export function withoutSecrets(
  text: string,
  { to, externalId }: Pick<Sms, 'to' | 'externalId'>,
  { user, password }: Pick<SmsGateway, 'user' | 'password'>,
): string {
  const secrets = [password, user, externalId ?? ''].filter((one) => one.length > 3);
  const plain = secrets
    .reduce((rest, one) => rest.replaceAll(one, '…'), text)
    .replaceAll('\\', '')
    .replaceAll(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(tokens, '…')
    .replaceAll(numbers, '…');
  return withoutAddresses(plain, to);
}
