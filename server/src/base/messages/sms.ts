// Parses the settings for the gateway that sends text messages: its address, its login, and the template of the request. There are
// templates for some providers; any other gateway can be described with SMS_REQUEST.
import { readJson } from '../json/escaped-keys.ts';
import { isLoopback } from './smtp.ts';

/** A part of a JSON body. Texts contain placeholders. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** How a text message is requested. Texts contain placeholders, such as {phone}. */
export type SmsRequest = {
  method: 'POST' | 'PUT';
  /** `basic`: SMS_USER and SMS_PASSWORD; `bearer`: SMS_PASSWORD. */
  auth?: 'basic' | 'bearer';
  headers: Record<string, string>;
  body: { json: Json } | { form: Record<string, string> };
};

export type SmsGateway = {
  /** The name of the template. */
  provider: string;
  /** The address, with placeholders filled in. */
  url: URL;
  /** Whether the connection is trusted without TLS and without a valid certificate. */
  isTrusted: boolean;
  request: SmsRequest;
  user: string;
  password: string;
  from: string;
  /** The key with which requests are signed (Standard Webhooks). */
  signingKey: Buffer | undefined;
  /** Whether the gateway ignores a request whose key it has received before, so that a request may be repeated. */
  isIdempotent: boolean;
};

type Template = SmsRequest & { url: string; needs: ('SMS_URL' | 'SMS_USER' | 'SMS_PASSWORD' | 'SMS_FROM')[] };

/**
 * The templates by provider, checked against what the providers document. `webhook`: a gateway of the operator, which can pass messages
 * on to a chat: it gets the person's externalId and email address, too.
 */
export const smsTemplates: Record<string, Template> = {
  twilio: {
    url: 'https://api.twilio.com/2010-04-01/Accounts/{user}/Messages.json',
    needs: ['SMS_USER', 'SMS_PASSWORD', 'SMS_FROM'],
    method: 'POST',
    auth: 'basic',
    headers: {},
    body: { form: { To: '{phone}', From: '{from}', Body: '{text}' } },
  },
  vonage: {
    url: 'https://api.nexmo.com/v1/messages',
    needs: ['SMS_USER', 'SMS_PASSWORD', 'SMS_FROM'],
    method: 'POST',
    auth: 'basic',
    headers: {},
    body: {
      json: { channel: 'sms', message_type: 'text', to: '{phoneDigits}', from: '{from}', text: '{text}' },
    },
  },
  messagebird: {
    url: 'https://rest.messagebird.com/messages',
    needs: ['SMS_PASSWORD', 'SMS_FROM'],
    method: 'POST',
    headers: { authorization: 'AccessKey {password}' },
    body: {
      json: {
        originator: '{from}',
        recipients: ['{phoneDigits}'],
        body: '{text}',
        datacoding: 'auto',
        reference: '{key}',
      },
    },
  },
  '46elks': {
    url: 'https://api.46elks.com/a1/sms',
    needs: ['SMS_USER', 'SMS_PASSWORD', 'SMS_FROM'],
    method: 'POST',
    auth: 'basic',
    headers: {},
    body: { form: { from: '{from}', to: '{phone}', message: '{text}' } },
  },
  sinch: {
    url: 'https://eu.sms.api.sinch.com/xms/v1/{user}/batches',
    needs: ['SMS_USER', 'SMS_PASSWORD', 'SMS_FROM'],
    method: 'POST',
    auth: 'bearer',
    headers: {},
    body: { json: { from: '{from}', to: ['{phone}'], body: '{text}', client_reference: '{key}' } },
  },
  webhook: {
    url: '',
    needs: ['SMS_URL'],
    method: 'POST',
    headers: { 'idempotency-key': '{key}' },
    body: {
      json: {
        id: '{key}',
        kind: '{kind}',
        phone: '{phone}',
        externalId: '{externalId}',
        email: '{email}',
        language: '{language}',
        text: '{text}',
      },
    },
  },
};

/** What can stand in a body, in a header and in the address. */
const placeholders = {
  body: ['phone', 'phoneDigits', 'text', 'key', 'externalId', 'email', 'language', 'kind', 'from', 'user'],
  header: ['key', 'from', 'user'],
  url: ['user'],
} as const;

/** Values of placeholders; null: the person has none. */
export type Values = Readonly<Record<string, string | null>>;

const placeholder = /\{(\w+)\}/g;

/** Returns a text with its placeholders filled in; null if it is a single placeholder without a value. */
export function filled(text: string, values: Values): string | null {
  const [only] = /^\{(\w+)\}$/.exec(text)?.slice(1) ?? [];
  if (only !== undefined) return values[only] ?? null;
  return text.replaceAll(placeholder, (_, name: string) => values[name] ?? '');
}

/** Returns a part of a body with its placeholders filled in. Values can't change its structure. */
export function filledJson(part: Json, values: Values): Json {
  if (typeof part === 'string') return filled(part, values);
  if (Array.isArray(part)) return part.map((one) => filledJson(one, values));
  if (part === null || typeof part !== 'object') return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, filledJson(one, values)]));
}

type SmsSettings = Record<
  | 'SMS_PROVIDER'
  | 'SMS_URL'
  | 'SMS_USER'
  | 'SMS_PASSWORD'
  | 'SMS_FROM'
  | 'SMS_REQUEST'
  | 'SMS_SIGNING_SECRET'
  | 'SMS_IDEMPOTENT',
  string
>;

/** Returns the gateway; undefined: none is configured. Adds what is wrong with the combination of the settings to `faults`. */
export function smsGatewayOf(value: SmsSettings, faults: string[]): SmsGateway | undefined {
  const { SMS_PROVIDER: provider, SMS_USER: user, SMS_PASSWORD: password, SMS_FROM: from } = value;
  const others = ['SMS_URL', 'SMS_USER', 'SMS_PASSWORD', 'SMS_FROM', 'SMS_REQUEST'] as const;
  if (provider === '') {
    const given = others.filter((name) => value[name] !== '');
    if (given.length > 0) faults.push(`${given.join(', ')} set, but SMS_PROVIDER is not. Set it as well.`);
    return undefined;
  }
  if (provider === 'custom' && value.SMS_REQUEST === '')
    faults.push('SMS_PROVIDER=custom needs SMS_REQUEST.');
  const known = Object.hasOwn(smsTemplates, provider) ? smsTemplates[provider] : undefined;
  const template = provider === 'custom' ? customTemplate(value.SMS_REQUEST) : known;
  if (!template) return undefined; // reported above or with the setting
  const missing = template.needs.filter((name) => value[name] === '');
  if (provider !== 'custom' && value.SMS_REQUEST !== '')
    faults.push('SMS_REQUEST is set, but it is only used with SMS_PROVIDER=custom. Remove one of them.');
  if (missing.length > 0) faults.push(`SMS_PROVIDER=${provider} needs ${missing.join(', ')}.`);
  const address = (value.SMS_URL || template.url).replaceAll('{user}', encodeURIComponent(user));
  const parsed = smsUrlOf(address);
  if (missing.length > 0 || !parsed) return undefined;
  const { needs: _needs, url: _url, ...request } = template;
  return {
    provider,
    ...parsed,
    request:
      request.auth === undefined && password !== '' && provider === 'webhook'
        ? { ...request, auth: 'bearer' }
        : request,
    user,
    password,
    from,
    signingKey: signingKeyOf(value.SMS_SIGNING_SECRET),
    isIdempotent: value.SMS_IDEMPOTENT === '1',
  };
}

function customTemplate(text: string): Template | undefined {
  const request = smsRequestOf(text);
  return typeof request === 'object' ? { ...request, url: '', needs: ['SMS_URL'] } : undefined;
}

/**
 * Parses https://host/path. Unencrypted http:// is possible on loopback, and with ?insecure at the end, which also accepts any certificate.
 * Returns undefined if the address is invalid.
 */
export function smsUrlOf(text: string): { url: URL; isTrusted: boolean } | undefined {
  const url = URL.parse(text.replaceAll('{user}', 'user'));
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.hash !== ''
  )
    return undefined;
  const isInsecure = url.search === '?insecure';
  const isTrusted = isInsecure || isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  if (url.protocol === 'http:' && !isTrusted) return undefined;
  if (isInsecure) url.search = '';
  return { url, isTrusted };
}

/** Headers that a template can't set: those of the connection, and those of the signature. */
const ownHeaders = /^(host|content-length|transfer-encoding|connection|content-type|webhook-.*)$/;

/**
 * Parses SMS_REQUEST: {"method": "POST", "auth": "basic", "headers": {…}, "json": {…}}, or "form" instead of "json". Returns what is wrong
 * with it if it is invalid.
 */
export function smsRequestOf(text: string): SmsRequest | string {
  const read = objectIn(text);
  if (!read) return 'a JSON object such as {"json": {"to": "{phone}", "text": "{text}"}}';
  const { method = 'POST', auth, headers = {}, json, form, ...unknown } = read;
  const [extra] = Object.keys(unknown);
  if (extra !== undefined) return `a JSON object without "${extra.slice(0, 50)}"`;
  if (method !== 'POST' && method !== 'PUT') return 'a JSON object whose method is POST or PUT';
  if (auth !== undefined && auth !== 'basic' && auth !== 'bearer')
    return 'a JSON object whose auth is basic or bearer';
  if (!isTexts(headers) || Object.entries(headers).some(([name, one]) => !isHeader(name, one)))
    return `a JSON object with valid headers (not those of the connection, Content-Type or webhook-…; placeholders: ${placeholders.header.map((one) => `{${one}}`).join(', ')}, {password})`;
  if ((json === undefined) === (form === undefined)) return 'a JSON object with either "json" or "form"';
  if (form !== undefined && !isTexts(form)) return 'a JSON object whose form has only texts';
  const body = form === undefined ? { json: json as Json } : { form: form as Record<string, string> };
  const used = placeholdersIn(form ?? json);
  const wrong = used.find((one) => !placeholders.body.includes(one as 'text') && one !== 'password');
  if (wrong !== undefined)
    return `a JSON object without {${wrong.slice(0, 50)}} (placeholders: ${placeholders.body.map((one) => `{${one}}`).join(', ')}, {password})`;
  if (!used.includes('text')) return 'a JSON object whose body contains {text}';
  return { method, ...(auth && { auth }), headers, body };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = readJson(text);
    return read !== null && typeof read === 'object' && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const isTexts = (value: unknown): value is Record<string, string> =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => typeof one === 'string');

const isHeader = (name: string, value: string) =>
  /^[\w-]+$/.test(name) &&
  !ownHeaders.test(name.toLowerCase()) &&
  /^[\x20-\x7e]*$/.test(value) &&
  placeholdersIn(value).every((one) => placeholders.header.includes(one as 'key') || one === 'password');

function placeholdersIn(part: unknown): string[] {
  if (typeof part === 'string') return [...part.matchAll(placeholder)].map(([, name]) => name as string);
  return part !== null && typeof part === 'object' ? Object.values(part).flatMap(placeholdersIn) : [];
}

/** Parses a signing secret of Standard Webhooks: whsec_ and 24 to 64 bytes in base64. Returns undefined if it is invalid. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text ?? '', 'base64');
  return text !== undefined && key.length >= 24 && key.length <= 64 ? key : undefined;
}
