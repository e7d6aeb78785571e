// Reads the bodies of the console's requests: JSON, parsed as strictly as organization requests and checked against the schema of
// the operation. Reports every invalid field with a message that a person who filled in a form can act on. Pure.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../../base/errors.ts';
import { fieldNameAt, missing, notOneOf, tooLong } from '../../base/field-faults.ts';
import { parseJson } from '../../base/json/json.ts';

type Found = { keyword: string; instancePath: string; params: Record<string, unknown>; message: string };

/** Returns a reader for bodies of a schema. The reader throws a Fault that lists every invalid field. */
export function bodyReader(schema: TSchema): (bytes: Buffer | undefined) => unknown {
  const check = Compile(schema);
  return (bytes) => {
    const read = parseJson(bytes ?? Buffer.alloc(0));
    if ('fault' in read) {
      throw new Fault('invalid', read.fault.type as DetailType, read.fault.message, {
        details: [read.fault],
      });
    }
    if (check.Check(read.value)) return read.value;
    const details = (check.Errors(read.value) as Found[]).flatMap(detailsOf);
    throw new Fault('invalid', 'invalid value', details[0]?.message ?? 'The body is not valid.', {
      details: details.slice(0, 100),
    });
  };
}

function detailsOf({ keyword, instancePath: path, params, message: problem }: Found): Detail[] {
  const one = (type: DetailType, message: string): Detail[] => [{ type, message, path }];
  const limit = String(params['limit']);
  switch (keyword) {
    case 'required':
      return (params['requiredProperties'] as string[]).map((name) => ({
        ...missing(name),
        path: `${path}/${name}`,
      }));
    case 'boolean':
      return one('unknown field', 'Unknown field.');
    case 'additionalProperties': // each unknown field has its own fault
      return [];
    case 'type':
      return one('wrong type', `This must be of the type ${String(params['type'])}.`);
    case 'maxLength':
      return [{ ...tooLong(fieldNameAt(path), Number(limit)), path }];
    case 'minLength':
      return limit === '1'
        ? [{ ...missing(fieldNameAt(path)), path }]
        : one('missing field', `Use at least ${limit} characters.`);
    case 'minimum':
      return one('out of range', `This must be at least ${limit}.`);
    case 'maximum':
      return one('out of range', `This must be at most ${limit}.`);
    case 'enum':
      return [{ ...notOneOf(fieldNameAt(path), (params['allowedValues'] as unknown[]).map(String)), path }];
    case 'anyOf':
      return one('invalid value', 'This value is not allowed.');
    default:
      return one('invalid value', `This ${problem}.`);
  }
}
