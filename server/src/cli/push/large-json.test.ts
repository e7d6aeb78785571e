// A large JSON file is read in fragments, with the same result as a small one, wherever its chunks end.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../base/json/json.ts';
import { cases } from '../../testing/house/cases.ts';
import { jsonFragments } from './large-json.ts';

/** Reads a text in chunks of these sizes. Undefined if something in it is invalid. */
async function readInFragments(text: Buffer, sizes: number[]): Promise<unknown> {
  async function* chunks() {
    for (let at = 0, i = 0; at < text.length; i++) {
      const size = sizes[i % sizes.length] as number;
      yield text.subarray(at, at + size);
      at += size;
    }
  }
  const around: string[] = [];
  const lists = { users: [] as unknown[], groups: [] as unknown[] };
  for await (const fragment of jsonFragments(chunks())) {
    if ('around' in fragment) {
      around.push(fragment.around);
      continue;
    }
    const parsed = parseJson(fragment.entry);
    if ('fault' in parsed) return undefined;
    lists[fragment.list].push(parsed.value);
  }
  const parsed = parseJson(Buffer.from(around.join(''), 'latin1'));
  return 'value' in parsed ? { around: parsed.value, lists } : undefined;
}

/** The same for a text as a whole. */
function readAsWhole(text: Buffer): unknown {
  const parsed = parseJson(text);
  if ('fault' in parsed) return undefined;
  const lists = { users: [] as unknown[], groups: [] as unknown[] };
  const take = (object: unknown) => {
    if (typeof object !== 'object' || object === null || Array.isArray(object)) return;
    const found = object as Record<string, unknown>;
    for (const name of ['users', 'groups'] as const)
      if (Array.isArray(found[name])) lists[name].push(...(found[name] as unknown[]).splice(0));
  };
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) take(value['data']);
  take(value);
  return { around: value, lists };
}

const text = fc.oneof(fc.constantFrom('', '"', '\\', '{"users":[', '],', 'é😀'), fc.string());
const values = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text);
const users = fc.array(fc.record({ externalId: text, users: values, more: values }, { requiredKeys: [] }), {
  maxLength: 4,
});
const lists = fc.record(
  { users: fc.oneof(users, values), groups: fc.oneof(users, values), other: values },
  { requiredKeys: [] },
);
const files = fc.oneof(
  lists,
  fc.record({ settings: values, data: lists, users: values }, { requiredKeys: ['data'] }),
  fc.record({ list: lists, array: fc.array(lists) }),
  values,
);
/** JSON, some of it with spaces, and some of it damaged. */
const written = fc
  .tuple(files, fc.constantFrom(0, 1), fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\ 1'))))
  .map(([file, spaces, damage]) => {
    const json = JSON.stringify(file, null, spaces);
    if (!damage) return json;
    const at = damage[0] % (json.length + 1);
    return json.slice(0, at) + damage[1] + json.slice(at + (damage[0] % 2));
  });

test('a file has the same lists in fragments as it has as a whole, and the same files are invalid', async () => {
  const seen = { valid: 0, invalid: 0 };
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(written, sizes, async (json, chunkSizes) => {
      const bytes = Buffer.from(json);
      const whole = readAsWhole(bytes);
      expect(await readInFragments(bytes, chunkSizes)).toEqual(whole);
      seen[whole === undefined ? 'invalid' : 'valid']++;
    }),
    cases(4000),
  );
  expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(50);
});
