// Finds the list in a JSON response. Pure.
import { isJsonObject, type JsonValue } from '../base/json/json.ts';
import { PullFault } from './pull-fault.ts';

/** Returns the value of an object's own key. */
const at = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Returns the value at a place such as data.employees. A key that contains periods is found as well. */
function placed(value: JsonValue, place: string): JsonValue | undefined {
  if (place === '') return value;
  const whole = at(value, place);
  if (whole !== undefined) return whole;
  return place.split('.').reduce<JsonValue | undefined>((inside, key) => at(inside, key), value);
}

/** The names that lists usually have. */
const usual = ['value', 'Report_Entry', 'employees', 'data', '_data', 'items', 'results', 'Resources'];

/**
 * Returns the list in a response: the one at `place` or, if that is empty, the response itself, the one with a usual name, or the only
 * one. Throws a PullFault that names the lists there are.
 */
export function listAt(value: JsonValue, place: string): JsonValue[] {
  if (place !== '') {
    const found = placed(value, place);
    if (Array.isArray(found)) return found;
    throw new PullFault('list', `There is no list at ${place}. ${foundText(value)}`);
  }
  if (Array.isArray(value)) return value;
  const lists = listsIn(value);
  for (const name of usual) {
    const found = lists.find(([key]) => key === name);
    if (found) return found[1];
  }
  if (lists.length === 1) return lists[0]![1];
  throw new PullFault('list', foundText(value));
}

/** Returns the lists of an object and of the objects in it, with their places. */
function listsIn(value: JsonValue): [place: string, list: JsonValue[]][] {
  const entriesOf = (one: JsonValue | undefined) => (isJsonObject(one) ? Object.entries(one) : []);
  return entriesOf(value).flatMap(([key, inside]): [string, JsonValue[]][] =>
    Array.isArray(inside)
      ? [[key, inside]]
      : entriesOf(inside).flatMap(([more, list]): [string, JsonValue[]][] =>
          Array.isArray(list) ? [[`${key}.${more}`, list]] : [],
        ),
  );
}

function foundText(value: JsonValue): string {
  const places = listsIn(value).map(([place]) => place);
  if (places.length === 0) return 'The response has no list.';
  return `The response has these lists: ${places.slice(0, 10).join(', ')}.`;
}
