// The promise of privacy.md, on the decisions alone: no combination of figures reveals anything about fewer people than the
// threshold. An attacker searches thousands of random histories. ATTACKS=100000 searches more.
import { describe, expect, test } from 'vitest';
import { attack, knownByThreshold, knownOfWeek } from '../../testing/attacks/attacker.ts';
import { randomHistory } from '../../testing/attacks/histories.ts';
import { caseCount, cases } from '../../testing/house/cases.ts';

const attacks = caseCount('ATTACKS', 150);

describe('the attacker', () => {
  test(
    `finds nothing in ${attacks} random histories, and breaks a plain threshold in at least 30% of them`,
    { timeout: 300_000 + attacks * 30 },
    () => {
      const found: object[] = [];
      const brokenBy = new Map<string, number>([['any', 0]]);
      for (let seed = 1; seed <= attacks; seed++) {
        const history = randomHistory(seed);
        const ways = new Set<string>();
        for (const [week, one] of history.weeks.entries()) {
          const leaks = attack(knownOfWeek(history, one), history.thresholds);
          found.push(...leaks.map((leak) => ({ seed, week, ...leak })));
          for (const { by, people: revealed } of attack(knownByThreshold(history, one), history.thresholds)) {
            if (revealed !== 'undecided') ways.add(by);
          }
        }
        for (const way of ways.size > 0 ? [...ways, 'any'] : []) {
          brokenBy.set(way, (brokenBy.get(way) ?? 0) + 1);
        }
      }
      expect(found).toEqual([]);
      const shares = [...brokenBy].map(([way, count]) => `${way} ${((100 * count) / attacks).toFixed(1)} %`);
      process.stdout.write(`A threshold alone is broken: ${shares.join(', ')}\n`);
      expect((brokenBy.get('any') as number) / attacks).toBeGreaterThanOrEqual(0.3);
    },
  );

  test('breaks a procedure that treats questions with the same wording as different questions', () => {
    const apart = new Map([1, 2, 3].map((id) => [id, id]));
    const histories = Array.from({ length: cases(1_000).numRuns }, (_, i) => randomHistory(i + 1)).filter(
      ({ classes }) => [...classes].some(([id, first]) => id !== first),
    );
    const enough = 0.1 * histories.length;
    let [tried, broken] = [0, 0];
    for (const history of histories) {
      if (broken > enough) break;
      tried++;
      const leaks = history.weeks.flatMap((week) =>
        attack(knownOfWeek(history, week, apart), history.thresholds),
      );
      if (leaks.some(({ people: revealed }) => revealed !== 'undecided')) broken++;
    }
    process.stdout.write(
      `Questions with the same wording published separately are broken: ${broken} of ${tried}\n`,
    );
    expect(broken).toBeGreaterThan(enough);
  });
});
