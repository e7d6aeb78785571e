// The service only gets people that the user has selected, and never more than its limit.
import type { PersonFilters } from '@soundings/contract/console/people.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  allSelected,
  chosenPeople,
  countSelected,
  isSelected,
  maxSelected,
  noneSelected,
  type Selected,
  selectedUnder,
  toggled,
} from './selected-people.ts';

const everyone: PersonFilters = {};
const managers: PersonFilters = { role: 'Manager' };
const full = (): Selected => ({
  ...noneSelected(everyone),
  ids: new Set(Array.from({ length: maxSelected }, (_, i) => i + 1)),
});

test('at most 1,000 people are selected one by one; after one is removed, another can be added', () => {
  expect(maxSelected).toBe(1000);
  expect(toggled(full(), 5000, true)).toBeUndefined();
  const fewer = toggled(full(), 1, false)!;
  expect(countSelected(toggled(fewer, 5000, true)!, 20_000)).toBe(1000);
});

test('if all people who match the filters are selected, the service counts them, and the filters are sent instead of the people', () => {
  const all = allSelected(managers);
  expect(countSelected(all, 20_000)).toBe(20_000);
  expect(chosenPeople(all, managers)).toEqual({ filters: managers });
  expect([isSelected(all, 1), isSelected(all, 99_999)]).toEqual([true, true]);
});

test('with other filters, no one is selected, so that no one out of view is changed', () => {
  const some = toggled(noneSelected(everyone), 7, true)!;
  expect(selectedUnder(everyone, some)).toBe(some);
  for (const before of [some, allSelected(everyone)]) {
    const after = selectedUnder(managers, before);
    expect([countSelected(after, 500), chosenPeople(after, managers)]).toEqual([0, { ids: [] }]);
  }
});

const action = fc.oneof(
  fc.record({ id: fc.integer({ min: 1, max: 8 }), isOn: fc.boolean() }),
  fc.constantFrom('all' as const, 'none' as const, 'other filters' as const),
);

test('after any clicks, a person is selected exactly if the last click on them since the filters changed selected them', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
      let filters: PersonFilters = {};
      let now = noneSelected(filters);
      let expected = new Set<number>();
      let isAll = false;
      for (const [at, one] of actions.entries()) {
        if (typeof one === 'object') {
          now = toggled(now, one.id, one.isOn)!;
          if (isAll) expected = new Set();
          isAll = false;
          if (one.isOn) expected.add(one.id);
          else expected.delete(one.id);
        } else {
          if (one === 'other filters') filters = { search: String(at) };
          now =
            one === 'all'
              ? allSelected(filters)
              : one === 'none'
                ? noneSelected(filters)
                : selectedUnder(filters, now);
          expected = new Set();
          isAll = one === 'all';
        }
        expect(chosenPeople(now, filters)).toEqual(isAll ? { filters } : { ids: [...expected] });
        for (let id = 1; id <= 8; id++) expect(isSelected(now, id)).toBe(isAll || expected.has(id));
        expect(countSelected(now, 8)).toBe(isAll ? 8 : expected.size);
      }
    }),
    { numRuns: 150 },
  );
});
