// How the service authenticates where it fetches a list. Pure.
import type { Access } from '@soundings/contract/pulls/pulls.ts';
import { faultAtField, missingField } from '../base/errors.ts';
import { enteredUrl } from '../base/outgoing/entered-url.ts';

/** The origins that may get the secret, or a token that it gives. The secret is sealed for them: for others, it can't be opened. */
export const originsOf = ({ url, access }: { url: string; access: Access }): string =>
  [url, access.tokenUrl]
    .filter((one) => one !== undefined)
    .map((one) => new URL(one).origin)
    .join(' ');

const [token, value] = [/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, /^[\t\x20-\x7e]*$/];

/** Headers that decide how the request is sent. */
const ownHeaders =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding)$/i;

const invalid = (path: string, message: string) => faultAtField('invalid', 'invalid value', path, message);

/** Returns the access without the fields of other kinds. Throws a Fault if a field is missing or invalid. */
export function checkedAccess(access: Access, networks: readonly string[]): Access {
  const required = (name: 'header' | 'user' | 'clientId'): string => {
    const text = access[name]?.trim() ?? '';
    if (text === '') throw missingField('invalid', `/access/${name}`);
    if (!value.test(text)) throw invalid(`/access/${name}`, 'Use only ASCII letters, digits and symbols.');
    return text;
  };
  switch (access.kind) {
    case 'none':
      return { kind: 'none' };
    case 'key':
      return { kind: 'key' };
    case 'header': {
      const header = required('header');
      if (!token.test(header) || ownHeaders.test(header))
        throw invalid(
          '/access/header',
          'This header can’t be used. Enter one such as Authorization or X-Api-Key.',
        );
      return { kind: 'header', header };
    }
    case 'basic': {
      const user = required('user');
      if (user.includes(':')) throw invalid('/access/user', 'A user name can’t contain a colon.');
      return { kind: 'basic', user };
    }
    case 'oauth': {
      const example = 'https://login.example.com/oauth2/token';
      const { href: tokenUrl } = enteredUrl(access.tokenUrl ?? '', networks, {
        path: '/access/tokenUrl',
        example,
      });
      const more = (['scope', 'audience', 'resource'] as const).flatMap((name) => {
        const text = access[name]?.trim() ?? '';
        return text === '' ? [] : [[name, text] as const];
      });
      const { method = 'post' } = access;
      return { kind: 'oauth', tokenUrl, clientId: required('clientId'), method, ...Object.fromEntries(more) };
    }
  }
}

/** Throws a Fault if a secret can't be sent as it is. */
export function checkSecret(access: Access, secret: string): void {
  if (access.kind === 'header' && !value.test(secret))
    throw invalid(
      '/secret',
      'The value of a header can contain only ASCII letters, digits and symbols, on one line.',
    );
}

/** Returns the headers that authenticate a request. `secret`: for oauth, the access token. */
export function accessHeaders(access: Access, secret: string): Record<string, string> {
  switch (access.kind) {
    case 'none':
      return {};
    case 'header':
      return { [access.header!.toLowerCase()]: secret };
    case 'basic':
      return { authorization: basic(access.user!, secret) };
    case 'key':
      return { authorization: basic(secret, 'x') }; // the password is ignored, but must not be empty everywhere
    case 'oauth':
      return { authorization: `Bearer ${secret}` };
  }
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Returns the headers and the body of a request for a token with client credentials (RFC 6749 §4.4). */
export function tokenRequestOf(
  { clientId = '', scope, audience, resource, method }: Access,
  secret: string,
): { headers: Record<string, string>; body: string } {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  for (const [name, text] of Object.entries({ scope, audience, resource })) if (text) form.set(name, text);
  if (method === 'post') {
    form.set('client_id', clientId);
    form.set('client_secret', secret);
  }
  // Both parts are encoded like the values of a form before they are joined (RFC 6749 §2.3.1).
  const encoded = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);
  const body = form.toString();
  return {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
      ...(method === 'basic' && { authorization: basic(encoded(clientId), encoded(secret)) }),
    },
    body,
  };
}
