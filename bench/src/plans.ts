// What every benchmark has in common: two plans, which say its sizes, and how it is run by one of them.
import { type Row, withoutTargets } from './measure.ts';
import type { Service } from './service.ts';

/** `whole`: the sizes that README quotes. `smoke`: so small that it takes seconds and shows only whether it still works. */
export type Plans<Plan> = { whole: Plan; smoke: Plan };

export type Say = (progress: string) => void;

/** Runs a benchmark on a service that it starts and stops itself. Returns its rows, and the version of PostgreSQL. */
export type Bench = (say: Say, start: () => Promise<Service>) => Promise<{ rows: Row[]; postgres: string }>;

/** A benchmark for any plan of its own kind. */
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
