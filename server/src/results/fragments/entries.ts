// The entries of fragments: the JSON of one week's figures of a group, as the responses of the data interface contain it.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import { fourDigits, type Week } from '@soundings/contract/weeks.ts';
import { answerParts, hasOptions, type ResultFields, valueText } from '../data/shape.ts';
import { type FrameEntry, weekIndex } from './frames.ts';

/** Returns the entry of a result. The texts of the options are inserted when it is sent, because they can change. */
export function entryOfResult(
  type: QuestionType | undefined,
  row: ResultFields & { week: Week },
): FrameEntry {
  if (type === undefined) throw new Error('A result has no question');
  const { before, after } = answerParts(type, row, false);
  const start = `"${fourDigits(row.week)}":${before}`;
  const at = hasOptions(type, row) ? Buffer.byteLength(start) : undefined;
  return { week: weekIndex(row.week), text: start + after, at };
}

/** Returns the entry of a KPI value or a response rate, with plain numbers. */
export const entryOfValue = (row: { groupId: number; week: Week; value: number | null }): FrameEntry => ({
  week: weekIndex(row.week),
  text: valueText(row, 'plain'),
});

/** Returns the entry of asked questions. `questionIds`: as the inside of a JSON array. */
export const entryOfAsked = ({
  week,
  questionIds,
}: {
  groupId: number;
  week: Week;
  questionIds: string;
}): FrameEntry => ({
  week: weekIndex(week),
  text: `"${fourDigits(week)}":[${questionIds}]`,
});
