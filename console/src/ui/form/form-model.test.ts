// A form never loses input without asking, is never sent twice at the same time, and shows an error until its field changes.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginForm,
  type FormModel,
  isDirty,
  refused,
  responded,
  saved,
  sending,
  withValue,
  withValues,
} from './form-model.ts';

type Values = { name: string; email: string };
const empty: Values = { name: '', email: '' };
const typed = withValue(beginForm(empty), 'name', 'Ada');

describe('input', () => {
  test('is dirty until it is typed back to what it was', () => {
    expect([isDirty(beginForm(empty)), isDirty(typed)]).toEqual([false, true]);
    expect(isDirty(withValue(typed, 'name', ''))).toBe(false);
  });

  test('would be lost until it is saved', () => {
    const busy = sending(typed)!;
    expect([isDirty(typed), isDirty(busy)]).toEqual([true, true]);
    expect(isDirty(saved(busy, busy.values))).toBe(false);
  });

  test('typed after saving would be lost again', () => {
    const done = responded(saved(sending(typed)!, typed.values));
    expect(isDirty(withValue(done, 'name', 'Ada L.'))).toBe(true);
  });

  test('typed while the form is being sent stays', () => {
    const busy = sending(typed)!;
    const later = withValue(busy, 'email', 'ada@lavmark.example');
    const done = responded(saved(later, busy.values));
    expect(done.values).toEqual({ name: 'Ada', email: 'ada@lavmark.example' });
    expect(isDirty(done)).toBe(true);
  });

  test('stays when the service refuses it', () => {
    const back = responded(refused(sending(typed)!, { name: 'taken' }));
    expect([back.values, isDirty(back), back.isBusy]).toEqual([typed.values, true, false]);
  });

  test('is replaced by other values as if they had been loaded', () => {
    const other = { name: 'Grace', email: '' };
    const next = withValues(refused(typed, { name: 'taken' }, 'Conflict.'), other);
    expect(next).toMatchObject({ values: other, initial: other, errors: {}, fault: undefined });
    expect(isDirty(next)).toBe(false);
  });
});

describe('a form', () => {
  test('is sent once at a time', () => {
    const busy = sending(typed)!;
    expect(sending(busy)).toBeUndefined();
    expect(sending(responded(busy))).toBeDefined();
  });

  test('clears the errors of the last attempt when it is sent', () => {
    const again = sending(refused(typed, { name: 'taken' }, 'Conflict.'))!;
    expect([again.errors, again.fault]).toEqual([{}, undefined]);
  });

  test('moves to the first invalid field on every attempt, even if the errors are the same', () => {
    const once = refused(typed, { name: 'taken' });
    expect(refused(once, { name: 'taken' }).attempt).toBeGreaterThan(once.attempt);
  });
});

test('a change clears the error of its field only', () => {
  const wrong = refused(typed, { name: 'taken', email: 'invalid' }, 'Conflict.');
  const next = withValue(wrong, 'name', 'Ada L.');
  expect([next.errors, next.fault]).toEqual([{ email: 'invalid' }, 'Conflict.']);
});

/** What users and responses may do, in any order. */
const action = fc.oneof(
  fc.tuple(fc.constant('type' as const), fc.constantFrom('name' as const, 'email' as const), fc.string()),
  fc.constantFrom(['send' as const], ['accept' as const], ['refuse' as const], ['reset' as const]),
);

test('after any actions, a form asks before it is left exactly if its input differs from what is stored, and no typed text is ever changed', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
      let form: FormModel<Values> = beginForm(empty);
      let [onScreen, stored]: [Values, Values] = [empty, empty];
      let sent: Values | undefined;
      for (const [what, field, text] of actions) {
        if (what === 'type') {
          form = withValue(form, field, text);
          onScreen = { ...onScreen, [field]: text };
        } else if (what === 'send') {
          form = sending(form) ?? form;
          sent ??= form.values;
        } else if (what === 'reset') {
          form = withValues(form, form.initial);
          onScreen = stored;
        } else if (sent) {
          if (what === 'accept') [form, stored] = [saved(form, sent), sent];
          else form = refused(form, { name: 'taken' });
          [form, sent] = [responded(form), undefined];
        }
        expect(form.values).toEqual(onScreen);
        expect(isDirty(form)).toBe(JSON.stringify(onScreen) !== JSON.stringify(stored));
        expect([form.isBusy, sending(form) === undefined]).toEqual([sent !== undefined, sent !== undefined]);
      }
    }),
    { numRuns: 150 },
  );
});
