// Custom attributes: which values a user can have. Pure.
import { maxAttributeLength } from '@soundings/contract/limits.ts';
import { type FieldFault, lengthFault } from '../base/field-faults.ts';
import { quote } from '../base/text.ts';

/** An attribute of the account. If `allowedValues` is null, any text is allowed. */
export type Attribute = { name: string; allowedValues: string[] | null };

/** Returns why an attribute can't have a value, or undefined if it can. Null clears an attribute and is always allowed. */
export function attributeFault(
  defined: ReadonlyMap<string, Attribute>,
  name: string,
  value: string | null,
): FieldFault | undefined {
  const attribute = defined.get(name);
  if (!attribute) {
    const known = [...defined.keys()].slice(0, 20).join(', ');
    return {
      type: 'unknown attribute',
      message: `The attribute ${quote(name)} does not exist in this account. ${known ? `Existing attributes: ${known}.` : 'Create it first.'}`,
    };
  }
  if (value === null) return undefined;
  const tooLong = lengthFault(name, value, maxAttributeLength);
  if (tooLong) return tooLong;
  if (attribute.allowedValues === null || attribute.allowedValues.includes(value)) return undefined;
  const allowed = attribute.allowedValues.slice(0, 20).join(', ');
  return {
    type: 'value not allowed',
    message: `${quote(value)} is not an allowed value for ${quote(name)}. Allowed values: ${allowed}.`,
  };
}
