// What a user of a directory becomes in Soundings. Values that Soundings can't use are left out, so that one of them never stops the
// others. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts';
import { isEmail, isLanguage, isTimeZone, normalisePhone } from '@soundings/contract/formats.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import type { User } from '@soundings/contract/organization.ts';
import { type Attribute, attributeFault } from '../../people/attributes.ts';
import { caseless } from '../protocol/evaluate.ts';
import { enterpriseSchema } from '../protocol/schemas.ts';

const textOf = (value: JsonValue | undefined): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
};

/** Returns the person for a user, without groups. `active`: whether the person is active, which may wait for approval. */
export function personFrom(
  personKey: string,
  resource: JsonObject,
  active: boolean,
  attributes: ReadonlyMap<string, Attribute>,
): User {
  const zone = textOf(resource['timezone']);
  const language = languageOf(resource);
  const externalProperties = propertiesOf(resource, attributes);
  return {
    externalId: personKey,
    ...namesOf(resource),
    email: emailOf(resource),
    phone: phoneOf(resource),
    active,
    ...(zone !== undefined && isTimeZone(zone) && { timezone: zone }),
    ...(language !== undefined && { language }),
    ...(Object.keys(externalProperties).length > 0 && { externalProperties }),
  };
}

/** Returns the name for display of a user. */
export function displayNameOf(resource: JsonObject): string {
  const { firstName, lastName } = namesOf(resource);
  return `${firstName} ${lastName}`.trim();
}

function namesOf(resource: JsonObject): { firstName: string; lastName: string } {
  const name = isJsonObject(resource['name']) ? resource['name'] : {};
  const [given, family] = [textOf(name['givenName']), textOf(name['familyName'])];
  if (given !== undefined || family !== undefined)
    return { firstName: bounded(given ?? ''), lastName: bounded(family ?? '') };
  const whole =
    textOf(resource['displayName']) ?? textOf(name['formatted']) ?? textOf(resource['userName']) ?? '';
  const [, first = whole, last = ''] = /^(.*\S)\s+(\S+)$/s.exec(whole) ?? [];
  return { firstName: bounded(first), lastName: bounded(last) };
}

const bounded = (text: string): string => [...text].slice(0, maxNameLength).join('');

/** Returns the values of a multi-valued attribute, those of the preferred types first, and of these the primary one first. */
function valuesOf(list: JsonValue | undefined, types: readonly string[]): string[] {
  const rank = (one: JsonObject) => {
    const at = types.indexOf(String(one['type'] ?? '').toLowerCase());
    return (at < 0 ? types.length : at) * 2 + (one['primary'] === true ? 0 : 1);
  };
  return (Array.isArray(list) ? list : [])
    .filter(isJsonObject)
    .toSorted((a, b) => rank(a) - rank(b))
    .flatMap((one) => textOf(one['value']) ?? []);
}

/** The work address, or another one; otherwise a userName that is an address. */
export function emailOf(resource: JsonObject): string | null {
  const found = valuesOf(resource['emails'], ['work']).find(isEmail);
  const userName = textOf(resource['userName']);
  return found ?? (userName !== undefined && isEmail(userName) ? userName : null);
}

const phoneOf = (resource: JsonObject): string | null =>
  valuesOf(resource['phoneNumbers'], ['mobile', 'work']).flatMap((one) => normalisePhone(one) ?? [])[0] ??
  null;

function languageOf(resource: JsonObject): string | undefined {
  return [resource['preferredLanguage'], resource['locale']]
    .flatMap((one) => /^[a-z]{2}(?=$|[-_])/i.exec(textOf(one) ?? '')?.[0].toLowerCase() ?? [])
    .find(isLanguage);
}

/** The attributes of a user that can become attributes of the account, if it has one of the same name. */
const mapped = [
  'title',
  'userType',
  'employeeNumber',
  'costCenter',
  'organization',
  'division',
  'department',
] as const;

function propertiesOf(
  resource: JsonObject,
  attributes: ReadonlyMap<string, Attribute>,
): Record<string, string | null> {
  const enterprise = isJsonObject(resource[enterpriseSchema]) ? resource[enterpriseSchema] : {};
  const properties: Record<string, string | null> = {};
  for (const name of attributes.keys()) {
    const own = mapped.find((one) => caseless(one) === caseless(name.replaceAll(/[\s_-]/g, '')));
    if (own === undefined) continue;
    const value = textOf(resource[own]) ?? textOf(enterprise[own]) ?? null;
    if (value === null || !attributeFault(attributes, name, value)) properties[name] = value;
  }
  return properties;
}
