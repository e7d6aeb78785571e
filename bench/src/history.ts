// Generates a history file from a seed: weekly rounds for a whole company, with a given number of answers.
import { mulberry32 } from '@soundings/server/src/simulation/random.ts';
import { createWriteStream } from 'node:fs';
import { agreementScale, recommendation } from '@soundings/contract/question-types.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { once } from 'node:events';
import { type Company } from './company.ts';

export const questionCount = 20;
export const kpiCount = 8;

/**
 * Writes a history of `weeks` weeks up to `last`. Each week asks everyone in each tree the next `perWeek` questions, and there are
 * about `answers` answers in total. If `recent` is given, each of the last five weeks has that many answers, and these answers are
 * the same in histories of any length. Four out of five questions are agreement scales, the others are recommendation questions.
 * The first KPI contains all questions, so it has values in every week. In the last `falling` weeks, a third of the answers to the
 * questions of the second KPI are a step lower, so that there are clear changes. `remark` returns the text of a comment.
 */
export async function writeHistory(
  path: string,
  company: Company,
  wanted: {
    answers: number;
    weeks: number;
    perWeek: number;
    last: string;
    recent?: number;
    falling?: number;
    remark?: (random: () => number) => string;
  },
): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 1024 * 1024 });
  let text = '';
  async function write(line: object): Promise<void> {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < 1024 * 1024) return;
    const part = text;
    text = '';
    if (!file.write(part)) await once(file, 'drain');
  }
  const typeOf = (question: number) => (question % 5 === 4 ? recommendation : agreementScale);
  const keys = Array.from({ length: questionCount }, (_, i) => `q${i}`);
  for (const [i, key] of keys.entries()) {
    await write({ question: { key, type: typeOf(i), text: `Question ${i}`, language: 'en' } });
  }
  for (let i = 0; i < kpiCount; i++) {
    const questions = keys.filter((_, k) => i === 0 || k % kpiCount === i);
    await write({ kpi: { id: `kpi-${i}`, name: `KPI ${i}`, questions } });
  }
  const trees = peopleByTree(company);
  const { falling = 0, remark = (random) => `A remark of ${Math.floor(random() * 1e6)}` } = wanted;
  for (let ago = wanted.weeks - 1; ago >= 0; ago--) {
    const week = weekName(addWeeks(wanted.last, -ago));
    const random = mulberry32(7 + ago);
    const share = answersOf(wanted, ago) / (wanted.perWeek * company.users.length);
    const questions = Array.from(
      { length: wanted.perWeek },
      (_, i) => (ago * wanted.perWeek + i) % questionCount,
    );
    for (const [group, asked] of trees) {
      await write({ round: { week, group, questions: questions.map((i) => keys[i]), asked } });
      for (const { person } of asked) {
        for (const i of questions) {
          if (random() >= share) continue;
          const value =
            typeOf(i) === recommendation ? Math.floor(random() * 11) : 1 + Math.floor(random() * 5);
          const lower = ago < falling && i % kpiCount === 1 && value > 1 && random() < 1 / 3 ? 1 : 0;
          const comment = random() < 0.02 ? { comment: remark(random) } : {};
          await write({
            answer: { week, group, person, question: keys[i], value: value - lower, ...comment },
          });
        }
      }
    }
  }
  file.end(text);
  await once(file, 'finish');
}

/** Returns the number of answers in the week `ago` weeks before the last. */
function answersOf(
  { answers, weeks, recent }: { answers: number; weeks: number; recent?: number },
  ago: number,
): number {
  if (recent === undefined) return answers / weeks;
  return ago < 5 ? recent : (answers - 5 * recent) / (weeks - 5);
}

type Asked = { person: string; memberOf: string[] };

/**
 * Returns, for each top-level group, the people whose first group is in its tree. Each person is in one tree only, so no one is
 * asked twice.
 */
function peopleByTree({ groups, users }: Company): Map<string, Asked[]> {
  const parents = new Map(groups.map(({ externalId, parent }) => [externalId, parent ?? null]));
  const topOf = (group: string): string => {
    const above = parents.get(group);
    return above ? topOf(above) : group;
  };
  const trees = new Map<string, Asked[]>();
  for (const { externalId, accessInfo } of users) {
    const own = accessInfo?.memberOf ?? [];
    const top = topOf(own[0] as string);
    const asked = trees.get(top) ?? [];
    trees.set(top, asked);
    asked.push({ person: externalId, memberOf: own.filter((group) => topOf(group) === top) });
  }
  return trees;
}
