// Checks query and path parameters strictly (decisions E6 and E7): no unknown or repeated parameters, no guessed conversions, no
// U+0000.
import type { Detail } from '@soundings/contract/problem.ts';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { refuseParameters } from '../base/errors.ts';
import { didYouMean, quote } from '../base/text.ts';

type QueryReader = (query: Record<string, unknown>) => Record<string, string>;

/** Returns a function that checks the parameters of an operation against their object schema. It throws a Fault. */
export function queryReader(schema: TSchema): QueryReader {
  const { properties, required = [] } = schema as TSchema & {
    properties: Record<string, TSchema & { description?: string }>;
    required?: string[];
  };
  const names = Object.keys(properties);
  const allowed =
    names.length > 0 ? `Allowed parameters: ${names.join(', ')}.` : 'No parameters are allowed here.';
  const checks = new Map(names.map((name) => [name, Compile(properties[name] as TSchema)]));

  function faultOf(name: string, value: unknown): Detail | undefined {
    const check = checks.get(name);
    if (!check) {
      return {
        type: 'unknown parameter',
        message: `Unknown parameter ${quote(name)}.${didYouMean(name, names)} ${allowed}`,
        path: name,
      };
    }
    if (Array.isArray(value)) {
      return {
        type: 'repeated parameter',
        message: `The parameter "${name}" is repeated. Send it once.`,
        path: name,
      };
    }
    // None of our texts contains U+0000, and PostgreSQL doesn't accept it.
    if (check.Check(value) && !String(value).includes('\0')) return undefined;
    if (value === '')
      return { type: 'missing parameter', message: `The parameter "${name}" is empty.`, path: name };
    const description = properties[name]?.description ?? '';
    return {
      type: 'invalid parameter',
      message: `Invalid value ${quote(String(value))} for "${name}". ${description}`.trim(),
      path: name,
    };
  }

  return (query) => {
    const details = Object.entries(query)
      .map(([name, value]) => faultOf(name, value))
      .filter((detail) => detail !== undefined);
    for (const name of required) {
      if (query[name] !== undefined) continue;
      details.push({
        type: 'missing parameter',
        message: `The parameter "${name}" is required.`,
        path: name,
      });
    }
    refuseParameters(details);
    return query as Record<string, string>;
  };
}
