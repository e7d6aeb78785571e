// When a schedule is due, and when people can be sent messages, in every time zone and through clock changes.
import { workingHours } from '@soundings/contract/limits.ts';
import { addWeeks, weekOf } from '@soundings/contract/weeks.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  dayDue,
  endOf,
  localTime,
  sendTimeOf,
  type Repetition,
  sendableAt,
  weekdayOf,
  weeksDue,
} from './send-times.ts';
import { cases } from '../testing/house/cases.ts';

const hour = 3_600_000;
const zones = Intl.supportedValuesOf('timeZone');
const anyZone = fc.constantFrom(...zones);
const first = Date.parse('2026-01-01T00:00:00Z');
const anyTime = fc.integer({ min: first, max: Date.parse('2040-01-01T00:00:00Z') });
const anyDay = fc.integer({ min: 0, max: 5000 }).map((count) => addDays('2026-01-01', count));

/** Returns how far a zone is ahead of UTC according to Intl, in ms. */
function offsetOf(zone: string, time: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')!.value;
  const [, sign, hours = 0, minutes = 0] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name)!;
  return (sign === '-' ? -1 : 1) * (Number(hours) * hour + Number(minutes) * 60_000);
}

/** Returns the times at which a zone's clocks change in a year. */
function changesIn(zone: string, year: number): number[] {
  const start = Date.UTC(year, 0, 1);
  const changes: number[] = [];
  const search = (from: number, to: number) => {
    if (offsetOf(zone, from) === offsetOf(zone, to)) return;
    if (to - from <= hour / 4) return void changes.push(to);
    const middle = from + Math.floor((to - from) / 2);
    search(from, middle);
    search(middle, to);
  };
  for (let day = 0; day < 364; day += 14) search(start + day * 24 * hour, start + (day + 14) * 24 * hour);
  return changes;
}

/** Returns whether messages may be sent at this time. */
function isWorking(time: number, zone: string): boolean {
  const there = localTime(time, zone);
  return weekdayOf(there.day) <= 5 && there.hour >= workingHours.first && there.hour <= workingHours.last;
}

describe('sendTimeOf', () => {
  /** Returns whether the send time is the start of that hour, or, where clocks skip the hour, the first time after it. */
  function isRight(day: string, wanted: number, zone: string): boolean {
    const time = sendTimeOf(day, wanted, zone);
    const there = localTime(time, zone);
    if (there.day === day && there.hour === wanted && there.rest === 0) return true;
    const stamp = (one: { day: string; hour: number }) => `${one.day} ${String(one.hour).padStart(2, '0')}`;
    const asked = stamp({ day, hour: wanted });
    const isSkipped = offsetOf(zone, time) > offsetOf(zone, time - hour);
    return isSkipped && stamp(localTime(time - hour, zone)) < asked && stamp(there) >= asked;
  }

  test('returns the given day and hour, unless clocks skip that hour', () => {
    fc.assert(
      fc.property(anyZone, anyDay, fc.integer({ min: 0, max: 23 }), (zone, day, wanted) => {
        expect(isRight(day, wanted, zone)).toBe(true);
      }),
      cases(750),
    );
  });

  test('is right around each clock change', () => {
    const unusual = ['Australia/Lord_Howe', 'America/St_Johns', 'Asia/Beirut', 'Africa/Cairo'];
    const usual = [
      'America/New_York',
      'Europe/Stockholm',
      'America/Santiago',
      'Pacific/Chatham',
      'America/Havana',
    ];
    for (const zone of [...unusual, ...usual]) {
      const changes = changesIn(zone, 2027);
      expect(changes.length).toBeGreaterThan(1);
      for (const change of changes) {
        for (let near = change - 30 * hour; near < change + 30 * hour; near += hour) {
          const there = localTime(near, zone);
          expect(isRight(there.day, there.hour, zone)).toBe(true);
          expect(isRight(there.day, (there.hour + 1) % 24, zone)).toBe(true);
        }
      }
    }
  });
});

describe('a late message', () => {
  const weekEnd = Infinity;

  test('is sent at the first time that is neither at night nor on a weekend, in any time zone', () => {
    fc.assert(
      fc.property(anyZone, anyTime, (timezone, now) => {
        const at = sendableAt(now - 1, now, { timezone, anyHour: false, weekEnd }) as number;
        expect(at).toBeGreaterThanOrEqual(now);
        expect(isWorking(at, timezone)).toBe(true);
        // No earlier time was possible: all times in between are at night or on a weekend.
        if (at === now) return;
        expect(isWorking(now, timezone)).toBe(false);
        expect(at - now).toBeLessThan(62 * hour);
        expect(isWorking(at - 1, timezone)).toBe(false);
        for (let between = now; between < at; between += 3 * hour) {
          expect(isWorking(between, timezone)).toBe(false);
        }
      }),
      cases(250),
    );
  });

  test('is sent at once if any hour is allowed, and never after the end of the week', () => {
    fc.assert(
      fc.property(
        anyZone,
        anyZone,
        anyTime,
        fc.integer({ min: 1, max: 10 * 24 * hour }),
        fc.boolean(),
        (timezone, account, now, ago, anyHour) => {
          const end = endOf(weekOf(localTime(now - ago, account).day), account);
          const at = sendableAt(now - ago, now, { timezone, anyHour, weekEnd: end });
          const endless = sendableAt(now - ago, now, { timezone, anyHour, weekEnd }) as number;
          expect(at).toBe(endless < end ? endless : undefined);
          expect(anyHour ? endless : now).toBe(now);
        },
      ),
      cases(250),
    );
  });

  test('keeps its time if it is not late', () => {
    fc.assert(
      fc.property(anyZone, anyTime, fc.nat(3 * 24 * hour), (timezone, now, ahead) => {
        expect(sendableAt(now + ahead, now, { timezone, anyHour: false, weekEnd })).toBe(now + ahead);
        expect(
          sendableAt(now + ahead, now, { timezone, anyHour: true, weekEnd: now + ahead }),
        ).toBeUndefined();
      }),
    );
  });
});

describe('a repeating schedule', () => {
  const repetition = fc.record<Repetition>({
    repeat: fc.constantFrom('once', 'weeks', 'monthly'),
    repeatWeeks: fc.integer({ min: 1, max: 52 }),
    weekday: fc.integer({ min: 1, max: 7 }),
    hour: fc.integer({ min: 0, max: 23 }),
    fromDay: anyDay,
    untilDay: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 500 }).map(String)),
  });
  /** Returns the days on which it is due, in the `count` weeks that start one week before its first day. */
  function daysOf(repeated: Repetition, count = 110): string[] {
    const start = addWeeks(weekOf(repeated.fromDay), -1);
    return Array.from({ length: count }, (_, i) => dayDue(repeated, addWeeks(start, i))).filter(
      (day) => day !== undefined,
    );
  }
  const ended = (one: Repetition): Repetition =>
    one.untilDay === null ? one : { ...one, untilDay: addDays(one.fromDay, Number(one.untilDay)) };

  test('is due on its weekday, from its first day to its last, at most once a week', () => {
    fc.assert(
      fc.property(repetition.map(ended), (one) => {
        for (const day of daysOf(one)) {
          expect(weekdayOf(day)).toBe(one.weekday);
          expect(day >= one.fromDay && (one.untilDay === null || day <= one.untilDay)).toBe(true);
        }
      }),
    );
  });

  const endless = repetition.map((one): Repetition => ({ ...one, untilDay: null }));
  const firstOf = ({ fromDay, weekday }: Repetition) =>
    Array.from({ length: 7 }, (_, i) => addDays(fromDay, i)).find(
      (day) => weekdayOf(day) === weekday,
    ) as string;

  test('is due once on the first such weekday, or every repeatWeeks weeks from then on', () => {
    fc.assert(
      fc.property(endless, (one) => {
        expect(daysOf({ ...one, repeat: 'once' })).toEqual([firstOf(one)]);
        const days = daysOf({ ...one, repeat: 'weeks' });
        expect(days.length).toBeGreaterThanOrEqual(Math.floor(108 / one.repeatWeeks));
        expect(days).toEqual(days.map((_, i) => addDays(firstOf(one), 7 * one.repeatWeeks * i)));
      }),
    );
  });

  test('is due monthly on the first such weekday of each month', () => {
    fc.assert(
      fc.property(endless, (one) => {
        const days = daysOf({ ...one, repeat: 'monthly' });
        expect(days.every((day) => Number(day.slice(8)) <= 7)).toBe(true);
        const months = days.map((day) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)));
        expect(months).toEqual(months.map((_, i) => (months[0] as number) + i));
        expect(months.length).toBeGreaterThanOrEqual(24);
      }),
    );
  });

  test('is due only in the weeks that are listed', () => {
    fc.assert(
      fc.property(repetition.map(ended), anyDay, fc.integer({ min: 1, max: 20 }), (one, day, count) => {
        const from = weekOf(day);
        const weeks = weeksDue(one, from, count);
        expect(weeks.length).toBeLessThanOrEqual(count);
        const start = one.fromDay > from ? weekOf(one.fromDay) : from;
        const all = Array.from({ length: 105 }, (_, i) => addWeeks(start, i));
        expect(weeks).toEqual(all.filter((week) => dayDue(one, week) !== undefined).slice(0, count));
      }),
    );
  });

  test.each<[string, Partial<Repetition>, string[]]>([
    ['weekly', { repeat: 'weeks' }, ['2026-11-17', '2026-11-24', '2026-12-01']],
    ['every third week', { repeat: 'weeks', repeatWeeks: 3 }, ['2026-11-17', '2026-12-08', '2026-12-29']],
    ['once', { repeat: 'once' }, ['2026-11-17']],
    ['monthly', { repeat: 'monthly' }, ['2026-12-01', '2027-01-05', '2027-02-02']],
    ['weekly until a last day', { repeat: 'weeks', untilDay: '2026-11-24' }, ['2026-11-17', '2026-11-24']],
    ['never, if it ends before its weekday', { repeat: 'weeks', untilDay: '2026-11-16' }, []],
  ])('%s', (_, schedule, days) => {
    const tuesdays = {
      repeatWeeks: 1,
      weekday: 2,
      hour: 9,
      fromDay: '2026-11-11',
      untilDay: null,
      repeat: 'weeks',
    };
    expect(daysOf({ ...tuesdays, ...schedule } as Repetition).slice(0, 3)).toEqual(days);
  });
});
