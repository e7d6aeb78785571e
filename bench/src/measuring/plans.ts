// Every benchmark has two plans with its sizes, and runs with one of them.
import { type BenchRow, withoutTargets } from './measure.ts';
import type { Service } from './service.ts';

/** `whole`: the sizes in docs/benchmarks.md. `smoke`: takes seconds and shows only that the benchmark still works. */
export type Plans<Plan> = { whole: Plan; smoke: Plan };

export type Say = (progress: string) => void;

/** Runs a benchmark on a service that it starts and stops. Returns its rows and the PostgreSQL version. */
export type Bench = (
  say: Say,
  start: () => Promise<Service>,
) => Promise<{ rows: BenchRow[]; postgres: string }>;

/** A benchmark that takes a plan. */
export type Sized<Plan> = (plan: Plan) => Bench;

/** Returns a benchmark in both sizes. The rows of a smoke run have no targets. */
export function inBothSizes<Plan>(bench: Sized<Plan>, plans: Plans<Plan>): Plans<Bench> {
  return {
    whole: bench(plans.whole),
    smoke: async (...how) => {
      const { rows, postgres } = await bench(plans.smoke)(...how);
      return { rows: withoutTargets(rows), postgres };
    },
  };
}
