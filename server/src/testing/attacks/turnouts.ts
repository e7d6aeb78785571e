// Turnouts of tests: who is asked what and who has done what, by name.
import type { Turnout } from '../../results/turnout.ts';
import type { Assigned } from '../../results/week-people.ts';

/** Returns what each person who is asked anything is asked. */
export function assignmentsByName({ people }: Turnout): Map<string, readonly Assigned[]> {
  const all = Array.from({ length: people.count }, (_, person) => person);
  const lists = all.map((person) => [people.nameOf(person), people.assignmentsOf(person)] as const);
  return new Map(lists.filter(([, assignments]) => assignments.length > 0));
}

/** Returns the turnout if these people have answered or skipped these questions, and no others any. */
export function withDone(turnout: Turnout, done: ReadonlyMap<string, ReadonlySet<number>>): Turnout {
  const byNumber: Turnout['done'] = [];
  for (const [name, questionIds] of done) byNumber[turnout.people.numberOf(name)] = questionIds;
  return { ...turnout, done: byNumber };
}
