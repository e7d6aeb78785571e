// Parameters of the query and of the path, to the letter (decisions 6 and 7): nothing unknown, nothing twice, nothing
// converted by guessing, no U+0000.
import type { Detail } from '@soundings/contract/problem.ts';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../base/errors.ts';
import { didYouMean, quote } from '../base/text.ts';

type QueryReader = (query: Record<string, unknown>) => Record<string, string>;

/** Makes the reader of an operation's parameters from their object schema. The reader throws a Fault. */
export function queryReader(schema: TSchema): QueryReader {
  const { properties, required = [] } = schema as TSchema & {
    properties: Record<string, TSchema & { description?: string }>;
    required?: string[];
  };
  const names = Object.keys(properties);
  const allowed = names.length > 0 ? `This operation has: ${names.join(', ')}.` : 'This operation has none.';
  const checks = new Map(names.map((name) => [name, Compile(properties[name] as TSchema)]));

  function faultOf(name: string, value: unknown): Detail | undefined {
    const check = checks.get(name);
    if (!check) {
      return {
        type: 'unknown parameter',
        message: `There is no parameter ${quote(name)}.${didYouMean(name, names)} ${allowed}`,
        path: name,
      };
    }
    if (Array.isArray(value)) {
      return { type: 'repeated parameter', message: `"${name}" is given more than once.`, path: name };
    }
    // No text of ours holds U+0000, and PostgreSQL takes none.
    if (check.Check(value) && !String(value).includes('\0')) return undefined;
    if (value === '') return { type: 'missing parameter', message: `"${name}" is empty.`, path: name };
    const wanted = properties[name]?.description ?? '';
    return {
      type: 'invalid parameter',
      message: `Invalid value ${quote(String(value))} for "${name}". ${wanted}`.trim(),
      path: name,
    };
  }

  return (query) => {
    const details = Object.entries(query)
      .map(([name, value]) => faultOf(name, value))
      .filter((detail) => detail !== undefined);
    for (const name of required) {
      if (query[name] !== undefined) continue;
      details.push({ type: 'missing parameter', message: `"${name}" is missing.`, path: name });
    }
    if (details[0]) throw new Fault('invalid', 'invalid parameter', details[0].message, { details });
    return query as Record<string, string>;
  };
}
