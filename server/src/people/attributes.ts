// Custom attributes: what a user may be given, as pure functions.
import { maxAttributeLength } from '@soundings/contract/limits.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';

/** An attribute defined on the account; without allowed values any text will do. */
export type Attribute = { name: string; allowedValues: string[] | null };

/** Why a value cannot be set for an attribute, if it cannot; null clears an attribute and always can. */
export function attributeFault(
  defined: ReadonlyMap<string, Attribute>,
  name: string,
  value: string | null,
): { type: DetailType; message: string } | undefined {
  const attribute = defined.get(name);
  if (!attribute) {
    const known = [...defined.keys()].slice(0, 20).join(', ');
    return {
      type: 'unknown attribute',
      message: `The attribute ${quote(name)} is not defined on the account; ${known ? `defined: ${known}` : 'none is'}.`,
    };
  }
  if (value === null) return undefined;
  if (value.length > maxAttributeLength) {
    return {
      type: 'too long',
      message: `A value of ${quote(name)} may have ${maxAttributeLength} characters.`,
    };
  }
  if (attribute.allowedValues === null || attribute.allowedValues.includes(value)) return undefined;
  const allowed = attribute.allowedValues.slice(0, 20).join(', ');
  return {
    type: 'value not allowed',
    message: `${quote(value)} is not a value of ${quote(name)}; allowed: ${allowed}.`,
  };
}
