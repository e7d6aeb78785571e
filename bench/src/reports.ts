// Reports: the report of one group, and the PDFs of 300 groups, as a manager downloads them. The floor is the same report as data.
// Run one at a time, because parallel runs would affect each other's times.
import { type FilledPlan, fillAccount } from './console.ts';
import { median, ratioText, time } from './measuring/measure.ts';
import type { Plans, Sized } from './measuring/plans.ts';

/** `rounds`: how often the report of one group is created. The reports of all groups are created only once. */
type Plan = FilledPlan & { rounds: number };

export const reportsPlans: Plans<Plan> = {
  whole: { users: 6_000, groups: 300, answers: 300_000, weeks: 13, rounds: 5 },
  smoke: { users: 400, groups: 40, answers: 4_000, weeks: 2, rounds: 1 },
};

/** In ms. */
const [targetOfOne, targetOfAll] = [2_000, 60_000];

export const benchReports: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const headers = { cookie: `soundings=${await fillAccount(service, plan, say)}` };
    const fetched = async (path: string) => {
      const before = performance.now();
      const response = await fetch(`${service.address}/api/results/${path}`, { headers });
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status !== 200) throw new Error(`${response.status} of ${path}: ${bytes.toString()}`);
      return { ms: performance.now() - before, bytes };
    };
    const { bytes } = await fetched('heat-map');
    const { rows } = JSON.parse(bytes.toString()) as { rows: { id: number }[] };
    const times: Record<'report' | 'report.pdf', number[]> = { report: [], 'report.pdf': [] };
    for (let i = 0; i < plan.rounds; i++) {
      const { id } = rows[i % rows.length]!;
      for (const kind of ['report', 'report.pdf'] as const)
        times[kind].push((await fetched(`groups/${id}/${kind}`)).ms);
    }
    const [floor, one] = [median(times.report), median(times['report.pdf'])];
    say(`A report as PDF: ${time(one)}, as data: ${time(floor)}`);
    const all = await fetched('reports.zip');
    say(`All of ${rows.length} groups: ${time(all.ms)}, ${(all.bytes.length / 1e6).toFixed(1)} MB`);
    const row = (what: string, ms: number, minimum: number, target: number) => ({
      what,
      measured: time(ms),
      floor: time(minimum),
      ratio: ratioText(ms / minimum),
      target: `≤ ${time(target)}`,
      met: ms <= target,
    });
    return {
      rows: [
        row('The report of a group as data, for the page', floor, floor, targetOfOne),
        row('The report of a group as PDF', one, floor, targetOfOne),
        row(`The PDFs of ${rows.length} groups in a ZIP archive`, all.ms, floor * rows.length, targetOfAll),
      ],
      postgres: service.postgres,
    };
  } finally {
    await service.stop();
  }
};
