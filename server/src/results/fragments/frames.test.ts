// Frames give back what was written into them, and nothing else.
import { addWeeks } from '@soundings/contract/weeks.ts';
import { expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { caseCount } from '../../testing/house/cases.ts';
import {
  DamagedFrames,
  type FrameEntry,
  frameOf,
  type FrameOwner,
  Frames,
  periodOf,
  weekIndex,
} from './frames.ts';

const random = randomFrom(1, 'frames');
const owner: FrameOwner = { accountId: 7, kind: 1, kpiId: '', questionId: 12 };
const anyText = () =>
  `"2645":{"${random.oneOf(['a', 'ö', '😀', ',', '\\"'])}":${'7'.repeat(random.next() * 300)}}`;

/** Returns entries of different weeks of a period. */
function anyEntries(period: number): FrameEntry[] {
  const weeks = Array.from({ length: 52 }, (_, i) => period * 52 + i).filter(() => random.chance(0.3));
  return (weeks.length > 0 ? weeks : [period * 52]).map((week) => {
    const text = anyText();
    return { week, text, at: random.chance(0.3) ? Buffer.byteLength(text) - 1 : undefined };
  });
}

/** Returns frames of some groups, as text, and their entries. */
function anyFrames(): { text: string; all: { groupId: number; entry: FrameEntry }[] } {
  const first = periodOf(weekIndex('2024-01-01'));
  const groups = [1, 2, 63, 64, 2 ** 31 - 1].filter(() => random.chance(0.7));
  let text = '';
  const all: { groupId: number; entry: FrameEntry }[] = [];
  for (const groupId of groups) {
    for (const period of [first, first + 1, first + 3].filter(() => random.chance(0.7))) {
      const entries = anyEntries(period);
      text += frameOf(owner, groupId, entries);
      all.push(...entries.map((entry) => ({ groupId, entry })));
    }
  }
  return { text, all };
}

function read(text: string, first: number, last: number): { groupId: number; entry: FrameEntry }[] {
  const frames = new Frames(Buffer.from(text), owner);
  const found: { groupId: number; entry: FrameEntry }[] = [];
  while (frames.next()) {
    const { groupId } = frames;
    if (frames.choose(first, last)) found.push(...frames.entries().map((entry) => ({ groupId, entry })));
  }
  return found;
}

test('frames have exactly the chosen weeks of what was written', () => {
  for (let i = 0; i < caseCount('FRAMES', 400); i++) {
    const { text, all } = anyFrames();
    const first = weekIndex('2024-01-01') + Math.floor(random.next() * 200) - 20;
    const last = first + Math.floor(random.next() * 150) - 1;
    const chosen = all.filter(({ entry }) => entry.week >= first && entry.week <= last);
    expect(read(text, first, last)).toEqual(chosen);
  }
});

test('a frame that was changed anywhere, moved or repeated is refused', () => {
  for (let i = 0; i < caseCount('FRAMES', 400); i++) {
    const { text } = anyFrames();
    if (text === '') continue;
    const bytes = Buffer.from(text);
    const at = Math.floor(random.next() * bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random.next() * 8));
    expect(() => new Frames(bytes, owner)).toThrow(DamagedFrames);
    const cut = Buffer.from(text).subarray(0, -1 - Math.floor(random.next() * 20));
    expect(() => new Frames(cut, owner)).toThrow(DamagedFrames);
    for (const other of [{ accountId: 8 }, { kind: 2 }, { kpiId: 'energy' }, { questionId: 13 }])
      expect(() => new Frames(Buffer.from(text), { ...owner, ...other })).toThrow(DamagedFrames);
    expect(() => read(text + text, 0, Infinity)).toThrow(DamagedFrames);
  }
});

test('all weeks that can be requested have numbers in order', () => {
  let [week, before] = ['0001-01-01', weekIndex('0001-01-01') - 1];
  for (; week < '9970-01-01'; week = addWeeks(week, 1000)) {
    expect(weekIndex(week)).toBeGreaterThan(before);
    before = weekIndex(week);
  }
  expect(weekIndex('2026-11-09') - weekIndex('2026-11-02')).toBe(1);
  expect(weekIndex('0001-01-01')).toBeGreaterThan(0);
  expect(periodOf(weekIndex('9999-12-27'))).toBeLessThan(64 ** 3);
});
